// Starts the program of an agent in a process group of its own. It reads and writes nothing and never throws.
import { execa } from "execa";
import type { Readable, Writable } from "node:stream";
import type { AgentOutput } from "./agent-output.ts";

export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** For its stdout; without one it gets a pipe. Discarded when the agent cannot be started. */
  readonly output?: AgentOutput | undefined;
}

export interface SpawnedAgent {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
}

/** `failed` gives the code of the system's error. */
export type SpawnResult =
  | { readonly ok: true; readonly agent: SpawnedAgent }
  | { readonly ok: false; readonly failed: Promise<string | undefined> };

export function spawnAgent(request: SpawnRequest): SpawnResult {
  const { output } = request;
  const child = attempt(request);
  if (!("stdin" in child)) {
    output?.discard();
    return { ok: false, failed: Promise.resolve(child.code) };
  }
  output?.agentEnd.destroy();
  // Ending the process is the stop ladder's business, also after an error on one of its streams.
  child.on("error", () => {});
  const { pid } = child;
  const stdout = output?.stream ?? child.stdout;
  if (pid === undefined || stdout === null) {
    output?.discard();
    return { ok: false, failed: child.then((result) => result.code) };
  }
  const exited = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return { ok: true, agent: { pid, stdin: child.stdin, stdout, stderr: child.stderr, exited } };
}

function attempt(request: SpawnRequest) {
  try {
    return execa(request.command, request.args, {
      cwd: request.cwd,
      env: request.environment,
      extendEnv: false,
      stdin: "pipe",
      stdout: request.output?.agentEnd ?? "pipe",
      stderr: "pipe",
      buffer: false,
      reject: false,
      cleanup: false,
      forceKillAfterDelay: false,
      windowsHide: true,
      // On POSIX its own session and process group; on Windows that would open a console window.
      detached: process.platform !== "win32",
    });
  } catch (error) {
    // Arguments that no program can be given, for example one with a NUL in it.
    return { code: error instanceof Error && "code" in error ? String(error.code) : undefined };
  }
}
