// Commands that agents run on this host when no client of theirs can: each in a group of its own, its output kept within a
// bound and cut at whole characters. It decides nothing about what may run.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

const defaultLimit = 1024 * 1024;
const largestLimit = 16 * 1024 * 1024;
const largestCount = 64;

export interface TerminalStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly outputByteLimit: number | undefined;
}

export interface TerminalEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export class Terminals {
  readonly #terminals = new Map<string, Terminal>();

  create(sessionId: string, start: TerminalStart): string {
    if (this.#terminals.size >= largestCount) throw new RangeError(`${largestCount} terminals are open already`);
    const terminalId = `host-${randomUUID()}`;
    this.#terminals.set(terminalId, new Terminal(sessionId, start));
    return terminalId;
  }

  /** The same id in another session is another terminal, and so none. */
  get(sessionId: string, terminalId: string): Terminal | undefined {
    const terminal = this.#terminals.get(terminalId);
    return terminal?.sessionId === sessionId ? terminal : undefined;
  }

  release(sessionId: string, terminalId: string): void {
    this.get(sessionId, terminalId)?.kill();
    this.#terminals.delete(terminalId);
  }

  endSession(sessionId: string): void {
    for (const [id, terminal] of this.#terminals) if (terminal.sessionId === sessionId) this.release(sessionId, id);
  }

  endAll(): void {
    for (const terminal of this.#terminals.values()) terminal.kill();
    this.#terminals.clear();
  }
}

class Terminal {
  readonly sessionId: string;
  readonly ended: Promise<TerminalEnd>;
  readonly #child: ChildProcess;
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #truncated = false;
  #end: TerminalEnd | undefined;

  constructor(sessionId: string, start: TerminalStart) {
    this.sessionId = sessionId;
    this.#limit = Math.min(start.outputByteLimit ?? defaultLimit, largestLimit);
    const env = { ...process.env, ...Object.fromEntries(start.env.map(({ name, value }) => [name, value])) };
    // An agent that gives no arguments means a line for the shell.
    const [command, args] = start.args.length > 0 ? [start.command, start.args] : ["/bin/sh", ["-c", start.command]];
    this.#child = spawn(command, args, {
      cwd: start.cwd,
      env,
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => this.#add(chunk));
    this.ended = new Promise((resolve) => {
      const end = (exitCode: number | null, signal: string | null): void => {
        this.#end ??= { exitCode, signal };
        resolve(this.#end);
      };
      this.#child.once("error", (error) => {
        this.#add(Buffer.from(`${error.message}\n`));
        end(127, null);
      });
      this.#child.once("close", end);
    });
  }

  output(): { output: string; truncated: boolean; exitStatus: TerminalEnd | null } {
    const all = Buffer.concat(this.#chunks);
    const kept = all.subarray(wholeCharacters(all, Math.max(0, all.length - this.#limit)));
    return { output: kept.toString("utf8"), truncated: this.#truncated, exitStatus: this.#end ?? null };
  }

  /** The whole group; its output stays readable. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#end !== undefined) return;
    try {
      if (process.platform === "win32") this.#child.kill();
      else process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended in the meantime.
    }
  }

  #add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limit) this.#truncated = true;
    // One chunk more than the limit is kept, so that the cut can be made where a character begins.
    for (let first = this.#chunks[0]; first && this.#bytes - first.length > this.#limit + 4; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#bytes -= first.length;
    }
  }
}

/** The first position from `from` on that does not lie inside a character. */
function wholeCharacters(bytes: Buffer, from: number): number {
  let at = from;
  while (at > 0 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at++;
  return at;
}
