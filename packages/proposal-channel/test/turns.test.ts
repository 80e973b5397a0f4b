import { expect, test } from "vitest";
import { arm, beginValidation, payloadDigest } from "../src/begin.ts";
import { type Book, emptyBook, sessionOf } from "../src/book.ts";
import { newInstance } from "../src/channel.ts";
import { acceptProposal } from "../src/deciding.ts";
import { endAll, endSession, endTurn, forgetSession, replaceSession, startTurn } from "../src/turns.ts";
import { bytes, channel, instance } from "./channels.ts";

const digest = payloadDigest(bytes("{}"));
const terms = { origin: "terminal_agent", target: "%1", trigger: undefined, arming: "required" } as const;

function started(book: Book = emptyBook(instance), n = 1, sessionId = "s"): Book {
  return startTurn(book, { ...terms, sessionId, turnId: `t${n}`, channel: channel(n) }, 0).book;
}

function shown(): Book {
  const armed = arm(started(), { channel: channel(), sessionId: "s", digest, isUp: true }, 0).book;
  const begun = beginValidation(armed, { channel: channel(), digest, isUp: true, proposalId: "p" }, 0).book;
  return acceptProposal(begun, { sessionId: "s", proposalId: "p", channel: channel() }, 0).book;
}

function replay(book: Book, n = 1): string {
  const frame = { channel: channel(n), digest, isUp: true, proposalId: "r" };
  const { result } = beginValidation(book, frame, 1);
  return result.ok ? "accepted" : result.refusal.status;
}

test("a turn gets one live channel, bound to its session, epoch, turn, origin and target", () => {
  const { result } = startTurn(emptyBook(instance), { ...terms, sessionId: "s", turnId: "t", channel: channel() }, 0);
  expect(result).toEqual({
    channel: channel(),
    binding: { ...terms, sessionId: "s", turnId: "t", epoch: 0 },
    retriesUsed: 0,
    state: { state: "issued" },
  });
});

test("the next turn supersedes whatever was live, also when it gets no channel itself", () => {
  for (const [book, n] of [
    [started(), 1],
    [shown(), 1],
  ] as const) {
    const next = startTurn(book, { ...terms, sessionId: "s", turnId: "t2", channel: undefined }, 1);
    expect(next.ended).toMatchObject([{ status: "superseded", live: { channel: channel(n) } }]);
    expect(next.result).toBeUndefined();
    expect(replay(next.book)).toBe("superseded");
  }
});

test("a channel of another Helper process cannot be issued", () => {
  const foreign = channel(1, newInstance());
  expect(() => startTurn(emptyBook(instance), { ...terms, sessionId: "s", turnId: "t", channel: foreign }, 0)).toThrow(
    "another Helper process",
  );
});

test("an unused channel is stale after its turn, a card stays", () => {
  expect(replay(endTurn(started(), "s", "t1"))).toBe("stale");
  expect(replay(endTurn(started(), "s", "other"))).toBe("not_armed");
  const book = endTurn(shown(), "s", "t1");
  expect(sessionOf(book, "s").live?.state.state).toBe("awaiting_user");
});

test("a replaced session ends its channel, counts its epoch on and runs no turn", () => {
  const { book, ended } = replaceSession(shown(), "s", 1);
  expect(ended).toMatchObject([{ status: "session_replaced" }]);
  expect(sessionOf(book, "s")).toEqual({ epoch: 1, runningTurn: undefined, live: undefined });
  expect(replay(book)).toBe("stale");
  expect(replaceSession(book, "s", 2).ended).toEqual([]);
});

test("sessions do not end each other's channels", () => {
  const two = started(started(), 2, "other");
  const { book } = endSession(two, "s", "cancelled", 1);
  expect(sessionOf(book, "other").live?.channel).toBe(channel(2));
  expect(replay(book)).toBe("already_consumed");
  expect(endAll(two, "unavailable", 1).ended).toHaveLength(2);
});

test("a session that is over is forgotten but for its tombstone", () => {
  const { book } = forgetSession(shown(), "s", 1);
  expect(book.sessions.size).toBe(0);
  expect(replay(book)).toBe("stale");
});
