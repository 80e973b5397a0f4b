// What a client says of a session right behind the request that attaches it to the session: it waits for that request's
// answer, as it would at an agent that does one thing after the other.

import { type Envelope, readString } from "@acp-master/wire";
import { idText } from "./kept-frame.ts";

const MAX_FRAMES = 256;
/** One frame may always wait, however long it is. */
const MAX_BYTES = 64 * 1024 * 1024;
/** These end what would have to be waited for. */
const ENDINGS: ReadonlySet<string> = new Set(["session/close", "session/delete"]);
/** The master answers these whether the client is attached or not. */
const MASTER = "_acp-master/";

interface Waiting {
  readonly requestId: string;
  readonly frames: Buffer[];
  /** Of the requests among them, the exact text of their ids. */
  readonly ids: Set<string>;
  bytes: number;
}

export class BehindAttach {
  /** By the id that the client uses for the session. */
  readonly #waiting = new Map<string, Waiting>();
  /** Requests that were taken back while they waited. */
  readonly #cancelled = new Set<string>();

  /** The request with this id (its exact text) asks to be attached. */
  begin(requestId: string, sessionId: string): void {
    if (this.#waiting.has(sessionId)) return;
    this.#waiting.set(sessionId, { requestId, frames: [], ids: new Set(), bytes: 0 });
  }

  /** Keeps a request or notification that must wait. False: it need not, or too many do. */
  keeps(envelope: Envelope): boolean {
    if (this.#waiting.size === 0 || envelope.sessionId.start < 0) return false;
    const waiting = this.#waiting.get(readString(envelope.bytes, envelope.sessionId) ?? "");
    const method = readString(envelope.bytes, envelope.method) ?? "";
    if (!waiting || ENDINGS.has(method) || method.startsWith(MASTER)) return false;
    const bytes = waiting.bytes + envelope.end + 1 - envelope.start;
    if (waiting.frames.length >= MAX_FRAMES || (waiting.bytes > 0 && bytes > MAX_BYTES)) return false;
    waiting.frames.push(Buffer.from(envelope.bytes.subarray(envelope.start, envelope.end + 1)));
    waiting.bytes = bytes;
    if (envelope.kind === "request") waiting.ids.add(idText(envelope));
    return true;
  }

  /** The client takes this request back. It is cancelled as soon as it goes on. */
  cancel(requestId: string): void {
    for (const { ids } of this.#waiting.values()) if (ids.has(requestId)) this.#cancelled.add(requestId);
  }

  /** Whether the request, which goes on now, was taken back meanwhile. */
  wasCancelled(requestId: string): boolean {
    return this.#cancelled.delete(requestId);
  }

  /** This request is answered: what waited behind it may go on, in order. */
  answered(requestId: string): Buffer[] {
    if (this.#waiting.size === 0) return [];
    for (const [sessionId, waiting] of this.#waiting) {
      if (waiting.requestId !== requestId) continue;
      this.#waiting.delete(sessionId);
      return waiting.frames;
    }
    return [];
  }
}
