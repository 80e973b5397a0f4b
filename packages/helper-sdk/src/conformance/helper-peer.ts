// The master's end of the link as the conformance cases need it: strict about every byte a Helper sends, and free to send
// any bytes itself.
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export type Reply =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly code: unknown }
  | { readonly kind: "none"; readonly why: string };

export interface Waits {
  /** For the first answer of a fresh program. */
  readonly startMs: number;
  readonly answerMs: number;
  readonly exitMs: number;
}

export const usualWaits: Waits = { startMs: 10_000, answerMs: 5_000, exitMs: 2_000 };

export class HelperPeer implements AsyncDisposable {
  readonly waits: Waits;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #exited: Promise<string>;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #lastId = 0;
  #rest = Buffer.alloc(0);
  /** The first thing on its output that is no message. */
  #slip: string | undefined;

  constructor(command: readonly string[], waits: Waits) {
    this.waits = waits;
    const [program = "", ...args] = command;
    this.#child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], detached: process.platform !== "win32" });
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", () => resolve("the program could not be started"));
      this.#child.once("exit", (code, signal) => resolve(`the Helper exited (${signal ?? `code ${code}`})`));
    });
    void this.#exited.then((why) => this.#failAll(why));
    this.#child.stdin.on("error", () => {}); // a Helper that is gone is seen by its exit
    this.#child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  get slip(): string | undefined {
    return this.#slip;
  }

  /** Sends a request; `id` is known at once, for a cancel. */
  ask(
    method: string,
    params: unknown,
    waitMs = this.waits.answerMs,
  ): { readonly id: number; readonly reply: Promise<Reply> } {
    const id = ++this.#lastId;
    const reply = new Promise<Reply>((resolve) => {
      const timer = setTimeout(() => settle({ kind: "none", why: `no answer within ${waitMs} ms` }), waitMs);
      const settle = (end: Reply) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(end);
      };
      this.#waiting.set(id, settle);
      if (this.#slip !== undefined) settle({ kind: "none", why: this.#slip });
    });
    this.send({ jsonrpc: "2.0", id, method, params });
    return { id, reply };
  }

  request(method: string, params: unknown, waitMs?: number): Promise<Reply> {
    return this.ask(method, params, waitMs).reply;
  }

  notify(method: string, params: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  send(message: object): void {
    this.raw(frame(JSON.stringify(message)));
  }

  raw(bytes: Buffer): void {
    this.#child.stdin.write(bytes);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  /** Whether it exits in time. */
  async exits(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), this.waits.exitMs)));
    const inTime = await Promise.race([this.#exited.then(() => true), late]);
    clearTimeout(timer);
    return inTime;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#child;
    try {
      if (pid !== undefined) process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
    } catch {
      // it is gone, with everything it started
    }
    await this.#exited;
    this.#child.stdout.destroy();
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#slip === undefined) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const header = this.#rest.toString("latin1", 0, end);
      const length = /^(?:[^\r\n]+:[^\r\n]*\r\n)*content-length: *(\d+) *(?:\r\n[^\r\n]+:[^\r\n]*)*$/i.exec(
        header,
      )?.[1];
      if (length === undefined) return this.#slipUp("something else than a message header was on standard output");
      const start = end + 4;
      if (this.#rest.length < start + Number(length)) return;
      this.#hear(this.#rest.toString("utf8", start, start + Number(length)));
      this.#rest = this.#rest.subarray(start + Number(length));
    }
  }

  #hear(body: string): void {
    let message: unknown;
    try {
      message = JSON.parse(body);
    } catch {
      return this.#slipUp("the body of a message was not JSON");
    }
    if (typeof message !== "object" || message === null || !("id" in message) || "method" in message) return;
    const settle = typeof message.id === "number" ? this.#waiting.get(message.id) : undefined;
    if ("result" in message) settle?.({ kind: "result", result: message.result });
    else if ("error" in message) settle?.({ kind: "error", code: codeOf(message.error) });
  }

  #slipUp(slip: string): void {
    this.#slip = slip;
    this.#failAll(slip);
  }

  #failAll(why: string): void {
    for (const settle of this.#waiting.values()) settle({ kind: "none", why });
  }
}

export function frame(body: string): Buffer {
  return Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
