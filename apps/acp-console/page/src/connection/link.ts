// This page's connection to the console server: opened again when it ends, one answer for every request.
import { closeCodes, subprotocol, type Requests, type ResultOf, type ServerMessage } from "../../../src/protocol.ts";
import { waitMs } from "./back-off.ts";
import { isKnown } from "./log-in.ts";
import { messageOf } from "./server-message.ts";

export interface LinkEvents {
  readonly message: (message: ServerMessage) => void;
  /** Every request has failed before. What this connection brought is over. */
  readonly disconnected: () => void;
  /** The log-in does not count any more; the link is closed. */
  readonly loggedOut: () => void;
}

/** Why a request failed; `reason` is the server's, or `disconnected` or `timeout`. */
export class RequestFailed extends Error {
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Sent<Result> {
  readonly id: number;
  readonly reply: Promise<Result>;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (problem: RequestFailed) => void;
  readonly timer: ReturnType<typeof setTimeout> | undefined;
}

const requestMs = 30_000;
const pingMs = 20_000;
const silenceMs = 10_000;
/** These take as long as an agent or a person takes. */
const withoutLimit: ReadonlySet<keyof Requests> = new Set([
  "attach",
  "prompt",
  "new",
  "answer",
  "elicitation",
  "card.decide",
]);

export class Link {
  readonly #key: string;
  readonly #events: LinkEvents;
  #socket: WebSocket | undefined;
  #isOpen = false;
  #isClosed = false;
  #failures = 0;
  #nextId = 0;
  readonly #waiting = new Map<number, Waiting>();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #alive: ReturnType<typeof setTimeout> | undefined;
  /** Messages that are none of the protocol. */
  dropped = 0;

  constructor(key: string, events: LinkEvents) {
    this.#key = key;
    this.#events = events;
    void this.#connect();
  }

  send<Op extends keyof Requests>(op: Op, params: Requests[Op]["params"]): Sent<ResultOf<Op>> {
    const id = this.#nextId++;
    const reply = new Promise<ResultOf<Op>>((resolve, reject) => {
      if (!this.#isOpen) return reject(new RequestFailed("The console cannot be reached.", "disconnected"));
      const timer = withoutLimit.has(op) ? undefined : setTimeout(() => this.#timeOut(id), requestMs);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server answers an op with that op's result
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, timer });
      this.#socket?.send(JSON.stringify({ ...params, id, op }));
    });
    return { id, reply };
  }

  request<Op extends keyof Requests>(op: Op, params: Requests[Op]["params"]): Promise<ResultOf<Op>> {
    return this.send(op, params).reply;
  }

  /** Does not wait for the time to try again: the person is looking. */
  tryNow(): void {
    if (this.#retry === undefined) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#end();
  }

  async #connect(): Promise<void> {
    const known = await isKnown(this.#key);
    if (this.#isClosed) return;
    if (known === "no") return this.#loggedOut();
    if (known === "unreachable") return this.#tryLater();
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/api/socket`, [
      subprotocol,
      `key.${this.#key}`,
    ]);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      if (this.#socket !== socket) return;
      this.#isOpen = true;
      this.#watch();
    });
    socket.addEventListener("message", ({ data }) => this.#socket === socket && this.#receive(data));
    socket.addEventListener("close", ({ code }) => {
      if (this.#socket !== socket) return;
      this.#end();
      if (code === closeCodes.loggedOut) this.#loggedOut();
      else this.#tryLater();
    });
  }

  #receive(data: unknown): void {
    this.#watch();
    const message = messageOf(data);
    if (message === undefined) {
      this.dropped += 1;
      return;
    }
    if (message.type === "hello") this.#failures = 0;
    if (message.type !== "reply") return this.#events.message(message);
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    this.#waiting.delete(message.id);
    clearTimeout(waiting.timer);
    if (message.ok) waiting.resolve(message.result);
    else waiting.reject(new RequestFailed(message.error.message, message.error.reason ?? ""));
  }

  #timeOut(id: number): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.reject(new RequestFailed("The console did not answer in time.", "timeout"));
  }

  /** A connection from which nothing comes for a while is asked once, then given up. */
  #watch(): void {
    clearTimeout(this.#alive);
    this.#alive = setTimeout(() => {
      this.request("ping", {}).catch(() => {}); // its answer is a message like any other
      this.#alive = setTimeout(() => {
        this.#end();
        this.#tryLater();
      }, silenceMs);
    }, pingMs);
  }

  /** Everything that this connection brought is over. */
  #end(): void {
    clearTimeout(this.#alive);
    const socket = this.#socket;
    const wasOpen = this.#isOpen;
    this.#socket = undefined;
    this.#isOpen = false;
    socket?.close();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(new RequestFailed("The connection to the console ended.", "disconnected"));
    }
    if (wasOpen) this.#events.disconnected();
  }

  #tryLater(): void {
    if (this.#isClosed) return;
    const wait = waitMs(this.#failures, Math.random());
    this.#failures += 1;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#connect();
    }, wait);
  }

  #loggedOut(): void {
    this.#isClosed = true;
    this.#events.loggedOut();
  }
}
