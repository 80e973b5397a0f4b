// The way of a proposal from its validation to its end: the decision on it, the person's answer, the claim. A claim is one
// step, so at most one caller ever gets to dispatch.
import {
  type Binding,
  type Book,
  type FinalStatus,
  type LiveChannel,
  type ProposalRef,
  type Step,
  type Tombstone,
  bury,
  end,
  liveProposal,
  push,
  sessionOf,
  tombstoneOf,
  withState,
} from "./book.ts";
import { isCurrent, refusal, useRetry } from "./begin.ts";
import type { Channel } from "./channel.ts";
import { channelDigest } from "./channel.ts";
import { personMs } from "./limits.ts";
import type { Refusal } from "./responses.ts";

export type Accepted =
  { readonly ok: true; readonly deadline: number } | { readonly ok: false; readonly refusal: Refusal };

/** The card is up: the proposal waits for the person, for ten minutes. `channel` is the one it came on. */
export function acceptProposal(
  book: Book,
  proposal: ProposalRef & { readonly channel: Channel },
  now: number,
): Step<Accepted> {
  const live = liveProposal(book, proposal, "validating");
  if (live === undefined)
    return { book, ended: [], result: { ok: false, refusal: endedMeanwhile(book, proposal.channel) } };
  const deadline = now + personMs;
  const { proposalId } = proposal;
  const next = withState(book, live, { state: { state: "awaiting_user", proposalId, deadline } });
  return { book: next, ended: [], result: { ok: true, deadline } };
}

/** The decision is a refusal. The result says what the agent is told, with the retry that is really granted. */
export function refuseProposal(
  book: Book,
  proposal: ProposalRef & { readonly channel: Channel },
  decided: Refusal,
  now: number,
): Step<Refusal> {
  const live = liveProposal(book, proposal, "validating");
  if (live === undefined) return { book, ended: [], result: endedMeanwhile(book, proposal.channel) };
  if (decided.status === "unavailable") return loseProposal(book, proposal, now);
  if (decided.retryable) {
    const step = useRetry(book, live, decided.status, now, decided.reason);
    return { ...step, result: step.result.refusal };
  }
  return { ...end(book, live, "cancelled", now), result: decided };
}

/** No decision, or no card: the channel ends `unavailable`, and says `stale` where the turn has moved on. */
export function loseProposal(
  book: Book,
  proposal: ProposalRef & { readonly channel: Channel },
  now: number,
): Step<Refusal> {
  const live = liveProposal(book, proposal, "validating");
  if (live === undefined) return { book, ended: [], result: endedMeanwhile(book, proposal.channel) };
  const status = isCurrent(book, live.binding) ? "unavailable" : "stale";
  return { ...end(book, live, "unavailable", now), result: refusal(status) };
}

/** A person's no, a timeout or a lost line. Does nothing unless exactly this proposal waits for the person. */
export function endProposal(
  book: Book,
  proposal: ProposalRef,
  status: Extract<FinalStatus, "cancelled" | "timed_out" | "unavailable">,
  now: number,
): Step<boolean> {
  const live = liveProposal(book, proposal, "awaiting_user");
  if (live === undefined) return { book, ended: [], result: false };
  return { ...end(book, live, status, now), result: true };
}

/** What the winner of a claim has in hand. */
export interface Claim extends ProposalRef {
  readonly channel: Channel;
  readonly binding: Binding;
}

/**
 * A person's yes. Only whoever gets a claim may dispatch; for everyone else the card is over. A yes that comes at the
 * deadline or later is a timeout, also when its timer is late.
 */
export function claim(book: Book, proposal: ProposalRef, now: number): Step<Claim | undefined> {
  const live = liveProposal(book, proposal, "awaiting_user");
  if (live === undefined) return { book, ended: [], result: undefined };
  if (live.state.state === "awaiting_user" && now >= live.state.deadline)
    return { ...end(book, live, "timed_out", now), result: undefined };
  const { sessionId, proposalId } = proposal;
  const won = { sessionId, proposalId, channel: live.channel, binding: live.binding };
  return { book: bury(book, live, undefined, now), ended: [], result: won };
}

/** The executor took the claimed proposal, or did not. */
export function finishClaim(
  book: Book,
  { channel, sessionId }: Claim,
  status: Extract<FinalStatus, "confirmed" | "unavailable">,
  now: number,
): Book {
  const tombstone: Tombstone = { channelDigest: channelDigest(channel), sessionId, status, time: now };
  return push(book, tombstone, now);
}

/** The proposal of a session that is being validated or waits for the person. */
export function openProposal(book: Book, sessionId: string): LiveChannel | undefined {
  const { live } = sessionOf(book, sessionId);
  return live?.state.state === "validating" || live?.state.state === "awaiting_user" ? live : undefined;
}

function endedMeanwhile(book: Book, channel: Channel): Refusal {
  return refusal(tombstoneOf(book, channel)?.status === "unavailable" ? "unavailable" : "stale");
}
