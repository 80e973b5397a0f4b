// One client: a socket with ACP on it. Owns the socket, the order of what leaves, and the questions put to this client.
// What a frame means is the router's business.

import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { Envelope, FrameReader, FrameWriter, peek, readString } from "@acp-master/wire";
import { fault, INVALID_REQUEST, PARSE_ERROR, type RpcError } from "../protocol/reasons.ts";
import { type ClientCapabilities, clientCapabilities } from "./client-capabilities.ts";
import { errorFrame, json, notificationFrame, requestFrame, resultFrame } from "./message.ts";
import type { Attachment } from "./attachment.ts";
import { BehindAttach } from "./behind-attach.ts";
import { Outbox } from "./outbox.ts";

const CLOSING = "_acp-master/closing";
const CLOSE_MS = 2000;
const MAX_BAD_LINES = 20;
const MAX_DEFERRED = 256;
/** How a request of HTTP and of its like begins. */
const HTTP = /^[!#$%&'*+.^_`|~\w-]{1,64} \S+ [a-z]{2,16}\/\d/i;

/** A question put to the client; exactly one of the three is called, once. */
export interface Question {
  answered(envelope: Envelope): void;
  /** An answer that is neither a result nor an error. */
  malformed(): void;
  /** The client is gone. */
  lost(): void;
}

export interface ClientOwner {
  request(client: ClientConnection, envelope: Envelope): void;
  notification(client: ClientConnection, envelope: Envelope): void;
  /** No more input; answers still due are delivered. */
  halfClosed(client: ClientConnection): void;
  /** With a reason when it was let go from here. */
  gone(client: ClientConnection, reason: string | undefined): void;
}

export interface ClientLimits {
  readonly frameBytes: number;
  /** So long a client may leave all that waits for it unread. */
  readonly stalledSeconds: number;
}

/** What `initialize` settled for this connection. */
export interface ClientIdentity {
  readonly name: string;
  readonly role: "controller" | "observer";
  /** undefined: asks only the master. */
  readonly agent: string | undefined;
  readonly events: boolean;
  /** It is told of what it did itself like everybody else: for programs that show one session to several people. */
  readonly echo: boolean;
  /** Is told where in the logs of its sessions it is. */
  readonly positions: boolean;
  readonly capabilities: ClientCapabilities;
}

interface InFlight {
  /** How many requests with this id wait for their answers. */
  open: number;
  cancelled: boolean;
  cancel: (() => void) | undefined;
}

const ANONYMOUS: ClientIdentity = {
  name: "",
  role: "observer",
  agent: undefined,
  events: false,
  echo: false,
  positions: false,
  capabilities: clientCapabilities({}),
};

export class ClientConnection {
  readonly clientId: string;
  readonly outbox: Outbox;
  readonly behindAttach = new BehindAttach();
  identity: ClientIdentity = ANONYMOUS;
  state: "new" | "initializing" | "ready" = "new";
  /** Input has ended: no controller and no primary any more. */
  halfClosed = false;
  closed = false;
  /** Resolves when nothing more comes from this client: its input has ended, or the connection. */
  readonly inputOver: Promise<void>;
  /** Resolves when the socket is closed; true: the last that was written did not reach the client. */
  readonly broken: Promise<boolean>;
  lateAnswers = 0;
  /** Requests of this client that are not answered, by the exact text of their id; two that share one are cancelled as the later. */
  readonly #inFlight = new Map<string, InFlight>();

  readonly #socket: Socket;
  readonly #owner: ClientOwner;
  readonly #writer: FrameWriter;
  #endInput: () => void = () => {};
  readonly #envelope = new Envelope();
  /** Random per connection, so that an answer to an earlier connection's question never fits here. */
  readonly #idPrefix = randomBytes(8).toString("hex");
  readonly #questions = new Map<number, Question>();
  /** What came while `initialize`, or what attaches to a session, was being answered, in order. */
  #deferred: Buffer[] = [];
  #lastQuestion = 0;
  #badLines = 0;
  /** How much had gone both ways when it was last found silent. */
  #silentAt: number | undefined;

  constructor(socket: Socket, clientId: string, limits: ClientLimits, owner: ClientOwner) {
    this.clientId = clientId;
    this.inputOver = new Promise((resolve) => {
      this.#endInput = resolve;
    });
    this.broken = new Promise((resolve) => socket.once("close", resolve));
    this.#socket = socket;
    this.#owner = owner;
    this.#writer = new FrameWriter(socket, {
      onDrain: () => this.outbox.pump(),
      onError: () => this.close(),
    });
    this.outbox = new Outbox(this.#writer, (what) => this.drop(`this client does not read: ${what}`));
    // It lives as long as the socket, whose events call it.
    void new FrameReader(socket, limits.frameBytes, {
      frame: (bytes, start, end) => this.#frame(bytes, start, end),
      tooLong: (limit) => {
        this.outbox.send(
          errorFrame(
            "null",
            fault("frame_too_long", `A line of over ${limit} bytes was received; the connection is closed.`),
          ),
        );
        this.notify(CLOSING, json({ reason: `it sent a line of over ${limit} bytes` }));
        this.#end();
      },
      chunkEnd: () => this.#envelope.release(),
      ended: (cause) => this.#inputEnded(cause),
    });
    socket.once("close", () => this.close());
    socket.on("timeout", () => this.#silent(limits.stalledSeconds));
    socket.setTimeout(limits.stalledSeconds * 500);
  }

  get isController(): boolean {
    return this.identity.role === "controller" && !this.halfClosed && !this.closed;
  }

  /** Registers before it writes. Returns the number by which the question can be withdrawn. */
  ask(method: string, params: Buffer, question: Question, attachment?: Attachment, position?: number): number {
    return this.askFrame((id) => requestFrame(id, method, params), question, attachment, position);
  }

  /** As `ask`, for a request whose frame is an agent's with another id. */
  askFrame(
    frame: (id: string) => Buffer,
    question: Question,
    attachment?: Attachment,
    position?: number,
    sent?: () => void,
  ): number {
    const number = ++this.#lastQuestion;
    this.#questions.set(number, question);
    this.outbox.send(frame(this.#questionId(number)), attachment, position, sent);
    return number;
  }

  /** Takes a question back: the client is told, a late answer is dropped, or goes to `late`. */
  withdraw(number: number, late?: Question): void {
    if (!this.#questions.delete(number)) return;
    if (late) this.#questions.set(number, late);
    const params = Buffer.from(`{"requestId":${this.#questionId(number)}}`);
    this.outbox.send(notificationFrame("$/cancel_request", params));
  }

  /** Tells the client that a question is cancelled, and still waits for its answer. */
  cancelQuestion(number: number): void {
    if (!this.#questions.has(number)) return;
    this.outbox.send(notificationFrame("$/cancel_request", Buffer.from(`{"requestId":${this.#questionId(number)}}`)));
  }

  /** A request came. It is answered once, by `respond`, `refuse` or `relayAnswer`. */
  begin(id: string): void {
    const open = (this.#inFlight.get(id)?.open ?? 0) + 1;
    this.#inFlight.set(id, { open, cancelled: this.behindAttach.wasCancelled(id), cancel: undefined });
  }

  /** What `cancelRequest` does to a request that is not answered yet; at once, where the client was faster. */
  onCancel(id: string, cancel: () => void): void {
    const request = this.#inFlight.get(id);
    if (!request) return;
    request.cancel = cancel;
    if (request.cancelled) cancel();
  }

  /** Only the asker's own requests are here; an unknown id is nobody's. */
  cancelRequest(id: string): void {
    this.behindAttach.cancel(id);
    const request = this.#inFlight.get(id);
    if (!request) return;
    request.cancelled = true;
    request.cancel?.();
  }

  respond(id: string, result: Buffer, attachment?: Attachment, position?: number): void {
    this.#answered(resultFrame(id, result), id, attachment, position);
  }

  refuse(id: string, error: RpcError, attachment?: Attachment, position?: number): void {
    this.#answered(errorFrame(id, error), id, attachment, position);
  }

  /** An agent's answer, already under this client's id. */
  relayAnswer(id: string, frame: Buffer, attachment?: Attachment, position?: number): void {
    this.#answered(frame, id, attachment, position);
  }

  /** The client gets what was written for it now, not with what else this tick has for it. */
  flush(): void {
    this.#writer.flush();
  }

  notify(method: string, params: Buffer, attachment?: Attachment, position?: number): void {
    this.outbox.send(notificationFrame(method, params), attachment, position);
  }

  /** Keeps a frame until `resumeDeferred`. */
  defer(envelope: Envelope): void {
    if (this.#deferred.length >= MAX_DEFERRED) {
      this.drop(`${MAX_DEFERRED} messages came before "initialize" was answered`);
      return;
    }
    this.#deferred.push(Buffer.from(envelope.bytes.subarray(envelope.start, envelope.end + 1)));
  }

  resumeDeferred(): void {
    const frames = this.#deferred;
    this.#deferred = [];
    for (const frame of frames) this.#frame(frame, 0, frame.length - 1);
    this.#envelope.release();
    // Nothing among it may be owed an answer.
    if (this.halfClosed) this.#endWhenAnswered();
  }

  /** Cuts the client off, saying why. */
  drop(reason: string): void {
    if (this.closed) return;
    this.outbox.tell();
    this.outbox.clear();
    this.#writer.write(notificationFrame(CLOSING, json({ reason })));
    this.close(reason);
  }

  /** Ends the connection after what is written. Safe to call twice. */
  close(reason?: string): void {
    if (this.closed) return;
    this.closed = true;
    this.outbox.clear();
    this.#end();
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const question of questions) question.lost();
    this.#inFlight.clear();
    this.#owner.gone(this, reason);
    this.#endInput();
  }

  /** As `drop`. Resolves when the socket is closed and all that was written has left; bounded. */
  async dropAndFlush(reason: string): Promise<void> {
    const closed = this.#socket.destroyed
      ? Promise.resolve()
      : new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.drop(reason);
    // The peer may keep its side open; once ours is flushed nothing is owed to it.
    if (this.#socket.writableFinished) this.#socket.destroy();
    else this.#socket.once("finish", () => this.#socket.destroy());
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
    await closed;
    clearTimeout(timer);
  }

  destroy(): void {
    this.close();
    this.#socket.destroy();
  }

  /** For half the time it said nothing, and took nothing. A machine that slept wakes to the first half at most. */
  #silent(stalledSeconds: number): void {
    if (this.#writer.pendingBytes === 0) return; // nothing is owed to it
    const passed = this.#socket.bytesRead + this.#socket.bytesWritten - this.#writer.pendingBytes;
    if (this.#silentAt === passed) this.drop(`this client has read nothing for ${stalledSeconds} s`);
    this.#silentAt = passed;
    this.#socket.setTimeout(stalledSeconds * 500);
  }

  #questionId(number: number): string {
    return `"${this.#idPrefix}-${number}"`;
  }

  #answered(frame: Buffer, id: string, attachment?: Attachment, position?: number): void {
    if (this.closed) return;
    const request = this.#inFlight.get(id);
    if (request && --request.open === 0) this.#inFlight.delete(id);
    this.outbox.send(frame, attachment, position);
    const behind = this.behindAttach.answered(id);
    if (behind.length > 0) {
      this.#deferred.push(...behind);
      // Whoever answers has not finished attaching.
      queueMicrotask(() => this.resumeDeferred());
    }
    if (this.halfClosed) this.#endWhenAnswered();
  }

  #inputEnded(cause?: Error): void {
    if (this.closed || this.halfClosed) return;
    if (cause) {
      this.close();
      return;
    }
    this.halfClosed = true;
    this.#endInput();
    this.#owner.halfClosed(this);
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const question of questions) question.lost();
    this.#endWhenAnswered();
  }

  #endWhenAnswered(): void {
    if (this.#inFlight.size > 0 || this.#deferred.length > 0) return;
    if (this.outbox.waiting === 0) this.close();
    else this.outbox.send(Buffer.alloc(0), undefined, 0, () => this.close());
  }

  #end(): void {
    this.#writer.end();
    // A peer that never closes its side must not keep the socket for ever.
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
    timer.unref();
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #frame(bytes: Buffer, start: number, end: number): void {
    if (this.closed) return;
    const envelope = this.#envelope;
    peek(bytes, start, end, envelope);
    if (envelope.kind === "invalid" && this.state === "new" && isHttp(bytes, start, end)) {
      this.destroy();
      return;
    }
    if (envelope.kind === "invalid") {
      this.#badLine(envelope);
      return;
    }
    this.#badLines = 0;
    if (envelope.kind === "request") this.#owner.request(this, envelope);
    else if (envelope.kind === "notification") this.#owner.notification(this, envelope);
    else this.#response(envelope);
  }

  #response(envelope: Envelope): void {
    const question = this.#takeQuestion(envelope);
    if (question) question.answered(envelope);
    else this.lateAnswers++;
  }

  #takeQuestion(envelope: Envelope): Question | undefined {
    const id = readString(envelope.bytes, envelope.id);
    if (id === undefined || !id.startsWith(`${this.#idPrefix}-`)) return undefined;
    const number = Number(id.slice(this.#idPrefix.length + 1));
    const question = this.#questions.get(number);
    if (!question || `${this.#idPrefix}-${number}` !== id) return undefined;
    this.#questions.delete(number);
    return question;
  }

  #isQuestionId(envelope: Envelope): boolean {
    return readString(envelope.bytes, envelope.id)?.startsWith(`${this.#idPrefix}-`) === true;
  }

  #badLine(envelope: Envelope): void {
    const answersSomething =
      envelope.method.start < 0 &&
      (envelope.result.start >= 0 || envelope.error.start >= 0 || this.#isQuestionId(envelope));
    if (answersSomething) {
      // A response is never answered, not even a malformed one.
      this.#takeQuestion(envelope)?.malformed();
    } else {
      const id = envelope.id.start < 0 ? "null" : envelope.bytes.toString("latin1", envelope.id.start, envelope.id.end);
      this.outbox.send(errorFrame(id, lineErrors[envelope.problem ?? "not_json"]));
    }
    if (++this.#badLines >= MAX_BAD_LINES) this.drop(`${this.#badLines} lines in a row were no valid messages`);
  }
}

const isHttp = (bytes: Buffer, start: number, end: number): boolean =>
  HTTP.test(bytes.toString("latin1", start, Math.min(end, start + 2048)));

/** What is wrong with a line, by what `peek` says of it. */
const lineErrors: Readonly<Record<NonNullable<Envelope["problem"]>, RpcError>> = {
  not_json: { code: PARSE_ERROR, message: "This line is no JSON." },
  batch: { code: INVALID_REQUEST, message: "Batches are not part of this protocol; send one message a line." },
  not_object: { code: INVALID_REQUEST, message: "A message is a JSON object." },
  duplicate_key: { code: INVALID_REQUEST, message: "A member of the message's envelope is there twice." },
  escaped_key: {
    code: INVALID_REQUEST,
    message: "A member name of the message's envelope is written with escapes.",
  },
  bad_envelope: {
    code: INVALID_REQUEST,
    message: 'This is no JSON-RPC 2.0 message: check "jsonrpc", "id", "method" and "params".',
  },
};
