// The Helper's end of the review endpoint: user interfaces connect, see all cards and decide. It knows lines, bounds and
// places; what a decision does it leaves to the desk.
import { type Server, type Socket, createServer } from "node:net";
import {
  type HelperInstance,
  type Unsafe,
  listenPrivately,
  maxConnections,
  platformPlace,
} from "@acp-master/proposal-channel";
import { LineBuffer } from "@acp-master/proposal-channel/line-buffer";
import {
  type Card,
  type DecisionEnd,
  type DecisionRequest,
  type Notice,
  type ReviewEvent,
  type ReviewRequest,
  type ShownProposal,
  maxRequestBytes,
  maxReviewBytes,
  reviewVersion,
} from "./review-messages.ts";
import { readReviewRequest } from "./review-requests.ts";
import { visibleLine } from "./visible-text.ts";

/** Whom the user interfaces deal with. */
export interface ReviewDesk {
  state(): {
    readonly cards: readonly Card[];
    readonly notices: readonly Notice[];
    readonly turns: readonly ShownProposal[];
  };
  seen(proposalId: string): void;
  /** `by` is the name of the interface, safe to show. */
  decide(request: DecisionRequest, by: string): Promise<DecisionEnd>;
}

export interface ReviewServerOptions {
  readonly folder: string;
  readonly instance: HelperInstance;
  readonly helper: string;
  readonly desk: ReviewDesk;
  readonly onLost: () => void;
  /** Kinds and counts only. */
  readonly log: (event: string, fields: Readonly<Record<string, string | number>>) => void;
}

const helloMs = 5_000;
/** Decisions of one interface that wait for their end. */
const maxDecisions = 8;

export class ReviewServer implements AsyncDisposable {
  readonly path: string;
  readonly #options: ReviewServerOptions;
  readonly #server: Server;
  readonly #interfaces = new Set<Interface>();
  #closed: Promise<void> | undefined;

  private constructor(path: string, options: ReviewServerOptions) {
    this.path = path;
    this.#options = options;
    this.#server = createServer((socket) => this.#admit(socket));
  }

  static async open(
    options: ReviewServerOptions,
  ): Promise<{ readonly ok: true; readonly server: ReviewServer } | Unsafe> {
    const place = platformPlace();
    const endpoint = place.path(options.folder, options.instance);
    if (!endpoint.ok) return endpoint;
    const opened = new ReviewServer(endpoint.path, options);
    const listening = await listenPrivately(opened.#server, { folder: options.folder, path: endpoint.path }, place);
    if (!listening.ok) return listening;
    opened.#server.on("error", () => {}); // a connection that could not be taken; 'close' says when all is over
    opened.#server.on("close", () => {
      if (opened.#closed === undefined) options.onLost();
    });
    return { ok: true, server: opened };
  }

  /** To every interface that has introduced itself. */
  tell(event: ReviewEvent): void {
    for (const each of this.#interfaces) each.tell(event);
  }

  /** Where interfaces show their cards, in the executor's words. */
  get places(): readonly string[] {
    return [...this.#interfaces].flatMap(({ place }) => place ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const each of this.#interfaces) each.end();
    });
    await this.#closed;
  }

  #admit(socket: Socket): void {
    if (this.#interfaces.size >= maxConnections) {
      this.#options.log("review_connection_refused", { connections: this.#interfaces.size });
      socket.on("error", () => {});
      socket.destroy();
      return;
    }
    const admitted = new Interface(socket, this.#options);
    this.#interfaces.add(admitted);
    socket.once("close", () => this.#interfaces.delete(admitted));
  }
}

/** One connected user interface. */
class Interface {
  readonly #socket: Socket;
  readonly #options: ReviewServerOptions;
  readonly #greeting: NodeJS.Timeout;
  #name: string | undefined;
  #place: string | undefined;
  #decisions = 0;

  constructor(socket: Socket, options: ReviewServerOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#greeting = setTimeout(() => this.#refuse("no hello came"), helloMs);
    socket.on("error", () => {}); // 'close' follows
    socket.once("close", () => clearTimeout(this.#greeting));
    const lines = new LineBuffer(maxRequestBytes);
    socket.on("data", (chunk: Buffer) => {
      for (const each of lines.push(chunk)) {
        if (socket.destroyed || socket.writableEnded) return;
        if (each.event === "line") this.#hear(each.line);
        else this.#refuse("a line is too long");
      }
    });
  }

  get place(): string | undefined {
    return this.#place;
  }

  tell(event: ReviewEvent): void {
    if (this.#name !== undefined) this.#send(event);
  }

  end(): void {
    clearTimeout(this.#greeting);
    if (this.#socket.destroyed) return;
    this.#socket.end(() => this.#socket.destroy());
  }

  #hear(line: Buffer): void {
    const request = readReviewRequest(line);
    if (request === undefined) return this.#refuse("a line is no request");
    if (this.#name === undefined) return this.#greet(request);
    switch (request.type) {
      case "hello":
        return this.#refuse("hello came twice");
      case "shown":
        return this.#options.desk.seen(request.proposalId);
      case "decide":
        return this.#decide(request, this.#name);
    }
    request satisfies never;
  }

  #greet(request: ReviewRequest): void {
    if (request.type !== "hello") return this.#refuse("the first line must be hello");
    if (request.version !== reviewVersion) return this.#refuse(`this endpoint speaks version ${reviewVersion} only`);
    clearTimeout(this.#greeting);
    this.#name = visibleLine(request.name);
    this.#place = request.place;
    const { desk, helper } = this.#options;
    this.#send({ type: "welcome", version: reviewVersion, helper, ...desk.state() });
  }

  #decide(request: Extract<ReviewRequest, { type: "decide" }>, by: string): void {
    if (this.#decisions >= maxDecisions) return this.#refuse("too many decisions wait");
    this.#decisions += 1;
    const { id } = request;
    void this.#options.desk.decide(request, by).then((end) => {
      this.#decisions -= 1;
      this.#send({ type: "decided", id, end });
    });
  }

  #refuse(reason: string): void {
    this.#options.log("review_line_refused", { reason });
    this.#send({ type: "refused", reason });
    this.end();
  }

  /** Whoever reads so slowly that all this waits is let go; it may come again and is shown everything. */
  #send(event: ReviewEvent): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    if (this.#socket.writableLength > 2 * maxReviewBytes) this.#socket.destroy();
    else this.#socket.write(`${JSON.stringify(event)}\n`);
  }
}
