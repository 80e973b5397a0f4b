// What a client says of a session right behind the request that attaches it to the session: it waits for that request's
// answer, as it would at an agent that does one thing after the other.

import { type Envelope, readString } from "@acp-master/wire";

const MAX_FRAMES = 256;
/** These end what would have to be waited for. */
const NOT_HELD: ReadonlySet<string> = new Set(["session/close", "session/delete"]);

export class BehindAttach {
  /** By the id that the client uses for the session. */
  readonly #waiting = new Map<string, { readonly requestId: string; readonly frames: Buffer[] }>();

  /** The request with this id (its exact text) asks to be attached. */
  begin(requestId: string, sessionId: string): void {
    if (!this.#waiting.has(sessionId)) this.#waiting.set(sessionId, { requestId, frames: [] });
  }

  /** Keeps a request or notification that must wait. False: it need not, or too many do. */
  keeps(envelope: Envelope): boolean {
    if (this.#waiting.size === 0 || envelope.sessionId.start < 0) return false;
    const waiting = this.#waiting.get(readString(envelope.bytes, envelope.sessionId) ?? "");
    if (!waiting || waiting.frames.length >= MAX_FRAMES) return false;
    if (NOT_HELD.has(readString(envelope.bytes, envelope.method) ?? "")) return false;
    waiting.frames.push(Buffer.from(envelope.bytes.subarray(envelope.start, envelope.end + 1)));
    return true;
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
