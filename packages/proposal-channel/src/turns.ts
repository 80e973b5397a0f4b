// What the master's news do to a session's channel: a turn starts or ends, the session changes. Each ends what it must.
import { type Channel, instanceOf } from "./channel.ts";
import {
  type Binding,
  type Book,
  type FinalStatus,
  type LiveChannel,
  type Step,
  end,
  prune,
  sessionOf,
  withSession,
} from "./book.ts";

/** A turn of a session and, if it may propose, the fresh channel that it gets. */
export interface StartedTurn extends Omit<Binding, "epoch"> {
  readonly channel: Channel | undefined;
}

/**
 * A turn starts: whatever the session still had is superseded, also when this turn gets no channel. The result is the
 * channel in state Issued.
 */
export function startTurn(book: Book, turn: StartedTurn, now: number): Step<LiveChannel | undefined> {
  const { channel, ...bound } = turn;
  if (channel !== undefined && instanceOf(channel) !== book.instance) {
    throw new TypeError("A channel was made for another Helper process than the one that issues it.");
  }
  const before = endSession(prune(book, now), turn.sessionId, "superseded", now);
  const { epoch } = sessionOf(before.book, turn.sessionId);
  const live: LiveChannel | undefined =
    channel === undefined
      ? undefined
      : { channel, binding: { ...bound, epoch }, retriesUsed: 0, state: { state: "issued" } };
  const next = withSession(before.book, turn.sessionId, { epoch, runningTurn: turn.turnId, live });
  return { book: next, ended: before.ended, result: live };
}

/** A turn ends. A card that is up stays; a channel that was not used is stale from now on. */
export function endTurn(book: Book, sessionId: string, turnId: string): Book {
  const session = sessionOf(book, sessionId);
  return session.runningTurn === turnId ? withSession(book, sessionId, { ...session, runningTurn: undefined }) : book;
}

/** Ends the session's live channel, if there is one. A claimed one is not live any more and goes its own way. */
export function endSession(book: Book, sessionId: string, status: FinalStatus, now: number): Step<undefined> {
  const { live } = sessionOf(book, sessionId);
  return live === undefined ? { book, ended: [], result: undefined } : end(book, live, status, now);
}

/** The session's agent process is another one, or the session is gone: nothing from before counts. */
export function replaceSession(book: Book, sessionId: string, now: number): Step<undefined> {
  const step = endSession(book, sessionId, "session_replaced", now);
  const { epoch } = sessionOf(step.book, sessionId);
  const next = { epoch: epoch + 1, runningTurn: undefined, live: undefined };
  return { ...step, book: withSession(step.book, sessionId, next) };
}

/** Every live channel ends: the socket, the Helper or the agent is gone. */
export function endAll(book: Book, status: FinalStatus, now: number): Step<undefined> {
  let step: Step<undefined> = { book, ended: [], result: undefined };
  for (const sessionId of book.sessions.keys()) {
    const { book: next, ended } = endSession(step.book, sessionId, status, now);
    step = { book: next, ended: [...step.ended, ...ended], result: undefined };
  }
  return step;
}

/** The session will not come back; only its tombstones stay for their time. */
export function forgetSession(book: Book, sessionId: string, now: number): Step<undefined> {
  const step = replaceSession(book, sessionId, now);
  const sessions = new Map(step.book.sessions);
  sessions.delete(sessionId);
  return { ...step, book: { ...step.book, sessions } };
}
