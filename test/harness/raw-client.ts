// An ACP client of bytes: over the master's socket, or over the stdin and stdout of a program. It keeps every line
// it gets, raw and parsed, and hides nothing: no schema, no correction of what it is told to send.
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { Deferred, patient, Seen, within } from "./events.ts";
import { bytesOf, isRequest, isResponse, lineOf, LineSplitter, showLine } from "./lines.ts";
import type { Line, Loose, Message } from "./lines.ts";
import type { Program } from "./program.ts";

/** Gives the result, throws `{code, message, data?}` for an error, gives undefined to leave the request open. */
export type Responder = (params: Loose, message: Message) => Loose;

export interface InitializeOptions {
  /** `_meta["acp-master"]`; left out entirely when none of the four is given. */
  readonly agent?: string | null;
  readonly role?: "controller" | "observer";
  readonly events?: boolean;
  readonly echo?: boolean;
  readonly capabilities?: Loose;
  readonly protocolVersion?: number;
  /** Further members of the params. */
  readonly extra?: object;
}

interface Transport {
  readonly input: Readable;
  readonly output: Writable;
  close(): Promise<void>;
}

export class RawClient implements AsyncDisposable {
  readonly lines = new Seen<Line>("client", showLine);
  /** The program whose stdin and stdout this is; undefined on a socket. */
  readonly program: Program | undefined;
  /** Where new sessions work when nothing else is said. */
  cwd: string = tmpdir();
  /** Resolves when the other side has ended its output. */
  readonly ended: Promise<void>;
  readonly #transport: Transport;
  readonly #responders = new Map<string, Responder>();
  #nextId = 1;

  private constructor(transport: Transport, program?: Program) {
    this.#transport = transport;
    this.program = program;
    const over = new Deferred<void>();
    this.ended = over.promise;
    const splitter = new LineSplitter((bytes) => this.#line(lineOf(bytes)));
    const end = (reason: string): void => {
      const rest = splitter.rest();
      if (rest.length > 0 && !this.lines.ended) this.#line(lineOf(rest));
      this.lines.end(reason);
      over.resolve();
    };
    transport.input.on("data", (chunk: Buffer) => splitter.push(chunk));
    transport.input.on("end", () => end("the other side ended"));
    transport.input.on("close", () => end("closed"));
    transport.input.on("error", (error: NodeJS.ErrnoException) => end(error.code ?? "error"));
    if (transport.output !== (transport.input as unknown)) transport.output.on("error", () => {}); // seen as an end
  }

  static async overSocket(path: string): Promise<RawClient> {
    const socket = connectSocket({ path, allowHalfOpen: true });
    await within(once(socket, "connect"), `connect to ${path}`);
    return new RawClient({
      input: socket,
      output: socket,
      close: async () => {
        if (socket.destroyed) return;
        const closed = once(socket, "close");
        socket.destroy();
        await closed;
      },
    });
  }

  static overProgram(program: Program): RawClient {
    const { stdin, stdout } = program.child;
    return new RawClient(
      { input: stdout, output: stdin, close: async () => void (await program.end("SIGKILL", 5_000)) },
      program,
    );
  }

  #line(line: Line): void {
    this.lines.add(line);
    const { message } = line;
    const responder = isRequest(message) ? this.#responders.get(message.method ?? "") : undefined;
    if (responder !== undefined) void this.#respond(message, responder);
  }

  async #respond(message: Message, responder: Responder): Promise<void> {
    const { id } = message;
    try {
      const result: unknown = await responder(message.params, message);
      if (result !== undefined) await this.send({ jsonrpc: "2.0", id, result });
    } catch (error) {
      await this.send({ jsonrpc: "2.0", id, error });
    }
  }

  /** From now on requests of this method are answered so. */
  answer(method: string, responder: Responder): void {
    this.#responders.set(method, responder);
  }

  /** An object or string is sent as one line; a Buffer exactly as it is. Resolves when it was handed to the system. */
  send(message: object | string | Buffer): Promise<void> {
    const { output } = this.#transport;
    return new Promise((resolve) => void output.write(bytesOf(message), () => resolve()));
  }

  notify(method: string, params?: object): Promise<void> {
    return this.send({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
  }

  /** Sends a request and gives the whole response message, result or error. */
  request(method: string, params?: object, id?: string | number, deadlineMs?: number): Promise<Message> {
    return patient(this.#request(method, params, id, deadlineMs));
  }

  async #request(method: string, params?: object, id?: string | number, deadlineMs?: number): Promise<Message> {
    const own = id ?? this.#nextId++;
    const from = this.lines.all.length;
    void this.send({ jsonrpc: "2.0", id: own, method, ...(params === undefined ? {} : { params }) });
    const line = await this.lines.take(
      (one) => isResponse(one.message) && one.message.id === own && this.lines.all.indexOf(one) >= from,
      `an answer to ${method} (id ${JSON.stringify(own)})`,
      deadlineMs,
    );
    return line.message;
  }

  /** Sends a request and gives its result; an error answer throws. */
  call(method: string, params?: object, deadlineMs?: number): Promise<Loose> {
    return patient(this.#call(method, params, deadlineMs));
  }

  async #call(method: string, params?: object, deadlineMs?: number): Promise<Loose> {
    const { result, error } = await this.request(method, params, undefined, deadlineMs);
    if (error !== undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result;
  }

  initialize(options: InitializeOptions = {}): Promise<Loose> {
    const meta = Object.fromEntries(
      (["agent", "role", "events", "echo"] as const)
        .filter((key) => options[key] !== undefined)
        .map((key) => [key, options[key]]),
    );
    return this.call(
      "initialize",
      {
        protocolVersion: options.protocolVersion ?? 1,
        clientCapabilities: options.capabilities ?? {},
        ...(Object.keys(meta).length === 0 ? {} : { _meta: { "acp-master": meta } }),
        ...options.extra,
      },
      20_000,
    );
  }

  /** `session/new`; gives the whole result. */
  newSession(params: Loose = {}): Promise<Loose> {
    return this.call("session/new", { cwd: this.cwd, mcpServers: [], ...params }, 20_000);
  }

  /** Sends a prompt of one text; gives the response message when the turn is over. */
  prompt(sessionId: string, text: string, deadlineMs?: number): Promise<Message> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, undefined, deadlineMs);
  }

  /** The next line that fits and that no `next` or `request` gave before. */
  next(fits: string | ((message: Message, line: Line) => boolean) = () => true, deadlineMs?: number): Promise<Line> {
    return this.lines.take(
      this.#fits(fits),
      `the next ${typeof fits === "string" ? fits : "fitting line"}`,
      deadlineMs,
    );
  }

  /** The first line that fits among all, past and future. */
  waitFor(fits: string | ((message: Message, line: Line) => boolean), deadlineMs?: number): Promise<Line> {
    return this.lines.waitFor(this.#fits(fits), typeof fits === "string" ? fits : "a fitting line", deadlineMs);
  }

  #fits(fits: string | ((message: Message, line: Line) => boolean)): (line: Line) => boolean {
    return typeof fits === "string" ? (line) => line.message.method === fits : (line) => fits(line.message, line);
  }

  /** The messages of one method received so far. */
  received(method: string): Message[] {
    return this.lines.all.map((line) => line.message).filter((message) => message.method === method);
  }

  /** The `update` of every session/update received so far, of one session or of all. */
  updates(sessionId?: string): Loose[] {
    return this.received("session/update")
      .filter((message) => sessionId === undefined || message.params.sessionId === sessionId)
      .map((message) => message.params.update);
  }

  /** The text of all message chunks of a session so far. */
  text(sessionId?: string): string {
    return this.updates(sessionId)
      .filter((update) => update.sessionUpdate === "agent_message_chunk")
      .map((update) => update.content.text ?? "")
      .join("");
  }

  /**
   * Proves that nothing that fits has come since `from` (default: since this call): makes a round trip, so that
   * everything that was sent before its answer has arrived. Give `through` where the trip must reach the agent.
   */
  async expectSilence(
    fits: (message: Message, line: Line) => boolean = () => true,
    options: { from?: number; through?: () => Promise<unknown> } = {},
  ): Promise<void> {
    const from = options.from ?? this.lines.all.length;
    const answer = await (options.through ?? (() => this.request("_acp-master/status", {})))();
    const found = this.lines.all.slice(from).filter((line) => line.message !== answer && fits(line.message, line));
    if (found.length > 0) throw new Error(`silence was expected, but there came:\n${found.map(showLine).join("\n")}`);
  }

  /** Ends the output; answers still due can come. */
  endInput(): void {
    this.#transport.output.end();
  }

  /** Stops reading, as a client that hangs; `resume` goes on. */
  pause(): void {
    this.#transport.input.pause();
  }

  resume(): void {
    this.#transport.input.resume();
  }

  /** Cuts the connection, or kills the program. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
