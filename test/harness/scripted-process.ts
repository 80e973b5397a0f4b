// One started process of a scripted agent, as its test sees and commands it.
import type { Socket } from "node:net";
import { Deferred, patient, Seen, within } from "./events.ts";
import { bytesOf, isResponse, lineOf, showLine, type Line, type Loose, type Message } from "./lines.ts";

export interface Hello {
  readonly pid: number;
  readonly ppid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export class ScriptedProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Every line that came on its stdin. */
  readonly lines: Seen<Line>;
  /** Resolves when its stdin has ended, with what came after the last LF. */
  readonly inputEnded: Promise<Buffer>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly #control: Socket;
  readonly #inputEnd = new Deferred<Buffer>();
  readonly #over = new Deferred<void>();
  readonly #pending = new Map<number, Deferred<Loose>>();
  #nextCommand = 1;
  #nextRequest = 1000;

  constructor(control: Socket, hello: Hello, index: number) {
    this.#control = control;
    this.pid = hello.pid;
    this.ppid = hello.ppid;
    this.argv = hello.argv;
    this.cwd = hello.cwd;
    this.env = hello.env;
    this.lines = new Seen<Line>(`agent process ${index} (pid ${hello.pid})`, showLine);
    this.inputEnded = this.#inputEnd.promise;
    this.gone = this.#over.promise;
  }

  /** Called by the control server for every event line of this process. */
  event(event: Loose): Line | undefined {
    if (event.event === "line") {
      const line = lineOf(Buffer.from(event.bytes, "base64"));
      this.lines.add(line);
      return line;
    }
    if (event.event === "end") this.#inputEnd.resolve(Buffer.from(event.rest, "base64"));
    if (event.event === "done") {
      this.#pending.get(event.id)?.resolve(event);
      this.#pending.delete(event.id);
    }
    return undefined;
  }

  /** Called by the control server when the process went. */
  ended(): void {
    const cause = new Error(`the agent process ${this.pid} is gone`);
    for (const pending of this.#pending.values()) pending.reject(cause);
    this.#pending.clear();
    this.#inputEnd.reject(cause);
    this.lines.end("the process is gone");
    this.#over.resolve();
  }

  #do(command: object): Promise<Loose> {
    const id = this.#nextCommand++;
    const done = new Deferred<Loose>();
    if (this.lines.ended) {
      done.reject(new Error(`the agent process ${this.pid} is gone`));
      return done.promise;
    }
    this.#pending.set(id, done);
    this.#control.write(`${JSON.stringify({ id, ...command })}\n`);
    return done.promise;
  }

  /** The next line of this method (or that fits) that no `received` gave before. */
  received(fits: string | ((message: Message, line: Line) => boolean), deadlineMs?: number): Promise<Line> {
    const [test, what] =
      typeof fits === "string"
        ? [(line: Line) => line.message.method === fits, fits]
        : [(line: Line) => fits(line.message, line), "a fitting line"];
    return this.lines.take(test, what, deadlineMs);
  }

  /** How many messages of this method came so far. */
  count(method: string): number {
    return this.lines.all.filter((line) => line.message.method === method).length;
  }

  /** Writes one message to its stdout. Resolves when the process has written it; gives the error code if it could not. */
  send(message: object | string): Promise<string | undefined> {
    return this.sendRaw(bytesOf(message));
  }

  /** Writes exactly these bytes to its stdout. With `chunkBytes` in pieces, each written before the next is. */
  sendRaw(bytes: Buffer | string, chunkBytes?: number): Promise<string | undefined> {
    return patient(this.#sendRaw(bytes, chunkBytes));
  }

  async #sendRaw(bytes: Buffer | string, chunkBytes?: number): Promise<string | undefined> {
    const all = Buffer.from(bytes);
    const size = chunkBytes ?? Math.max(all.length, 1);
    for (let at = 0; at < all.length; at += size) {
      const piece = all.subarray(at, at + size).toString("base64");
      const { fault } = await this.#do({ do: "write", to: "stdout", bytes: piece });
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** Writes `head`, as many times "x", and `tail` to its stdout: for lines too long to come from the test. */
  async sendFilled(head: string, bytes: number, tail: string): Promise<string | undefined> {
    return (await this.#do({ do: "fill", head, bytes, tail })).fault;
  }

  async stderr(text: string | Buffer): Promise<void> {
    await this.#do({ do: "write", to: "stderr", bytes: Buffer.from(text).toString("base64") });
  }

  /** Answers a request that it got. */
  answer(request: Line | Message, result: Loose): Promise<string | undefined> {
    return this.send({ jsonrpc: "2.0", id: ("message" in request ? request.message : request).id, result });
  }

  fail(request: Line | Message, error: { code: number; message: string; data?: Loose }): Promise<string | undefined> {
    return this.send({ jsonrpc: "2.0", id: ("message" in request ? request.message : request).id, error });
  }

  notify(method: string, params: object): Promise<string | undefined> {
    return this.send({ jsonrpc: "2.0", method, params });
  }

  update(sessionId: string, update: object): Promise<string | undefined> {
    return this.notify("session/update", { sessionId, update });
  }

  /** A message chunk with this text. */
  say(sessionId: string, text: string): Promise<string | undefined> {
    return this.update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  /** Sends a request as the agent and gives the whole response that comes back. */
  request(method: string, params: object, id?: string | number, deadlineMs?: number): Promise<Message> {
    return patient(this.#request(method, params, id, deadlineMs));
  }

  async #request(method: string, params: object, id?: string | number, deadlineMs?: number): Promise<Message> {
    const own = id ?? this.#nextRequest++;
    void this.send({ jsonrpc: "2.0", id: own, method, params });
    const line = await this.lines.take(
      ({ message }) => isResponse(message) && message.id === own,
      `an answer to ${method} (id ${JSON.stringify(own)})`,
      deadlineMs,
    );
    return line.message;
  }

  /** `session/request_permission` for one tool call; gives the response message. */
  askPermission(
    sessionId: string,
    options: { toolCall?: Loose; options?: Loose; id?: string | number; deadlineMs?: number } = {},
  ): Promise<Message> {
    const params = {
      sessionId,
      toolCall: options.toolCall ?? {
        toolCallId: "call-1",
        title: "Run it",
        kind: "execute",
        rawInput: { command: "true" },
      },
      options: options.options ?? [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    };
    return this.request("session/request_permission", params, options.id, options.deadlineMs);
  }

  /** Starts a child of the agent that ignores TERM; `detached`: outside its process group. */
  async spawn(options: { detached?: boolean; clearEnv?: boolean } = {}): Promise<number> {
    const command = { do: "spawn", detached: options.detached ?? false, clearEnv: options.clearEnv ?? false };
    return (await this.#do(command)).pid;
  }

  async set(name: "ignoreTerm" | "ignoreEof", value: boolean): Promise<void> {
    await this.#do({ do: "set", name, value });
  }

  async closeStdout(): Promise<void> {
    await this.#do({ do: "closeStdout" });
  }

  async closeStdin(): Promise<void> {
    await this.#do({ do: "closeStdin" });
  }

  /** Stops reading stdin, as an agent that hangs. */
  async pauseInput(): Promise<void> {
    await this.#do({ do: "pauseInput" });
  }

  async resumeInput(): Promise<void> {
    await this.#do({ do: "resumeInput" });
  }

  /** Ends it with this code once everything is written; resolves when it is gone. */
  exit(code = 0): Promise<void> {
    void this.#do({ do: "exit", code }).catch(() => {}); // its end is the answer
    return within(this.gone, `agent process ${this.pid} exits`);
  }

  signal(signal: NodeJS.Signals): Promise<void> {
    void this.#do({ do: "signal", signal }).catch(() => {}); // its end is the answer
    return within(this.gone, `agent process ${this.pid} ends by ${signal}`);
  }
}
