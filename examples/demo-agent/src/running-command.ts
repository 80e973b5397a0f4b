// A shell command that the agent runs itself: own process group, output as it comes, ended as a whole on a cancel.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

const running = new Set<ChildProcess>();
const killGraceMs = 2_000;

/** On POSIX the group, so that the command's own children go too. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // gone already
  }
}

/** For the end of this process: nothing that it started lives on. */
export function killRunningCommands(): void {
  for (const child of running) signalGroup(child, "SIGKILL");
}

/** Runs to the end. `output` gets text as it comes, decoded whole characters only. */
export async function runCommand(
  command: string,
  options: { cwd: string; signal: AbortSignal; output: (text: string) => void },
): Promise<CommandEnd> {
  const child = spawn(command, {
    cwd: options.cwd,
    shell: true,
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let forced: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(child, "SIGTERM");
    forced = setTimeout(signalGroup, killGraceMs, child, "SIGKILL");
  };
  options.signal.addEventListener("abort", stop, { once: true });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", options.output);
  try {
    if (options.signal.aborted) stop();
    const [exitCode, signal] = await once(child, "close");
    return { exitCode, signal };
  } finally {
    clearTimeout(forced);
    options.signal.removeEventListener("abort", stop);
    signalGroup(child, "SIGKILL");
    running.delete(child);
  }
}
