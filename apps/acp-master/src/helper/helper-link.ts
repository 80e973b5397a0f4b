// One Helper's two streams as a JSON-RPC link. It carries an agent's bytes unread in both directions, bounds what waits
// either way, ends itself when the streams are out of step, and never logs, keeps or repeats a message.
import type { Readable, Writable } from "node:stream";
import {
  CancellationTokenSource,
  createMessageConnection,
  NullLogger,
  ResponseError,
  type ConnectionOptions,
  type Message,
  type MessageConnection,
  type NotificationMessage,
  type ResponseMessage,
} from "vscode-jsonrpc/node";
import { BoundedOutput } from "./bounded-output.ts";
import { BodyFault, decodeMessage, RawParams, type HelperResult } from "./message-content.ts";
import { MessageSplitter, type FramingFault } from "./message-framing.ts";
import { MessageSink, MessageSource } from "./message-ends.ts";
import { notSoon, soon } from "../soon.ts";
import { wait } from "../wait.ts";

/** Why a link is over. `ended`: the Helper closed its output. `closed`: the master closed the link. */
export type LinkEnd = FramingFault | "stalled" | "overflow" | "broken" | "ended" | "closed";

/** Why a request has no result. `error` carries the Helper's code and never its text. */
export type RequestFault = { readonly kind: "deadline" | "gone" } | { readonly kind: "error"; readonly code: number };
export type RequestEnd =
  { readonly ok: true; readonly result: HelperResult | null } | { readonly ok: false; readonly fault: RequestFault };

export interface LinkEvents {
  notification(method: string, params: Readonly<Record<string, unknown>>): void;
  /** A body that is no message, an answer to nothing or a request: dropped, the link goes on. */
  dropped(kind: string): void;
  /** More messages arrive than are handled; the Helper's output is not read for a moment. */
  flooded(): void;
  drained(): void;
  /** Exactly once, after everything the Helper had said. */
  over(end: LinkEnd): void;
}

export interface LinkBounds {
  readonly maxFrameBytes: number;
  /** A Helper that reads nothing for this long is at fault. */
  readonly stallMs: number;
}

const maxUnhandled = 256;
/** Requests that were given up and never answered: at this many the Helper is at fault. */
const maxGivenUp = 1024;
const envelopeEstimate = 128;
/** Of what nobody waits for so much is kept for one write: many short turns wake the Helper once. */
const maxMentions = 64;

export class HelperLink implements Disposable {
  readonly #events: LinkEvents;
  readonly #input: Readable;
  readonly #output: BoundedOutput;
  readonly #sink: MessageSink;
  readonly #source = new MessageSource();
  readonly #connection: MessageConnection;
  readonly #splitter: MessageSplitter;
  readonly #unanswered = new Set<number | string | null>();
  readonly #givenUp = new Set<number | string | null>();
  readonly #waiting = new Set<(fault: RequestFault) => void>();
  #mentions: NotificationMessage[] = [];
  #unhandled = 0;
  #flooded = false;
  #inputOver: LinkEnd | undefined;
  #over = false;

  constructor(streams: { input: Readable; output: Writable }, bounds: LinkBounds, events: LinkEvents) {
    this.#events = events;
    this.#input = streams.input;
    this.#output = new BoundedOutput(streams.output, bounds.stallMs, {
      drained: () => events.drained(),
      fault: (fault) => this.end(fault),
    });
    this.#splitter = new MessageSplitter(bounds.maxFrameBytes, {
      body: (bytes) => this.#receive(bytes),
      fault: (fault) => this.#endInput(fault),
    });
    this.#sink = new MessageSink(this.#output);
    this.#connection = createMessageConnection(this.#source, this.#sink, NullLogger, this.#options());
    this.#connection.onNotification((method, params) => {
      if (!this.#over) events.notification(method, Array.isArray(params) ? {} : { ...params });
    });
    this.#connection.onError(() => {}); // every failure is reported where it happens; this one would carry a message
    this.#connection.listen();
    this.#input.on("data", (chunk: Buffer) => this.#splitter.push(chunk));
    this.#input.on("end", () => this.#splitterEnd());
    this.#input.on("close", () => this.#splitterEnd());
    this.#input.on("error", () => this.#endInput("broken"));
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Whether a lane may hand over another message of this size. `drained` follows a `false`. */
  canTake(bytes = 0): boolean {
    return !this.#over && this.#output.canTake(bytes + envelopeEstimate);
  }

  /** `done` is called at most once, never within this call, and not after `cancel()`. */
  request(
    method: string,
    params: Buffer | object,
    deadlineMs: number,
    done: (end: RequestEnd) => void,
  ): { cancel(): void } {
    this.#catchUp();
    const cancellation = new CancellationTokenSource();
    let isOpen = true;
    const close = () => {
      isOpen = false;
      stopWaiting();
      this.#waiting.delete(fail);
    };
    const finish = (end: RequestEnd) => {
      if (!isOpen) return;
      close();
      done(end);
    };
    const fail = (fault: RequestFault) => finish({ ok: false, fault });
    const stopWaiting = wait(deadlineMs, () => {
      cancellation.cancel();
      fail({ kind: "deadline" });
    });
    this.#waiting.add(fail);
    if (this.#over) {
      queueMicrotask(() => fail({ kind: "gone" }));
    } else {
      this.#connection
        .sendRequest<HelperResult | null>(
          method,
          Buffer.isBuffer(params) ? new RawParams(params) : params,
          cancellation.token,
        )
        .then(
          (result) => finish({ ok: true, result }),
          (error: unknown) => fail(this.#over ? { kind: "gone" } : { kind: "error", code: codeOf(error) }),
        );
    }
    return {
      cancel: () => {
        if (!isOpen) return;
        close();
        if (!this.#over) cancellation.cancel();
      },
    };
  }

  notify(method: string, params: Buffer | object): void {
    this.#catchUp();
    this.#send(method, params);
  }

  /** As `notify`, for what nobody waits for: it leaves ahead of what comes next, or a moment later by itself. */
  mention(method: string, params: object): void {
    if (this.#over) return;
    this.#mentions.push({ jsonrpc: "2.0", method, params });
    if (this.#mentions.length >= maxMentions) this.#catchUp();
    else soon(this.#catchUp);
  }

  readonly #catchUp = (): void => {
    if (this.#mentions.length === 0) return;
    // Past the library, which would make promises for each.
    for (const mention of this.#mentions) void this.#sink.write(mention);
    this.#mentions = [];
  };

  #send(method: string, params: Buffer | object): void {
    if (this.#over) return;
    this.#connection.sendNotification(method, Buffer.isBuffer(params) ? new RawParams(params) : params).catch(() => {
      // the stream's own error event ends the link
    });
  }

  /** A person or an agent waits for what was written. */
  flush(): void {
    this.#output.flush();
  }

  /** Closes the way to the Helper behind everything written; its last words are still read. */
  endOutput(): void {
    this.#catchUp();
    this.#connection.end();
  }

  /** Ends the link: everything that waits fails as `gone`. Doing it twice is fine. */
  end(cause: LinkEnd): void {
    if (this.#over) return;
    this.#over = true;
    notSoon(this.#catchUp);
    this.#mentions = [];
    this.#output[Symbol.dispose]();
    this.#connection.dispose();
    this.#input.resume(); // what still comes is drained and not looked at
    for (const fail of this.#waiting) fail({ kind: "gone" });
    this.#events.over(cause);
  }

  [Symbol.dispose](): void {
    this.end("closed");
  }

  #options(): ConnectionOptions {
    return {
      messageStrategy: {
        handleMessage: (message, next) => {
          const handled = next(message);
          this.#handled();
          return handled;
        },
      },
      cancellationStrategy: {
        receiver: { createCancellationTokenSource: () => new CancellationTokenSource() },
        sender: {
          enableCancellation: (request) => void this.#unanswered.add(request.id),
          sendCancellation: (connection, id) => {
            this.#catchUp();
            this.#givenUp.add(id);
            if (this.#givenUp.size > maxGivenUp) queueMicrotask(() => this.end("overflow"));
            return connection.sendNotification("$/cancelRequest", { id });
          },
          cleanup: () => {},
        },
      },
    };
  }

  #receive(body: Buffer): void {
    if (this.#over) return;
    if (++this.#unhandled >= maxUnhandled && !this.#flooded) {
      this.#flooded = true;
      this.#input.pause();
      this.#events.flooded();
    }
    const message = this.#decode(body);
    if (message !== undefined) this.#source.deliver(message);
  }

  /** undefined: the library should not see it, a body that is no message, a request, an answer to nothing. */
  #decode(bytes: Buffer): Message | undefined {
    try {
      const message = decodeMessage(bytes);
      if ("method" in message) {
        if (!("id" in message)) return message;
        this.#refuse(message.id, -32601, "The master answers no requests on this link.");
        throw new BodyFault("request");
      }
      if (!this.#unanswered.delete(message.id)) throw new BodyFault("unknown_id");
      this.#givenUp.delete(message.id);
      return message;
    } catch (error) {
      const kind = error instanceof BodyFault ? error.kind : "not_json";
      if (kind === "not_json") this.#refuse(null, -32700, "The body is not JSON.");
      if (!this.#over) this.#events.dropped(kind);
      this.#handled();
      return undefined;
    }
  }

  #refuse(id: number | string | null, code: number, message: string): void {
    if (this.#over || !this.canTake()) return;
    const answer: ResponseMessage = { jsonrpc: "2.0", id, error: { code, message } };
    void this.#sink.write(answer);
  }

  #handled(): void {
    this.#unhandled--;
    if (this.#unhandled === maxUnhandled / 2 && this.#inputOver === undefined) {
      this.#flooded = false;
      this.#input.resume();
    }
    // An answer is delivered by promise, a few microtasks after it was handled.
    if (this.#unhandled === 0 && this.#inputOver !== undefined)
      setImmediate(() => this.end(this.#inputOver ?? "ended"));
  }

  #splitterEnd(): void {
    if (this.#inputOver !== undefined) return;
    this.#splitter.end();
    this.#endInput("ended");
  }

  #endInput(cause: LinkEnd): void {
    if (this.#inputOver !== undefined) return;
    this.#inputOver = cause;
    this.#input.resume();
    if (this.#unhandled === 0) setImmediate(() => this.end(cause));
  }
}

function codeOf(error: unknown): number {
  return error instanceof ResponseError ? error.code : 0;
}
