// What a bound pane is called and runs right now, for people.
import { readTarget } from "../tmux/target.ts";
import { Tmux } from "../tmux/tmux.ts";

const format = "#{pid} #{session_name}:#{window_index}.#{pane_index}, #{pane_current_command}";

/** `work:0.1, zsh`. Known only inside of the same tmux server; `undefined` elsewhere and for names that are not plain. */
export async function placeOf(target: string | null, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const [, socket] = /^(.+),\d+,[^,]*$/.exec(env["TMUX"] ?? "") ?? [];
  const bound = target === null ? undefined : readTarget(target);
  if (socket === undefined || bound === undefined) return undefined;
  const ran = await new Tmux(socket).run([["display-message", "-p", "-t", bound.pane, format]]);
  const [line = ""] = ran.ok ? ran.lines : [];
  const [, pid, place] = /^(\d+) ([ -~]+)$/.exec(line) ?? [];
  return Number(pid) === bound.serverPid ? place : undefined;
}
