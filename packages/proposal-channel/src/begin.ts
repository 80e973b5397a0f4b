// The way of a channel from an approved command to a validation: arming, the first frame, the retry budget. The order of
// the checks is part of the contract.
// The compiler checks that each switch below is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import { createHash, timingSafeEqual } from "node:crypto";
import {
  type Binding,
  type Book,
  type LiveChannel,
  type Step,
  end,
  liveChannel,
  prune,
  sessionOf,
  tombstoneOf,
  withState,
} from "./book.ts";
import { type Channel, instanceOf } from "./channel.ts";
import { leaseMs, maxRetries } from "./limits.ts";
import type { Refusal, RefusalStatus } from "./responses.ts";

/** SHA-256 of the payload's bytes, whatever the spelling of the command. */
export function payloadDigest(payload: Uint8Array): string {
  return createHash("sha256").update(payload).digest("hex");
}

export interface ArmRequest {
  readonly channel: Channel;
  /** Of the session whose agent asks, not of the channel. */
  readonly sessionId: string;
  readonly digest: string;
  /** Proposal socket and agent are there. */
  readonly isUp: boolean;
}

export type Armed = { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal };

/** A recognised permission arms the channel for 30 s and exactly these bytes. */
export function arm(book: Book, request: ArmRequest, now: number): Step<Armed> {
  const pruned = prune(book, now);
  const found = findLive(pruned, request.channel, request.isUp, "up_first");
  if (!found.ok) return same(pruned, found);
  const { live } = found;
  if (live.binding.sessionId !== request.sessionId || !isCurrent(pruned, live.binding)) {
    return same(pruned, { ok: false, refusal: refusal("stale") });
  }
  const { state } = live;
  const mayArm = state.state === "issued" || (state.state === "armed" && now >= state.deadline);
  if (!mayArm) return same(pruned, { ok: false, refusal: refusal("already_consumed") });
  const armed = { state: "armed", digest: request.digest, deadline: now + leaseMs } as const;
  return same(withState(pruned, live, { state: armed }), { ok: true });
}

export interface FrameRequest {
  readonly channel: Channel;
  readonly digest: string;
  readonly isUp: boolean;
  /** For the proposal, should there be one. */
  readonly proposalId: string;
}

export type Begun =
  | { readonly ok: true; readonly proposalId: string; readonly binding: Binding }
  | { readonly ok: false; readonly refusal: Refusal };

/** A frame arrived on a channel. When all is right the channel is Validating and has its proposal id. */
export function beginValidation(book: Book, request: FrameRequest, now: number): Step<Begun> {
  const entered = enter(prune(book, now), request.channel, request.isUp);
  if (!entered.ok) return same(entered.book, { ok: false, refusal: entered.refusal });
  const { live } = entered;
  const { state, binding } = live;
  const isPreflight = binding.arming === "preflight";
  if (state.state === "armed" && now < state.deadline) {
    if (!isSameDigest(state.digest, request.digest)) return useRetry(entered.book, live, "digest_mismatch", now);
  } else if (state.state === "armed" && !isPreflight) {
    const book = withState(entered.book, live, { state: { state: "issued" } });
    return same(book, { ok: false, refusal: refusal("expired", true) });
  } else if (state.state === "issued" && !isPreflight) {
    return same(entered.book, { ok: false, refusal: refusal("not_armed") });
  } else if (state.state !== "issued" && state.state !== "armed") {
    return same(entered.book, { ok: false, refusal: refusal("already_consumed") });
  }
  const { proposalId } = request;
  const next = withState(entered.book, live, { state: { state: "validating", proposalId } });
  return same(next, { ok: true, proposalId, binding });
}

/** A payload that is too large to be the approved one was sent on a channel. */
export function refuseOversized(
  book: Book,
  request: { readonly channel: Channel; readonly isUp: boolean },
  now: number,
): Step<Extract<Begun, { ok: false }>> {
  const entered = enter(prune(book, now), request.channel, request.isUp);
  if (!entered.ok) return same(entered.book, { ok: false, refusal: entered.refusal });
  const { live } = entered;
  switch (live.state.state) {
    case "validating":
    case "awaiting_user":
      return same(entered.book, { ok: false, refusal: refusal("already_consumed") });
    case "issued":
      return same(entered.book, { ok: false, refusal: refusal("invalid_schema", true, tooLarge) });
    case "armed":
      if (now < live.state.deadline) return useRetry(entered.book, live, "invalid_schema", now, tooLarge);
      return same(withState(entered.book, live, { state: { state: "issued" } }), {
        ok: false,
        refusal: refusal("invalid_schema", true, tooLarge),
      });
  }
}

/** One failed attempt: back to Issued while the budget lasts, else the end. What it reports is what is really granted. */
export function useRetry(
  book: Book,
  live: LiveChannel,
  status: RefusalStatus,
  now: number,
  reason?: string,
): Step<Extract<Begun, { ok: false }>> {
  if (live.retriesUsed >= maxRetries) {
    const ended = end(book, live, "cancelled", now);
    return { ...ended, result: { ok: false, refusal: refusal(status, false, reason) } };
  }
  const next = withState(book, live, { state: { state: "issued" }, retriesUsed: live.retriesUsed + 1 });
  return same(next, { ok: false, refusal: refusal(status, true, reason) });
}

/** Whether the session still is in the life and the turn that a channel was made for. */
export function isCurrent(book: Book, { sessionId, epoch, turnId }: Binding): boolean {
  const session = sessionOf(book, sessionId);
  return session.epoch === epoch && session.runningTurn === turnId;
}

const tooLarge = "the payload is larger than 8192 bytes";

const reasons: Readonly<Record<RefusalStatus, string>> = {
  unknown_channel: "this channel is not known here; only the one of the running turn can be used",
  helper_mismatch: "this channel belongs to another Helper process",
  not_armed: "the command was not approved; run exactly the shown command and let it ask for permission",
  stale: "the turn or session of this channel is over",
  superseded: "a newer turn has its own channel",
  expired: "the approval is older than 30 seconds; run the command again with a new permission",
  digest_mismatch: "these are not the approved bytes; run exactly the command that was approved",
  already_consumed: "this channel is in use or was already used",
  invalid_schema: "the payload does not have the required form",
  rejected: "the proposal is not allowed",
  unavailable: "the proposal cannot be shown at this time",
};

export function refusal(status: RefusalStatus, retryable = false, reason = reasons[status]): Refusal {
  return { status, reason, retryable };
}

type Found = { readonly ok: true; readonly live: LiveChannel } | { readonly ok: false; readonly refusal: Refusal };

function enter(book: Book, channel: Channel, isUp: boolean): Found & { readonly book: Book } {
  const found = findLive(book, channel, isUp, "channel_first");
  if (!found.ok) return { ...found, book };
  if (!isCurrent(book, found.live.binding)) return { ok: false, refusal: refusal("stale"), book };
  return { ...found, book };
}

function findLive(book: Book, channel: Channel, isUp: boolean, order: "channel_first" | "up_first"): Found {
  if (instanceOf(channel) !== book.instance) return { ok: false, refusal: refusal("helper_mismatch") };
  const live = liveChannel(book, channel);
  if (!isUp && (live !== undefined || order === "up_first")) return { ok: false, refusal: refusal("unavailable") };
  return live === undefined ? { ok: false, refusal: replayed(book, channel) } : { ok: true, live };
}

/** What a channel that is not live is told, by how it ended. */
function replayed(book: Book, channel: Channel): Refusal {
  const tombstone = tombstoneOf(book, channel);
  if (tombstone === undefined) return refusal("unknown_channel");
  switch (tombstone.status) {
    case "superseded":
      return refusal("superseded");
    case "session_replaced":
      return refusal("stale");
    case undefined:
    case "unavailable":
      return refusal("unavailable");
    case "confirmed":
    case "cancelled":
    case "timed_out":
      return refusal("already_consumed", false, `this channel was already used; it ended as ${tombstone.status}`);
  }
}

function isSameDigest(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left, "hex"), Buffer.from(right, "hex")];
  return a.length === b.length && timingSafeEqual(a, b);
}

function same<Result>(book: Book, result: Result): Step<Result> {
  return { book, ended: [], result };
}
