// The editor's sessions: how each is opened again, and how far in its log the editor has come, to the byte.
import {
  type Envelope,
  parseFrame,
  readString,
  type Span,
  spanBytes,
  spanEquals,
  stringEquals,
} from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import type { SessionPlace } from "./intent.ts";

const most = 1000;
const update = Buffer.from("session/update");

interface Position {
  readonly run: string;
  at: number;
}

interface AttachedSession {
  readonly sessionId: string;
  /** Its id as the daemon writes it. */
  raw: Buffer;
  /** Undefined until the answer that attaches: positions are told before it. */
  place: SessionPlace | undefined;
  position: Position | undefined;
  /** From where it was resumed, until the daemon says where it goes on. */
  resumedFrom: number | undefined;
}

export class AttachedSessions {
  readonly #sessions = new Map<string, AttachedSession>();
  readonly #startsOver: (sessionId: string) => void;
  #last: AttachedSession | undefined;
  /** The next frame takes this session there, whatever it is. */
  #next: { readonly session: AttachedSession; readonly position: Position } | undefined;
  #incomplete = false;

  /** `startsOver` hears of sessions whose log is shown from its beginning again. */
  constructor(startsOver: (sessionId: string) => void) {
    this.#startsOver = startsOver;
  }

  /** Some session could not be remembered, so a next daemon would not know of it. */
  get incomplete(): boolean {
    return this.#incomplete;
  }

  /** `place`: undefined when it is too large to be kept. */
  opened(sessionId: string, place: SessionPlace | undefined): void {
    if (place === undefined || (this.#sessions.size >= most && !this.#sessions.has(sessionId))) {
      this.#incomplete = true;
      return;
    }
    this.#session(sessionId).place = place;
  }

  notOpened(sessionId: string): void {
    if (this.#sessions.get(sessionId)?.place === undefined) this.ended(sessionId);
  }

  ended(sessionId: string): void {
    this.#sessions.delete(sessionId);
    if (this.#last?.sessionId === sessionId) this.#last = undefined;
  }

  /** The daemon said where in a session's log the editor is, or will be with the next frame. */
  told({ bytes, params }: Envelope): void {
    const { sessionId, run, at, next } = asRecord(parseFrame(bytes, params.start, params.end));
    if (typeof sessionId !== "string" || typeof run !== "string" || typeof at !== "number") return;
    if (this.#sessions.size >= most && !this.#sessions.has(sessionId)) return;
    const session = this.#session(sessionId);
    session.position = { run, at };
    if (typeof next === "number") this.#next = { session, position: { run, at: next } };
    if (session.resumedFrom !== undefined && session.resumedFrom !== at) this.#startsOver(sessionId);
    session.resumedFrom = undefined;
  }

  /** A frame of the daemon's was handed to the editor. */
  passed(envelope: Envelope): void {
    if (this.#next !== undefined) {
      this.#next.session.position = this.#next.position;
      this.#next = undefined;
      return;
    }
    const { bytes } = envelope;
    if (envelope.kind !== "notification" || !stringEquals(bytes, envelope.method, update)) return;
    const session = this.#named(bytes, envelope.sessionId);
    if (session?.position !== undefined) session.position.at += envelope.end + 1 - envelope.start;
  }

  /** On a new connection: the params of a `session/resume` for each. */
  resumed(): { readonly sessionId: string; readonly params: object }[] {
    this.#next = undefined;
    for (const { sessionId, place } of Array.from(this.#sessions.values()))
      if (place === undefined) this.ended(sessionId);
    return Array.from(this.#sessions.values(), (session) => {
      const { sessionId, place, position } = session;
      session.resumedFrom = position?.at;
      const after = position && { run: position.run, position: position.at };
      return { sessionId, params: { sessionId, ...place, ...(after && { _meta: { "acp-master": { after } } }) } };
    });
  }

  #session(sessionId: string): AttachedSession {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const session: AttachedSession = {
      sessionId,
      raw: Buffer.from(JSON.stringify(sessionId)),
      place: undefined,
      position: undefined,
      resumedFrom: undefined,
    };
    this.#sessions.set(sessionId, session);
    return session;
  }

  /** Most frames come in long runs of one session, whose id is always spelled the same. */
  #named(bytes: Buffer, span: Span): AttachedSession | undefined {
    if (this.#last !== undefined && spanEquals(bytes, span, this.#last.raw)) return this.#last;
    const session = this.#sessions.get(readString(bytes, span) ?? "");
    if (session === undefined) return undefined;
    session.raw = spanBytes(bytes, span);
    this.#last = session;
    return session;
  }
}
