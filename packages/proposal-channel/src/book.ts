// What a Helper process knows of its channels, as plain data: one live channel per session and what is left of ended ones.
import { type Channel, type HelperInstance, channelDigest } from "./channel.ts";
import type { Arming } from "./judge.ts";
import { maxSessionTombstones, maxTombstones, tombstoneMs } from "./limits.ts";

/** What a channel is good for: one session, one life of its agent process, one turn. Nothing in it comes from a model. */
export interface Binding {
  readonly sessionId: string;
  readonly epoch: number;
  readonly turnId: string;
  readonly origin: string;
  /** The place that was active when the turn started, in the executor's words. */
  readonly target: string | undefined;
  /** Which failure an `autofix` turn is about. */
  readonly trigger: number | undefined;
  readonly arming: Arming;
}

export type LiveState =
  | { readonly state: "issued" }
  | { readonly state: "armed"; readonly digest: string; readonly deadline: number }
  | { readonly state: "validating"; readonly proposalId: string }
  | { readonly state: "awaiting_user"; readonly proposalId: string; readonly deadline: number };

export interface LiveChannel {
  readonly channel: Channel;
  readonly binding: Binding;
  readonly retriesUsed: number;
  readonly state: LiveState;
}

export type FinalStatus = "confirmed" | "cancelled" | "superseded" | "session_replaced" | "timed_out" | "unavailable";

export interface Tombstone {
  readonly channelDigest: string;
  readonly sessionId: string;
  /** None while a claim is in progress. */
  readonly status: FinalStatus | undefined;
  readonly time: number;
}

export interface SessionChannel {
  readonly epoch: number;
  readonly runningTurn: string | undefined;
  readonly live: LiveChannel | undefined;
}

export interface Book {
  readonly instance: HelperInstance;
  readonly sessions: ReadonlyMap<string, SessionChannel>;
  /** Oldest first. */
  readonly tombstones: readonly Tombstone[];
}

/** A channel that a transition ended: whoever waits on it is to be told, and its card removed. */
export interface Ended {
  readonly live: LiveChannel;
  readonly status: FinalStatus;
}

export interface Step<Result> {
  readonly book: Book;
  readonly ended: readonly Ended[];
  readonly result: Result;
}

export function emptyBook(instance: HelperInstance): Book {
  return { instance, sessions: new Map(), tombstones: [] };
}

const unknownSession: SessionChannel = { epoch: 0, runningTurn: undefined, live: undefined };

export function sessionOf(book: Book, sessionId: string): SessionChannel {
  return book.sessions.get(sessionId) ?? unknownSession;
}

export function withSession(book: Book, sessionId: string, session: SessionChannel): Book {
  return { ...book, sessions: new Map(book.sessions).set(sessionId, session) };
}

export function withState(book: Book, live: LiveChannel, change: Partial<LiveChannel>): Book {
  const { sessionId } = live.binding;
  return withSession(book, sessionId, { ...sessionOf(book, sessionId), live: { ...live, ...change } });
}

export function liveChannel(book: Book, channel: Channel): LiveChannel | undefined {
  for (const { live } of book.sessions.values()) if (live?.channel === channel) return live;
  return undefined;
}

/** The live channel of a session when it is in this state for this proposal. */
export function liveProposal(
  book: Book,
  { sessionId, proposalId }: ProposalRef,
  state: "validating" | "awaiting_user",
): LiveChannel | undefined {
  const { live } = sessionOf(book, sessionId);
  return live?.state.state === state && live.state.proposalId === proposalId ? live : undefined;
}

export interface ProposalRef {
  readonly sessionId: string;
  readonly proposalId: string;
}

/** Ends a live channel: it is gone, and a tombstone says how. */
export function end(book: Book, live: LiveChannel, status: FinalStatus, now: number): Step<undefined> {
  return { book: bury(book, live, status, now), ended: [{ live, status }], result: undefined };
}

/** Takes a channel out of its session and remembers what became of it, which for a claim is not known yet. */
export function bury(book: Book, live: LiveChannel, status: FinalStatus | undefined, now: number): Book {
  const { sessionId } = live.binding;
  const without = withSession(book, sessionId, { ...sessionOf(book, sessionId), live: undefined });
  return push(without, { channelDigest: channelDigest(live.channel), sessionId, status, time: now }, now);
}

/** Adds a tombstone in the place of an older one of the same channel; the oldest beyond the bounds are forgotten. */
export function push(book: Book, tombstone: Tombstone, now: number): Book {
  const others = prune(book, now).tombstones.filter((each) => each.channelDigest !== tombstone.channelDigest);
  const ofSession = others.filter((each) => each.sessionId === tombstone.sessionId);
  const surplus = ofSession.length - (maxSessionTombstones - 1);
  const dropped = new Set(surplus > 0 ? ofSession.slice(0, surplus) : []);
  const kept = [...others.filter((each) => !dropped.has(each)), tombstone];
  return { ...book, tombstones: kept.slice(-maxTombstones) };
}

export function prune(book: Book, now: number): Book {
  const tombstones = book.tombstones.filter((each) => now - each.time < tombstoneMs);
  return tombstones.length === book.tombstones.length ? book : { ...book, tombstones };
}

export function tombstoneOf(book: Book, channel: Channel): Tombstone | undefined {
  const digest = channelDigest(channel);
  return book.tombstones.find((each) => each.channelDigest === digest);
}
