// Random orders of everything that can happen to proposals of two sessions: at most one dispatch for each proposal, exactly
// one end for each channel, and never two open proposals in a session.
import { expect, test } from "vitest";
import { arm, beginValidation, payloadDigest, refusal, refuseOversized } from "../src/begin.ts";
import { type Book, type Ended, type Step, emptyBook } from "../src/book.ts";
import type { Channel } from "../src/channel.ts";
import {
  type Claim,
  acceptProposal,
  claim,
  endProposal,
  finishClaim,
  loseProposal,
  refuseProposal,
} from "../src/deciding.ts";
import { endAll, endSession, endTurn, forgetSession, replaceSession, startTurn } from "../src/turns.ts";
import { bytes, channel, instance } from "./channels.ts";

const runs = 100_000;
const digests = [payloadDigest(bytes("1")), payloadDigest(bytes("2"))] as const;

/** Small and fast; a failing run is named by its seed. */
function randomSource(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 1 | state) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

interface Seen {
  readonly ref: { readonly sessionId: string; readonly proposalId: string; readonly channel: Channel };
  finals: number;
  refusals: number;
  wins: number;
  shown: boolean;
}

/** One run; gives what happened, for the counts at the end. */
function run(seed: number): { dispatches: number; shown: number; losers: number } {
  const random = randomSource(seed);
  let book: Book = emptyBook(instance);
  let now = 0;
  let channels = 0;
  let proposals = 0;
  const issued: { channel: Channel; sessionId: string; ends: number }[] = [];
  const seen: Seen[] = [];
  const claims: Claim[] = [];
  let losers = 0;
  const pick = <Value>(from: readonly Value[]): Value | undefined => from[Math.max(0, from.length - 1 - random(3))];

  const take = <Result>(step: Step<Result>): Result => {
    book = step.book;
    for (const { live, status } of step.ended satisfies readonly Ended[]) {
      const known = issued.find((each) => each.channel === live.channel);
      if (known === undefined) throw new Error(`seed ${seed}: an unknown channel ended`);
      known.ends += 1;
      if (live.state.state !== "awaiting_user") continue;
      const { proposalId } = live.state;
      const proposal = seen.find((each) => each.ref.proposalId === proposalId);
      if (proposal === undefined || status === "confirmed") throw new Error(`seed ${seed}: wrong end ${status}`);
      proposal.finals += 1;
    }
    return step.result;
  };

  const steps = 12 + random(20);
  for (let n = 0; n < steps; n += 1) {
    now += random(4) === 0 ? random(40_000) : random(50);
    if (random(60) === 0) now += 600_000;
    const sessionId = random(4) === 0 ? "b" : "a";
    const used = pick(issued);
    const proposal = pick(seen);
    switch (random(17)) {
      case 0:
      case 1: {
        channels += 1;
        const arming = random(3) === 0 ? "preflight" : "required";
        const turn = {
          origin: "o",
          target: undefined,
          trigger: undefined,
          arming,
          sessionId,
          turnId: `t${n}`,
        } as const;
        const isIssued = random(6) > 0;
        take(startTurn(book, { ...turn, channel: isIssued ? channel(channels) : undefined }, now));
        if (isIssued) issued.push({ channel: channel(channels), sessionId, ends: 0 });
        break;
      }
      case 2:
      case 3:
      case 4:
        if (used === undefined) break;
        take(arm(book, { channel: used.channel, sessionId: used.sessionId, digest: digests[0], isUp: true }, now));
        break;
      case 5:
      case 6:
      case 7: {
        if (used === undefined) break;
        proposals += 1;
        const proposalId = `p${proposals}`;
        const digest = digests[random(5) === 0 ? 1 : 0];
        const begun = take(
          beginValidation(book, { channel: used.channel, digest, isUp: random(20) > 0, proposalId }, now),
        );
        if (begun.ok) {
          const ref = { sessionId: begun.binding.sessionId, proposalId, channel: used.channel };
          seen.push({ ref, finals: 0, refusals: 0, wins: 0, shown: false });
        }
        break;
      }
      case 8:
      case 9:
      case 10: {
        if (proposal === undefined || proposal.shown || proposal.refusals > 0) break;
        const accepted = take(acceptProposal(book, proposal.ref, now));
        if (accepted.ok) proposal.shown = true;
        else proposal.refusals += 1;
        break;
      }
      case 11: {
        if (proposal === undefined || proposal.shown || proposal.refusals > 0) break;
        proposal.refusals += 1;
        if (random(2) === 0) take(loseProposal(book, proposal.ref, now));
        else take(refuseProposal(book, proposal.ref, refusal("invalid_schema", random(2) === 0), now));
        break;
      }
      case 12:
      case 13: {
        if (proposal === undefined) break;
        const won = take(claim(book, proposal.ref, now));
        if (won === undefined) losers += 1;
        else {
          proposal.wins += 1;
          claims.push(won);
        }
        break;
      }
      case 14: {
        if (proposal === undefined) break;
        const status = (["cancelled", "timed_out", "unavailable"] as const)[random(3)] ?? "cancelled";
        take(endProposal(book, proposal.ref, status, now));
        break;
      }
      case 15: {
        const won = claims.shift();
        if (won === undefined) break;
        book = finishClaim(book, won, random(4) === 0 ? "unavailable" : "confirmed", now);
        const finished = seen.find((each) => each.ref.proposalId === won.proposalId);
        if (finished !== undefined) finished.finals += 1;
        break;
      }
      default:
        switch (random(8)) {
          case 0:
            take(replaceSession(book, sessionId, now));
            break;
          case 1:
            take(forgetSession(book, sessionId, now));
            break;
          case 2:
            take(endAll(book, "unavailable", now));
            break;
          case 3:
            if (used !== undefined) take(refuseOversized(book, { channel: used.channel, isUp: true }, now));
            break;
          case 4:
            take(endSession(book, sessionId, "cancelled", now));
            break;
          default:
            book = endTurn(book, sessionId, `t${random(n + 1)}`);
        }
    }
    check(seed, book);
  }
  take(endAll(book, "unavailable", now));
  for (const won of claims) {
    const finished = seen.find((each) => each.ref.proposalId === won.proposalId);
    if (finished !== undefined) finished.finals += 1;
  }
  const claimed = new Set(seen.filter((each) => each.wins > 0).map((each) => each.ref.channel));
  for (const each of issued) {
    const wanted = claimed.has(each.channel) ? 0 : 1;
    if (each.ends !== wanted) throw new Error(`seed ${seed}: a channel ended ${each.ends} times instead of ${wanted}`);
  }
  for (const each of seen) {
    if (each.wins > 1) throw new Error(`seed ${seed}: a proposal was dispatched ${each.wins} times`);
    if (each.shown && each.finals !== 1) throw new Error(`seed ${seed}: a shown proposal got ${each.finals} finals`);
    if (!each.shown && each.finals + each.wins > 0) throw new Error(`seed ${seed}: a proposal nobody saw got a final`);
  }
  return {
    dispatches: seen.reduce((sum, each) => sum + each.wins, 0),
    shown: seen.filter((each) => each.shown).length,
    losers,
  };
}

function check(seed: number, book: Book): void {
  if (book.tombstones.length > 64) throw new Error(`seed ${seed}: too many tombstones`);
  for (const sessionId of ["a", "b"]) {
    const count = book.tombstones.filter((each) => each.sessionId === sessionId).length;
    if (count > 4) throw new Error(`seed ${seed}: ${count} tombstones of one session`);
  }
  const live = [...book.sessions.values()].flatMap((session) => session.live?.channel ?? []);
  if (new Set(live).size !== live.length) throw new Error(`seed ${seed}: one channel lives twice`);
  for (const { live: each } of book.sessions.values()) {
    if (each !== undefined && each.retriesUsed > 2) throw new Error(`seed ${seed}: ${each.retriesUsed} retries`);
  }
}

test(
  "no order of confirm, timeout, supersede, cancel and loss gives two dispatches, two ends or none",
  { timeout: 180_000 },
  () => {
    const total = { dispatches: 0, shown: 0, losers: 0 };
    for (let seed = 1; seed <= runs; seed += 1) {
      const { dispatches, shown, losers } = run(seed);
      total.dispatches += dispatches;
      total.shown += shown;
      total.losers += losers;
    }
    // Were these rare, the run would prove nothing.
    expect(total.shown).toBeGreaterThan(runs / 10);
    expect(total.dispatches).toBeGreaterThan(runs / 20);
    expect(total.losers).toBeGreaterThan(runs / 10);
  },
);
