import { expect, test } from "vitest";
import { payloadDigest, beginValidation } from "../src/begin.ts";
import { type Book, bury, emptyBook, liveChannel, prune, push } from "../src/book.ts";
import { channelDigest } from "../src/channel.ts";
import { startTurn } from "../src/turns.ts";
import { bytes, channel, instance } from "./channels.ts";

const terms = { origin: "terminal_agent", target: undefined, trigger: undefined, arming: "required" } as const;

function turns(count: number, book: Book = emptyBook(instance), sessionId = "s", first = 1): Book {
  let next = book;
  for (let n = first; n < first + count; n += 1) {
    next = startTurn(next, { ...terms, sessionId, turnId: `t${n}`, channel: channel(n) }, n).book;
  }
  return next;
}

function replay(book: Book, n: number, now = 100): string {
  const frame = { channel: channel(n), digest: payloadDigest(bytes("{}")), isUp: true, proposalId: "p" };
  const { result } = beginValidation(book, frame, now);
  return result.ok ? "accepted" : result.refusal.status;
}

test("the fifth ended channel of a session makes it forget the first", () => {
  const four = turns(5);
  expect([1, 2, 3, 4].map((n) => replay(four, n))).toEqual(Array(4).fill("superseded"));
  const five = turns(1, four, "s", 6);
  expect(replay(five, 1)).toBe("unknown_channel");
  expect(replay(five, 2)).toBe("superseded");
});

test("tombstones live 180 s, to the millisecond", () => {
  const book = turns(2); // the first ended at 2
  expect(replay(book, 1, 2 + 179_999)).toBe("superseded");
  expect(replay(book, 1, 2 + 180_000)).toBe("unknown_channel");
  expect(prune(book, 2 + 180_000).tombstones).toEqual([]);
});

test("a Helper process remembers 64 ended channels of all sessions, the newest", () => {
  let book = emptyBook(instance);
  for (let n = 1; n <= 70; n += 1) book = turns(2, book, `s${n}`, n * 10);
  expect(book.tombstones).toHaveLength(64);
  expect(replay(book, 60, 800)).toBe("unknown_channel");
  expect(replay(book, 70, 800)).toBe("superseded");
  expect(replay(book, 700, 800)).toBe("superseded");
});

test("a tombstone holds a digest, a status and a time, and replaces an older one of its channel", () => {
  const live = liveChannel(turns(1), channel(1));
  if (live === undefined) throw new Error("expected a live channel");
  const claimed = bury(turns(1), live, undefined, 5);
  expect(claimed.tombstones).toEqual([
    { channelDigest: channelDigest(channel(1)), sessionId: "s", status: undefined, time: 5 },
  ]);
  expect(JSON.stringify(claimed.tombstones)).not.toContain(channel(1));
  const [tombstone] = claimed.tombstones;
  if (tombstone === undefined) throw new Error("expected a tombstone");
  const finished = push(claimed, { ...tombstone, status: "confirmed", time: 9 }, 9);
  expect(finished.tombstones).toEqual([{ ...tombstone, status: "confirmed", time: 9 }]);
});
