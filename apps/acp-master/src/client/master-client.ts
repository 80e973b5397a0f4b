// A connection of one of our own programs to the daemon: requests, answers, notifications. It starts no daemon and no agent, and serves no requests.
import { connect, type Socket } from "node:net";
import { FrameReader, FrameWriter, frameOf, parseFrame } from "@acp-master/wire";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";
import { VERSION } from "../version.ts";
import { answeredError, ClientError } from "./client-error.ts";

export interface ClientOptions {
  readonly socketPath: string;
  /** How the program appears in session rows. */
  readonly name: string;
  readonly role: "controller" | "observer";
  /** Ask for `_acp-master/event` notifications. */
  readonly events?: boolean;
  /** Kinds of update that are only sent to clients which announce them. */
  readonly clientCapabilities?: object;
  readonly onNotification?: (method: string, params: unknown) => void;
  /** `null` sends no version: the way to stop a daemon of another version. */
  readonly version?: string | null;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: ClientError) => void;
  readonly timer: NodeJS.Timeout | undefined;
}

const handshakeMs = 10_000;
const answerMs = 60_000;
/** Our own answers are short lists; updates may be as long as the default frame limit. */
const maxFrameBytes = 64 * 1024 * 1024;

export class MasterClient implements AsyncDisposable {
  /** Resolves when the connection is closed, from whichever side. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #writer: FrameWriter;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onNotification: (method: string, params: unknown) => void;
  #nextId = 1;
  #fault: ClientError | undefined;

  private constructor(socket: Socket, options: ClientOptions) {
    this.#socket = socket;
    this.#onNotification = options.onNotification ?? (() => {});
    this.#writer = new FrameWriter(socket, { onError: (error) => this.#lost(error) });
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    // oxlint-disable-next-line no-new -- the reader lives as long as its stream
    new FrameReader(socket, maxFrameBytes, {
      frame: (bytes, start, end) => this.#received(bytes, start, end),
      tooLong: (limit) => {
        this.#fault = new ClientError("not_a_master", `a line from the daemon is longer than ${limit} bytes`);
        socket.destroy();
      },
      ended: (cause) => this.#lost(cause),
    });
    socket.once("close", () => this.#lost());
  }

  /** Connects and introduces itself. Fails with a ClientError of kind no_daemon, not_a_master, version_mismatch or connection_lost. */
  static async connect(options: ClientOptions): Promise<MasterClient> {
    const client = new MasterClient(await dial(options.socketPath), options);
    const version = options.version === undefined ? VERSION : options.version;
    const extension = {
      agent: null,
      ...(version === null ? {} : { version }),
      role: options.role,
      ...(options.events === true ? { events: true } : {}),
    };
    try {
      const answer = await client.request(
        "initialize",
        {
          protocolVersion: 1,
          clientCapabilities: options.clientCapabilities ?? {},
          clientInfo: { name: options.name, version: VERSION },
          _meta: { "acp-master": extension },
        },
        { timeoutMs: handshakeMs },
      );
      if (!isMaster(answer)) {
        throw new ClientError("not_a_master", `${options.socketPath} is served by a program that is not acp-master`);
      }
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** Sends a request and waits for its answer. `timeoutMs: 0` waits as long as the connection lives. */
  request<Result = unknown>(method: string, params: object, limit?: { timeoutMs: number }): Promise<Result> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    const id = this.#nextId++;
    const timeoutMs = limit?.timeoutMs ?? answerMs;
    return new Promise<Result>((resolve, reject) => {
      const timer =
        timeoutMs === 0
          ? undefined
          : setTimeout(() => {
              this.#waiting.delete(id);
              const problem = `no answer to ${method} within ${Math.round(timeoutMs / 1000)} s`;
              reject(new ClientError(method === "initialize" ? "not_a_master" : "connection_lost", problem));
            }, timeoutMs);
      // The caller names the answer's shape: the daemon is of the same version, the handshake saw to it.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      this.#waiting.set(id, { resolve: (result) => resolve(result as Result), reject, timer });
      this.#writer.write(frameOf({ jsonrpc: "2.0", id, method, params }));
    });
  }

  /** Ends the connection; requests that still wait fail with connection_lost. */
  close(): void {
    this.#lost();
    this.#socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.closed;
  }

  #received(bytes: Buffer, start: number, end: number): void {
    let message: JsonRecord;
    try {
      message = asRecord(parseFrame(bytes, start, end));
    } catch (error) {
      this.#fault = new ClientError("not_a_master", `a line of ${end - start} bytes from the daemon is not JSON-RPC`, {
        cause: error,
      });
      this.#socket.destroy();
      return;
    }
    const { id, method } = message;
    if (typeof method === "string") {
      if (id === undefined) this.#onNotification(method, message.params);
      else this.#decline(id, method);
      return;
    }
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined) return;
    this.#waiting.delete(Number(id));
    clearTimeout(waiting.timer);
    if (message.error === undefined) waiting.resolve(message.result);
    else waiting.reject(answeredError(message.error, VERSION));
  }

  #decline(id: unknown, method: string): void {
    const error = { code: -32601, message: `this program does not serve ${method}` };
    this.#writer.write(frameOf({ jsonrpc: "2.0", id, error }));
  }

  #lost(cause?: Error): void {
    this.#fault ??= new ClientError("connection_lost", "the connection to the daemon ended", { cause });
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(this.#fault);
    }
    this.#waiting.clear();
    this.#writer.end();
  }
}

function isMaster(answer: unknown): boolean {
  return typeof asRecord(asRecord(asRecord(answer)._meta)["acp-master"]).version === "string";
}

/** Opens the socket. A missing or dead socket file is kind no_daemon; one that may not be opened is said as it is. */
export function dial(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    socket.once("error", (error: NodeJS.ErrnoException) => {
      const absent = error.code === "ENOENT" || error.code === "ECONNREFUSED";
      reject(
        absent
          ? new ClientError("no_daemon", `no daemon runs at ${socketPath}`, { cause: error })
          : new ClientError("not_a_master", `${socketPath} cannot be opened (${error.code ?? "unknown"})`, {
              cause: error,
            }),
      );
    });
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
  });
}
