// A client for floods: it keeps no update. Each goes to `onUpdate` as the bytes of its line; everything else is a message.
// Like the harness's client it has code of its own for lines, so that a fault in the product's cannot hide itself.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Deferred, patient, within } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import type { Master } from "../harness/master.ts";

const UPDATE = Buffer.from('{"jsonrpc":"2.0","method":"session/update",');
const LF = 0x0a;
const PATIENCE_MS = 600_000;

export interface StreamClientOptions {
  /** The line of one update, LF included; it is good for the call only. */
  readonly onUpdate?: (bytes: Buffer, start: number, end: number) => void;
  readonly onRequest?: (message: Message, client: StreamClient) => void;
  readonly onNotification?: (message: Message) => void;
  /** Of `_meta["acp-master"]` of initialize. */
  readonly agent?: string | null;
  readonly positions?: boolean;
}

export class StreamClient implements AsyncDisposable {
  readonly cwd: string;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  bytes = 0;
  #socket: Socket;
  #options: StreamClientOptions;
  #held: Buffer[] = [];
  #lastId = 0;
  readonly #waiting = new Map<number, Deferred<Message>>();

  private constructor(socket: Socket, cwd: string, options: StreamClientOptions) {
    this.#socket = socket;
    this.#options = options;
    this.cwd = cwd;
    socket.on("data", (chunk: Buffer) => this.#chunk(chunk));
    socket.on("error", () => {}); // "close" follows
    this.closed = once(socket, "close").then(() => {
      for (const waiting of this.#waiting.values()) waiting.reject(new Error("the connection was closed"));
      this.#waiting.clear();
    });
  }

  static async connect(master: Master, options: StreamClientOptions = {}): Promise<StreamClient> {
    const socket = connect(master.socket);
    await within(once(socket, "connect"), "connect to the master", PATIENCE_MS);
    const client = new StreamClient(socket, master.work, options);
    master.own(client);
    const meta = { agent: options.agent, positions: options.positions };
    await client.call("initialize", { protocolVersion: 1, clientCapabilities: {}, _meta: { "acp-master": meta } });
    return client;
  }

  /** The result; an error answer and the end of the connection throw. */
  call(method: string, params: object): Promise<Loose> {
    return patient(this.#call(method, params));
  }

  async #call(method: string, params: object): Promise<Loose> {
    const { result, error } = await this.request(method, params);
    if (error !== undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result;
  }

  /** The whole answer, result or error. */
  request(method: string, params: object): Promise<Message> {
    const id = ++this.#lastId;
    const waiting = new Deferred<Message>();
    this.#waiting.set(id, waiting);
    this.send({ jsonrpc: "2.0", id, method, params });
    return patient(within(waiting.promise, `an answer to ${method}`, PATIENCE_MS));
  }

  send(message: object): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  async newSession(): Promise<string> {
    return (await this.call("session/new", { cwd: this.cwd, mcpServers: [] })).sessionId;
  }

  load(sessionId: string): Promise<Loose> {
    return this.call("session/load", { sessionId, cwd: this.cwd, mcpServers: [] });
  }

  prompt(sessionId: string, text: string): Promise<Loose> {
    return this.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Stops reading, as a client that hangs. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Reads once, 64 KiB at most, and pauses again. Throws when there is nothing to come any more. */
  async sip(): Promise<void> {
    const read = new Promise<void>((resolve) => {
      this.#socket.once("data", () => {
        this.#socket.pause();
        resolve();
      });
    });
    this.#socket.resume();
    await within(Promise.race([read, this.closed.then(() => Promise.reject(new Error("closed")))]), "a sip");
  }

  /** Gone at once and without a word, as a client that is killed. */
  async kill(): Promise<void> {
    this.#socket.destroy();
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #chunk(chunk: Buffer): void {
    this.bytes += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      if (this.#held.length > 0) {
        const line = Buffer.concat([...this.#held, chunk.subarray(0, end + 1)]);
        this.#held = [];
        this.#line(line, 0, line.length);
      } else this.#line(chunk, start, end + 1);
      start = end + 1;
    }
    if (start < chunk.length) this.#held.push(chunk.subarray(start));
  }

  #line(bytes: Buffer, start: number, end: number): void {
    if (bytes.compare(UPDATE, 0, UPDATE.length, start, start + UPDATE.length) === 0) {
      this.#options.onUpdate?.(bytes, start, end);
      return;
    }
    const message: Message = JSON.parse(bytes.toString("utf8", start, end));
    if (message.method === undefined) {
      const waiting = this.#waiting.get(Number(message.id));
      this.#waiting.delete(Number(message.id));
      waiting?.resolve(message);
    } else if (message.id === undefined) this.#options.onNotification?.(message);
    else this.#options.onRequest?.(message, this);
  }
}
