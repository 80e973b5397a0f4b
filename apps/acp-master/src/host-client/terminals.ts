// Commands that agents run on this host when no client of theirs can: each in a group of its own, its output kept within a
// bound and cut at whole characters. It decides nothing about what may run.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { killMarked } from "../agents/marked-processes.ts";
import { ProcessGroup } from "../agents/process-group.ts";

const defaultLimit = 1024 * 1024;
const largestLimit = 16 * 1024 * 1024;
/** Of one session, ended ones included until they are released. */
export const largestCount = 64;
/** When a command has ended its output is read on until nothing has come for the first, at most for the second. */
const quietMs = 250;
const mostDrainMs = 5000;

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

  /** Undefined: the session has as many as it may. */
  create(sessionId: string, start: TerminalStart): string | undefined {
    const ofSession = [...this.#terminals.values()].filter((terminal) => terminal.sessionId === sessionId);
    if (ofSession.length >= largestCount) return undefined;
    const terminalId = `host-${randomUUID()}`;
    this.#terminals.set(terminalId, new Terminal(terminalId, sessionId, start));
    return terminalId;
  }

  /** The same id in another session is another terminal, and so none. */
  get(sessionId: string, terminalId: string): Terminal | undefined {
    const terminal = this.#terminals.get(terminalId);
    return terminal?.sessionId === sessionId ? terminal : undefined;
  }

  release(terminalId: string): void {
    this.#terminals.get(terminalId)?.kill();
    this.#terminals.delete(terminalId);
  }

  endSession(sessionId: string): void {
    for (const [id, terminal] of this.#terminals) if (terminal.sessionId === sessionId) this.release(id);
  }

  endAll(): void {
    for (const terminal of this.#terminals.values()) terminal.kill();
    this.#terminals.clear();
  }
}

/** Each command's processes carry its terminal's id, so that those which left its group are found too. */
const markVariable = "ACP_MASTER_TERMINAL";

class Terminal {
  readonly sessionId: string;
  readonly ended: Promise<TerminalEnd>;
  readonly #id: string;
  readonly #group: ProcessGroup | undefined;
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #addedAt = 0;
  #truncated = false;
  #end: TerminalEnd | undefined;

  constructor(id: string, sessionId: string, start: TerminalStart) {
    this.#id = id;
    this.sessionId = sessionId;
    this.#limit = Math.min(start.outputByteLimit ?? defaultLimit, largestLimit);
    const { ACP_MASTER_RUN, ACP_MASTER_HOST } = process.env;
    const env = {
      ...process.env,
      ...Object.fromEntries(start.env.map(({ name, value }) => [name, value])),
      ACP_MASTER_RUN,
      ACP_MASTER_HOST,
      [markVariable]: id,
    };
    // An agent that gives no arguments means a line for the shell.
    const [command, args] = start.args.length > 0 ? [start.command, start.args] : ["/bin/sh", ["-c", start.command]];
    const child = spawn(command, args, {
      cwd: start.cwd,
      env,
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#group = child.pid === undefined ? undefined : new ProcessGroup(child.pid);
    this.#collect(child.stdout);
    this.#collect(child.stderr);
    this.ended = this.#whenEnded(child);
  }

  output(): { output: string; truncated: boolean; exitStatus: TerminalEnd | null } {
    const all = Buffer.concat(this.#chunks);
    const kept = all.subarray(wholeCharacters(all, Math.max(0, all.length - this.#limit)));
    return { output: kept.toString("utf8"), truncated: this.#truncated, exitStatus: this.#end ?? null };
  }

  /** Everything that the command started, also when it itself has ended; its output stays readable. */
  kill(): void {
    this.#group?.signal("SIGKILL");
    void killMarked(markVariable, this.#id);
  }

  /** With the command's exit, not with that of what it left behind, which may hold its output open for ever. */
  #whenEnded(child: ChildProcess): Promise<TerminalEnd> {
    return new Promise((resolve) => {
      const end = (exitCode: number | null, signal: string | null): void => {
        this.#end ??= { exitCode, signal };
        resolve(this.#end);
      };
      child.once("error", (error) => {
        this.#add(Buffer.from(`${error.message}\n`));
        end(127, null);
      });
      child.once("close", end);
      child.once("exit", (exitCode, signal) => {
        // A group without a member is nobody's: its number may soon be another's.
        void this.#group?.gone(0);
        const last = performance.now() + mostDrainMs;
        const look = (): void => {
          const now = performance.now();
          if (now - this.#addedAt >= quietMs || now >= last) end(exitCode, signal);
          else if (this.#end === undefined) setTimeout(look, quietMs).unref();
        };
        setTimeout(look, quietMs).unref();
      });
    });
  }

  /** Only whole characters, so that neither a read nor what the other stream says in between splits one. */
  #collect(stream: Readable): void {
    const decoder = new StringDecoder("utf8");
    stream.on("data", (chunk: Buffer) => this.#add(Buffer.from(decoder.write(chunk))));
    stream.on("end", () => this.#add(Buffer.from(decoder.end())));
  }

  #add(chunk: Buffer): void {
    this.#addedAt = performance.now();
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limit) this.#truncated = true;
    // At least what may be shown is kept.
    for (let first = this.#chunks[0]; first && this.#bytes - first.length >= this.#limit; first = this.#chunks[0]) {
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
