// One client on one session: a cursor on the session's log. It knows what this client must not see.

import { Envelope, FrameSplitter, peek } from "@acp-master/wire";
import type { SessionLog } from "./session-log.ts";
import { updateKind } from "./update-kind.ts";

/** How a session's frames differ for its clients. */
export interface AttachedSession {
  readonly log: SessionLog;
  /** Some frame needs a capability that not every client announces. */
  readonly hasOptionalKinds: boolean;
  /** Where what the agent wrote differs from what clients see; undefined: nowhere. */
  outward(frame: Buffer): Buffer | undefined;
  /** Whether it differs in any of these frames. */
  rewritesOutward(frames: Buffer): boolean;
  /** The frame belongs to a session under this one. */
  isOfChild(envelope: Envelope): boolean;
}

export class Attachment {
  readonly session: AttachedSession;
  readonly role: "controller" | "observer";
  /** Everything before it has left, or was not for this client. */
  cursor: number;
  /** Closed until the answer that made it is in the outbox: nothing of the session leaves before. */
  gated = true;
  /** What came meanwhile besides the log, in order. */
  held: { readonly bytes: Buffer; readonly position: number }[] = [];
  readonly #announced: ReadonlySet<string>;
  /** Ranges of the log that this client wrote itself and must not see again. */
  #own: { from: number; to: number }[] = [];

  constructor(
    session: AttachedSession,
    role: "controller" | "observer",
    cursor: number,
    announced: ReadonlySet<string>,
  ) {
    this.session = session;
    this.role = role;
    this.cursor = cursor;
    this.#announced = announced;
  }

  get lag(): number {
    return this.session.log.end - this.cursor;
  }

  /** This client caused the frames in [from, to): the others see them, it does not. */
  skip(from: number, to: number): void {
    if (this.cursor === from) this.cursor = to;
    else this.#own.push({ from, to });
  }

  get #filters(): boolean {
    return this.session.hasOptionalKinds && this.#announced.size < 4;
  }

  /** What this client gets of `frames`, which stand at `position` in the log. */
  render(frames: Buffer, position: number): Buffer {
    if (this.#own.length === 0 && !this.#filters && !this.session.rewritesOutward(frames)) return frames;
    const kept: Buffer[] = [];
    const envelope = new Envelope();
    const filters = this.#filters;
    const splitter = new FrameSplitter(Number.MAX_SAFE_INTEGER, {
      frame: (bytes, start, end) => {
        if (this.#isOwn(position + start)) return;
        if (filters) {
          peek(bytes, start, end, envelope);
          const needs = updateKind(bytes, envelope.sessionUpdate).needs;
          if (needs !== undefined && !this.#announced.has(needs)) return;
          if (!this.#announced.has("subagents") && this.session.isOfChild(envelope)) return;
        }
        const frame = bytes.subarray(start, end + 1);
        kept.push(this.session.outward(frame) ?? frame);
      },
      tooLong: () => {},
    });
    splitter.push(frames);
    this.#own = this.#own.filter((range) => range.to > position + frames.length);
    return Buffer.concat(kept);
  }

  #isOwn(position: number): boolean {
    return this.#own.some((range) => position >= range.from && position < range.to);
  }
}
