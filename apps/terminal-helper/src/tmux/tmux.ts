// Runs tmux commands on one server. It starts no server, waits for none longer than it must, and keeps nothing of what
// tmux says about a failure: that may repeat what was to be typed.
import { type ChildProcess, execFile, spawn } from "node:child_process";

export type TmuxCommand = readonly string[];
export type Ran = { readonly ok: true; readonly lines: readonly string[] } | { readonly ok: false };

const patienceMs = 5_000;
const maxOutputBytes = 4 * 1024 * 1024;

export class Tmux {
  readonly #server: readonly string[];

  /** The name of a server's socket, as in `tmux -L`, or its path. */
  constructor(server: string) {
    this.#server = server.includes("/") ? ["-S", server] : ["-L", server];
  }

  /** Runs the commands in order in one call; the first that fails ends it. `cwd` is where what they open starts. */
  async run(commands: readonly TmuxCommand[], options: { signal?: AbortSignal; cwd?: string } = {}): Promise<Ran> {
    return await new Promise((resolve) => {
      const { signal, cwd } = options;
      const settings = {
        timeout: patienceMs,
        maxBuffer: maxOutputBytes,
        ...(signal && { signal }),
        ...(cwd && { cwd }),
      };
      const child = execFile(
        "tmux",
        this.#line(commands),
        { ...settings, env: tmuxEnvironment(cwd) },
        (error, stdout) => resolve(error === null ? { ok: true, lines: linesOf(stdout) } : { ok: false }),
      );
      child.stdin?.end();
    });
  }

  /** For a command that lasts: the caller owns the process. */
  start(command: TmuxCommand): ChildProcess {
    return spawn("tmux", this.#line([command]), { stdio: "ignore", env: tmuxEnvironment() });
  }

  #line(commands: readonly TmuxCommand[]): string[] {
    // -N: no server, no new one. -u: names of any script come as they are.
    return ["-N", "-u", ...this.#server, ...commandWords(commands)];
  }
}

/** The words of a tmux command line. A word that ends with a semicolon would end its command there. */
export function commandWords(commands: readonly TmuxCommand[]): string[] {
  return commands.flatMap((command, index) => [
    ...(index === 0 ? [] : [";"]),
    ...command.map((word) => (word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word)),
  ]);
}

/** Text for a place where tmux would expand formats, which can run programs. */
export function withoutFormats(text: string): string {
  return text.replaceAll("#", "##");
}

/** Without TMUX a call means the server that it names; PWD is where tmux looks for the folder of its caller. */
function tmuxEnvironment(cwd?: string): NodeJS.ProcessEnv {
  const { TMUX: _tmux, TMUX_PANE: _pane, PWD, ...rest } = process.env;
  const pwd = cwd ?? PWD;
  return pwd === undefined ? rest : { ...rest, PWD: pwd };
}

function linesOf(stdout: string): string[] {
  return stdout.split("\n").slice(0, -1);
}
