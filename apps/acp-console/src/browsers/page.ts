// One page: a WebSocket, what it shows, and what it waits for. A page that does not read is let go instead of fed from memory.
import type { RawData, WebSocket } from "ws";
import { LinkError } from "../daemon/link-error.ts";
import type { Reply, Request, RequestError, Role, ServerMessage } from "../protocol.ts";
import { Attachment, type AttachmentOptions } from "../sessions/attachment.ts";
import type { Viewers } from "../sessions/viewers.ts";
import { readRequest } from "./read-request.ts";

/** Above this, transcripts wait until the page has read. */
const pausedBytes = 1024 * 1024;
/** What cannot wait, lists and approvals, may pile up to this; then the page is let go. */
const mostBytes = 32 * 1024 * 1024;
const mostRequests = 256;
const mostAttachments = 16;
const mostBadFrames = 20;

export type Perform = (page: Page, request: Request) => Promise<object>;

interface Shown {
  /** The id of the request that asked for it. */
  readonly id: number;
  readonly cancel: AbortController;
  attachment: Attachment | undefined;
}

export class Page {
  readonly role: Role;
  /** It has said something since it was last looked at. */
  isAlive = true;
  readonly #socket: WebSocket;
  readonly #viewers: Viewers;
  readonly #perform: Perform;
  readonly #shown = new Map<string, Shown>();
  /** Prompts that wait for the end of their turn, by the id of their request. */
  readonly #prompts = new Map<number, AbortController>();
  readonly #open = new Set<number>();
  #badFrames = 0;
  /** Bytes of transcripts that are on their way: one frame may be long, and no more is read before it is gone. */
  #fed = 0;

  constructor(socket: WebSocket, role: Role, ports: { readonly viewers: Viewers; readonly perform: Perform }) {
    this.#socket = socket;
    this.role = role;
    this.#viewers = ports.viewers;
    this.#perform = ports.perform;
    socket.on("message", (data, isBinary) => void this.#received(data, isBinary));
    socket.on("pong", () => void (this.isAlive = true));
    socket.on("close", () => this.detachAll());
    // Its close tells what there is to know.
    socket.on("error", () => {});
  }

  send(message: ServerMessage): void {
    this.sendText(JSON.stringify(message));
  }

  /** For what goes to many pages: one text for all. */
  sendText(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // It does not read, so it would not read a goodbye either.
    if (this.#socket.bufferedAmount - this.#fed > mostBytes) return this.#socket.terminate();
    this.#socket.send(text);
  }

  /** Sends, and resolves when the page has read enough for more. */
  #feed(message: ServerMessage): Promise<void> | undefined {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    const frame = Buffer.from(JSON.stringify(message));
    this.#fed += frame.length;
    return new Promise((resolve) => {
      this.#socket.send(frame, { binary: false }, () => {
        this.#fed -= frame.length;
        resolve();
      });
      if (this.#socket.bufferedAmount <= pausedBytes) resolve();
    });
  }

  /** Asks for a sign of life; without one since the last time the page is gone. */
  checkAlive(): void {
    if (!this.isAlive) return this.#socket.terminate();
    this.isAlive = false;
    this.#socket.ping();
  }

  /** Throws a LinkError when this page does not show the session. */
  attachment(sessionId: string): Attachment {
    const attachment = this.#shown.get(sessionId)?.attachment;
    if (attachment !== undefined) return attachment;
    throw new LinkError({ message: "This session is not shown here. Open it first.", reason: "not_attached" });
  }

  async attach(id: number, options: Omit<AttachmentOptions, "onUpdates">): Promise<Attachment> {
    const { sessionId } = options;
    this.detach(sessionId);
    if (this.#shown.size >= mostAttachments) {
      const message = `A page shows at most ${mostAttachments} sessions. Close one of them.`;
      throw new LinkError({ message, reason: "bad_request" });
    }
    const shown: Shown = { id, cancel: new AbortController(), attachment: undefined };
    this.#shown.set(sessionId, shown);
    try {
      const attachment = await Attachment.open(
        {
          ...options,
          onUpdates: (updates) =>
            this.#shown.get(sessionId) === shown
              ? this.#feed({ type: "updates", attachment: id, sessionId, updates })
              : undefined,
        },
        shown.cancel.signal,
      );
      if (this.#shown.get(sessionId) !== shown) {
        attachment.close();
        throw leftMeanwhile();
      }
      shown.attachment = attachment;
      this.#viewers.add(sessionId, this);
      void attachment.closed.then(() => this.#lost(sessionId, shown));
      return attachment;
    } catch (error) {
      if (this.#shown.get(sessionId) !== shown) throw leftMeanwhile();
      this.#shown.delete(sessionId);
      throw error;
    }
  }

  detach(sessionId: string): void {
    const shown = this.#shown.get(sessionId);
    if (shown === undefined) return;
    this.#shown.delete(sessionId);
    shown.cancel.abort();
    if (shown.attachment !== undefined) this.#viewers.remove(this, shown.attachment);
  }

  detachAll(): void {
    for (const sessionId of this.#shown.keys()) this.detach(sessionId);
  }

  /** The signal by which this prompt can be taken back, while `during` lasts. */
  async prompting<Result>(id: number, during: (cancel: AbortSignal) => Promise<Result>): Promise<Result> {
    const cancel = new AbortController();
    this.#prompts.set(id, cancel);
    try {
      return await during(cancel.signal);
    } finally {
      this.#prompts.delete(id);
    }
  }

  cancelPrompt(id: number): void {
    this.#prompts.get(id)?.abort();
  }

  /** Its connection ended from the other side. */
  #lost(sessionId: string, shown: Shown): void {
    if (this.#shown.get(sessionId) !== shown) return;
    this.detach(sessionId);
    const error: RequestError = { message: "The connection to this session ended.", reason: "offline" };
    this.send({ type: "attachment_lost", attachment: shown.id, sessionId, error });
  }

  async #received(data: RawData, isBinary: boolean): Promise<void> {
    this.isAlive = true;
    const read = isBinary ? ({ ok: false, id: undefined } as const) : readRequest(textOf(data));
    if (!read.ok || this.#open.has(read.request.id)) {
      const id = read.ok ? read.request.id : read.id;
      if (++this.#badFrames >= mostBadFrames) return this.#socket.close(1008, "too many bad messages");
      if (id !== undefined) this.#reply(refused(id, { message: "This is no request.", reason: "bad_request" }));
      return;
    }
    const { request } = read;
    const { id } = request;
    if (this.#open.size >= mostRequests) {
      const message = `${mostRequests} requests are open already. Wait for some of them.`;
      return this.#reply(refused(id, { message, reason: "busy" }));
    }
    this.#open.add(id);
    try {
      this.#reply({ type: "reply", id, ok: true, result: await this.#perform(this, request) });
    } catch (error) {
      const shown = error instanceof LinkError ? error.shown : { message: "The console failed on this request." };
      this.#reply(refused(id, shown));
    } finally {
      this.#open.delete(id);
    }
  }

  #reply(reply: Reply): void {
    this.send(reply);
  }
}

const leftMeanwhile = (): LinkError =>
  new LinkError({ message: "This page left the session meanwhile.", reason: "not_attached" });

const refused = (id: number, error: RequestError): Reply => ({ type: "reply", id, ok: false, error });

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.isBuffer(data) ? data.toString("utf8") : Buffer.from(data).toString("utf8");
}
