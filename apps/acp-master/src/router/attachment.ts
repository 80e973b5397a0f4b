// One client on one session: a cursor on the session's log. It knows what this client must not see.

import { Envelope, FrameSplitter, peek } from "@acp-master/wire";
import { PositionMarks } from "./position-marks.ts";
import type { ClientIdentity } from "./client-connection.ts";
import type { SessionLog } from "./session-log.ts";
import { updateKind } from "./update-kind.ts";

/** How a session's frames differ for its clients. */
export interface AttachedSession {
  readonly sessionId: string;
  readonly log: SessionLog;
  /** Some frame needs a capability that not every client announces. */
  readonly hasOptionalKinds: boolean;
  /** Some frame belongs to a session under this one. */
  readonly hasChildren: boolean;
  /** Of the frames before it, which are of former runs, neither is known. */
  readonly formerUntil: number;
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
  readonly #marks: PositionMarks | undefined;
  /** Ranges of the log that this client wrote itself and must not see again. */
  #own: { from: number; to: number }[] = [];

  constructor(
    session: AttachedSession,
    client: Pick<ClientIdentity, "role" | "positions" | "capabilities">,
    cursor: number,
  ) {
    this.session = session;
    this.role = client.role;
    this.cursor = cursor;
    this.#announced = client.capabilities.updates;
    this.#marks = client.positions ? new PositionMarks(session.sessionId, session.log) : undefined;
  }

  get lag(): number {
    return this.session.log.end - this.cursor;
  }

  /** This client caused the frames in [from, to): the others see them, it does not. */
  skip(from: number, to: number): void {
    // With marks it is told, when they are appended, that it is behind them.
    if (this.cursor === from && this.#marks === undefined) this.cursor = to;
    else this.#own.push({ from, to });
  }

  /** Where the client then is, for a line ahead of the answer that attaches it; undefined: it does not ask for that. */
  beginsAt(position: number): { readonly mark: Buffer; readonly left: () => void } | undefined {
    const marks = this.#marks;
    return marks && { mark: marks.at(position), left: () => marks.left(position) };
  }

  /** A frame that is not taken from the log, as it leaves at `position`. */
  aside(frame: Buffer, position: number): Buffer {
    return this.#marks?.aside(frame, position) ?? frame;
  }

  /** Whether these frames of the log, at `position`, can go out as they are. */
  #isPlain(frames: Buffer, position: number): boolean {
    const { session } = this;
    if (this.#own.length > 0) return false;
    const former = position < session.formerUntil;
    if (this.#marks && (former || session.hasChildren)) return false;
    return !this.#filters(former) && !session.rewritesOutward(frames);
  }

  #filters(former: boolean): boolean {
    return (this.session.hasOptionalKinds || former) && this.#announced.size < 4;
  }

  /** What this client gets of `frames`, which stand at `position` in the log. */
  render(frames: Buffer, position: number): Buffer {
    const marks = this.#marks;
    if (this.#isPlain(frames, position)) {
      const mark = marks?.reach(position);
      marks?.counted(frames.length);
      return mark && mark.length > 0 ? Buffer.concat([mark, frames]) : frames;
    }
    if (this.#ownsAll(position, position + frames.length)) return NOTHING;
    const kept: Buffer[] = [];
    const envelope = new Envelope();
    const former = position < this.session.formerUntil;
    const filters = this.#filters(former);
    const mayBeOfChild = former || this.session.hasChildren;
    const splitter = new FrameSplitter(Number.MAX_SAFE_INTEGER, {
      frame: (bytes, start, end) => {
        if (this.#isOwn(position + start)) return;
        if (filters || mayBeOfChild) peek(bytes, start, end, envelope);
        const ofChild = mayBeOfChild && this.session.isOfChild(envelope);
        if (filters) {
          const needs = updateKind(bytes, envelope.sessionUpdate).needs;
          if (needs !== undefined && !this.#announced.has(needs)) return;
          if (ofChild && !this.#announced.has("subagents")) return;
        }
        const frame = bytes.subarray(start, end + 1);
        const outward = this.session.outward(frame) ?? frame;
        if (marks && !ofChild && outward.length === frame.length) {
          kept.push(marks.reach(position + start));
          marks.counted(frame.length);
        } else if (marks) kept.push(marks.frame(position + start, position + end + 1));
        kept.push(outward);
      },
      tooLong: () => {},
    });
    splitter.push(frames);
    const end = position + frames.length;
    // With something to see it costs no write of its own; else it waits for what comes next, or for `tell`.
    if (marks && kept.length > 0) kept.push(marks.reach(end));
    this.#own = this.#own.filter((range) => range.to > end);
    return Buffer.concat(kept);
  }

  /** The mark that is due when nothing has come behind what this client did not get; empty when it knows where it is. */
  tell(): Buffer {
    return this.gated || this.#marks === undefined ? NOTHING : this.#marks.reach(this.cursor);
  }

  /** Whether these frames are what this client wrote last, and only that. */
  #ownsAll(from: number, to: number): boolean {
    const own = this.#own[0];
    if (own === undefined || this.#own.length > 1 || from < own.from || to > own.to) return false;
    if (to === own.to) this.#own = [];
    return true;
  }

  #isOwn(position: number): boolean {
    return this.#own.some((range) => position >= range.from && position < range.to);
  }
}

const NOTHING = Buffer.alloc(0);
