// Programs as children of a test: run to the end, or kept and watched.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "./events.ts";

const inRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const repositoryRoot = inRoot("");

/** The built programs. `ACP_MASTER_PROGRAMS` names another folder, to test what was built or installed elsewhere. */
const programs = process.env.ACP_MASTER_PROGRAMS ?? inRoot("apps/acp-master/dist");
export const masterProgram = join(programs, "acp-master.js");
/** What is on PATH under that name. */
export const programOnPath =
  process.env.ACP_MASTER_PROGRAMS === undefined ? inRoot("bin/acp-master.cjs") : masterProgram;
export const demoAgentProgram = join(programs, "demo-agent.js");

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to stdin, which is then closed. Without it stdin is closed at once. */
  readonly input?: string;
  readonly deadlineMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Finished extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** A child that was started, its output collected, its end awaited by whoever asks. */
export class Program {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<Exit>;
  readonly #out: Buffer[] = [];
  readonly #err: Buffer[] = [];

  constructor(command: string, args: readonly string[], options: Omit<ProgramOptions, "input" | "deadlineMs">) {
    this.child = spawn(command, args, { env: { ...options.env }, cwd: options.cwd ?? repositoryRoot, stdio: "pipe" });
    this.child.stdout.on("data", (chunk: Buffer) => this.#out.push(chunk));
    this.child.stderr.on("data", (chunk: Buffer) => this.#err.push(chunk));
    this.child.stdin.on("error", () => {}); // EPIPE after its death is not this test's fault; `exited` tells
    this.exited = new Promise((resolve, reject) => {
      this.child.once("close", (code, signal) => resolve({ code, signal }));
      this.child.once("error", reject);
    });
    this.exited.catch(() => {}); // told to whoever awaits it
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.child.spawnfile} did not start`);
    return this.child.pid;
  }

  get stdout(): string {
    return Buffer.concat(this.#out).toString("utf8");
  }

  get stderr(): string {
    return Buffer.concat(this.#err).toString("utf8");
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Sends the signal and waits for the end; kills (and says so) when it does not come. */
  async end(signal: NodeJS.Signals, deadlineMs: number): Promise<Exit> {
    if (this.running) this.child.kill(signal);
    try {
      return await within(this.exited, `${this.child.spawnargs.join(" ")} ends after ${signal}`, deadlineMs);
    } catch (cause) {
      this.child.kill("SIGKILL");
      await this.exited;
      throw new Error(`${String(cause)}\nstderr: ${this.stderr.slice(-2000)}`, { cause });
    }
  }
}

/** Runs a program to its end. A program that is not done in time is killed, and that is an error. */
export async function runProgram(command: string, args: readonly string[], options: ProgramOptions): Promise<Finished> {
  const program = new Program(command, args, options);
  program.child.stdin.end(options.input ?? "");
  const what = `${command} ${args.join(" ")} ends`;
  try {
    const exit = await within(program.exited, what, options.deadlineMs ?? 20_000, () => program.stderr.slice(-2000));
    return { ...exit, stdout: program.stdout, stderr: program.stderr };
  } catch (cause) {
    program.child.kill("SIGKILL");
    throw cause;
  }
}
