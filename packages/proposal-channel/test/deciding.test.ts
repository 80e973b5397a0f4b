import { describe, expect, test } from "vitest";
import { arm, beginValidation, payloadDigest, refusal } from "../src/begin.ts";
import { type Book, emptyBook, sessionOf } from "../src/book.ts";
import { acceptProposal, claim, endProposal, finishClaim, loseProposal, refuseProposal } from "../src/deciding.ts";
import { endAll, endTurn, replaceSession, startTurn } from "../src/turns.ts";
import { bytes, channel, instance } from "./channels.ts";

const digest = payloadDigest(bytes("{}"));
const proposal = { sessionId: "s", proposalId: "p", channel: channel() };
const turn = {
  origin: "terminal_agent",
  target: "%1",
  trigger: undefined,
  arming: "required",
  sessionId: "s",
} as const;

function validating(): Book {
  const issued = startTurn(emptyBook(instance), { ...turn, turnId: "t", channel: channel() }, 0).book;
  const armed = arm(issued, { channel: channel(), sessionId: "s", digest, isUp: true }, 0).book;
  return beginValidation(armed, { channel: channel(), digest, isUp: true, proposalId: "p" }, 0).book;
}

function waiting(): Book {
  return acceptProposal(validating(), proposal, 0).book;
}

function replay(book: Book, now = 1): string {
  const { result } = beginValidation(book, { channel: channel(), digest, isUp: true, proposalId: "r" }, now);
  return result.ok ? "accepted" : result.refusal.status;
}

describe("validation", () => {
  test("that accepts waits for the person for ten minutes", () => {
    const { book, result } = acceptProposal(validating(), proposal, 5);
    expect(result).toEqual({ ok: true, deadline: 600_005 });
    expect(sessionOf(book, "s").live?.state).toEqual({ state: "awaiting_user", proposalId: "p", deadline: 600_005 });
  });

  test("of another proposal id changes nothing", () => {
    const book = validating();
    const wrong = { ...proposal, proposalId: "q" };
    expect(acceptProposal(book, wrong, 0)).toMatchObject({ book, result: { ok: false } });
    expect(refuseProposal(book, wrong, refusal("rejected"), 0).book).toBe(book);
    expect(loseProposal(book, wrong, 0).book).toBe(book);
  });

  test("that refuses for good ends the channel as cancelled and keeps its reason", () => {
    const { book, result } = refuseProposal(validating(), proposal, refusal("rejected", false, "because"), 0);
    expect(result).toEqual({ status: "rejected", retryable: false, reason: "because" });
    expect(replay(book)).toBe("already_consumed");
  });

  test("that says nothing, or whose card is not shown, ends unavailable; so does a replay", () => {
    const { book, result } = loseProposal(validating(), proposal, 0);
    expect(result).toMatchObject({ status: "unavailable", retryable: false });
    expect(replay(book)).toBe("unavailable");
    expect(refuseProposal(validating(), proposal, refusal("unavailable", true), 0).result).toMatchObject({
      status: "unavailable",
      retryable: false,
    });
  });

  test("that says nothing after its turn ended is stale", () => {
    expect(loseProposal(endTurn(validating(), "s", "t"), proposal, 0).result.status).toBe("stale");
  });

  test("that ended meanwhile is stale, or unavailable where that was the cause", () => {
    const superseded = startTurn(validating(), { ...turn, turnId: "u", channel: channel(2) }, 0).book;
    expect(acceptProposal(superseded, proposal, 0).result).toMatchObject({ ok: false, refusal: { status: "stale" } });
    const replaced = replaceSession(validating(), "s", 0).book;
    expect(loseProposal(replaced, proposal, 0).result.status).toBe("stale");
    const lost = endAll(validating(), "unavailable", 0).book;
    expect(acceptProposal(lost, proposal, 0).result).toMatchObject({ ok: false, refusal: { status: "unavailable" } });
    expect(refuseProposal(lost, proposal, refusal("rejected"), 0).result.status).toBe("unavailable");
  });
});

describe("the person's answer", () => {
  test("yes is won once; a second yes, a no and a timeout come too late", () => {
    const { book, result } = claim(waiting(), proposal, 1);
    expect(result).toMatchObject({ sessionId: "s", proposalId: "p", channel: channel(), binding: { target: "%1" } });
    expect(sessionOf(book, "s").live).toBeUndefined();
    expect(claim(book, proposal, 1).result).toBeUndefined();
    expect(endProposal(book, proposal, "cancelled", 1).result).toBe(false);
    expect(endProposal(book, proposal, "timed_out", 1)).toMatchObject({ ended: [], result: false });
    expect(startTurn(book, { ...turn, turnId: "u", channel: channel(2) }, 1).ended).toEqual([]);
  });

  test("yes for another proposal or session wins nothing", () => {
    expect(claim(waiting(), { sessionId: "s", proposalId: "q" }, 1).result).toBeUndefined();
    expect(claim(waiting(), { sessionId: "x", proposalId: "p" }, 1).result).toBeUndefined();
    expect(claim(validating(), proposal, 1).result).toBeUndefined();
  });

  test("yes at the deadline is a timeout although its timer has not run", () => {
    expect(claim(waiting(), proposal, 599_999).result).toBeDefined();
    const late = claim(waiting(), proposal, 600_000);
    expect(late.result).toBeUndefined();
    expect(late.ended).toMatchObject([{ status: "timed_out" }]);
  });

  test("a claimed channel is unavailable until the executor has answered, then used; its time counts from then", () => {
    const { book, result } = claim(waiting(), proposal, 1);
    if (result === undefined) throw new Error("expected a claim");
    expect(replay(book)).toBe("unavailable");
    const confirmed = finishClaim(book, result, "confirmed", 100_000);
    expect(replay(confirmed, 279_999)).toBe("already_consumed");
    expect(replay(confirmed, 280_000)).toBe("unknown_channel");
    expect(replay(finishClaim(book, result, "unavailable", 2))).toBe("unavailable");
  });

  test.each([
    ["cancelled", "already_consumed"],
    ["timed_out", "already_consumed"],
    ["unavailable", "unavailable"],
  ] as const)("an end as %s is replayed as %s", (status, replayed) => {
    const { book, ended, result } = endProposal(waiting(), proposal, status, 1);
    expect(result).toBe(true);
    expect(ended).toMatchObject([{ status }]);
    expect(replay(book)).toBe(replayed);
  });
});
