import { describe, expect, test } from "vitest";
import {
  type ArmRequest,
  type FrameRequest,
  arm,
  beginValidation,
  payloadDigest,
  refuseOversized,
} from "../src/begin.ts";
import { type Book, type Step, emptyBook, sessionOf } from "../src/book.ts";
import { newInstance } from "../src/channel.ts";
import { acceptProposal, claim, finishClaim, refuseProposal } from "../src/deciding.ts";
import { endAll, endSession, endTurn, replaceSession, startTurn } from "../src/turns.ts";
import { refusal } from "../src/begin.ts";
import { bytes, channel, instance } from "./channels.ts";

const good = payloadDigest(bytes('{"a":1}'));
const other = payloadDigest(bytes('{"a":2}'));
const terms = { origin: "terminal_agent", target: "%1", trigger: undefined } as const;

/** A book with its own small world: steps are taken one after another. */
class World {
  book: Book;
  now = 0;

  constructor(arming: "required" | "preflight" = "required") {
    const turn = { ...terms, arming, sessionId: "s", turnId: "t", channel: channel() };
    this.book = startTurn(emptyBook(instance), turn, 0).book;
  }

  take<Result>(step: Step<Result>): Result {
    this.book = step.book;
    return step.result;
  }

  arm(changes: Partial<ArmRequest> = {}): string {
    const request = { channel: channel(), sessionId: "s", digest: good, isUp: true, ...changes };
    const armed = this.take(arm(this.book, request, this.now));
    return armed.ok ? "armed" : armed.refusal.status;
  }

  frame(changes: Partial<FrameRequest> = {}): [status: string, retryable: boolean] {
    const request = { channel: channel(), digest: good, isUp: true, proposalId: "p", ...changes };
    const begun = this.take(beginValidation(this.book, request, this.now));
    return begun.ok ? ["validating", false] : [begun.refusal.status, begun.refusal.retryable];
  }

  oversized(): [status: string, retryable: boolean] {
    const { refusal } = this.take(refuseOversized(this.book, { channel: channel(), isUp: true }, this.now));
    return [refusal.status, refusal.retryable];
  }

  schemaFailure(): [status: string, retryable: boolean] {
    const proposal = { sessionId: "s", proposalId: "p", channel: channel() };
    const refused = this.take(refuseProposal(this.book, proposal, refusal("invalid_schema", true), this.now));
    return [refused.status, refused.retryable];
  }

  get state(): string {
    return sessionOf(this.book, "s").live?.state.state ?? "none";
  }
}

describe("arming", () => {
  test("makes exactly these bytes good for 30 s, to the millisecond", () => {
    const world = new World();
    expect(world.arm()).toBe("armed");
    world.now = 29_999;
    expect(world.frame()).toEqual(["validating", false]);
    expect(world.state).toBe("validating");

    const late = new World();
    late.arm();
    late.now = 30_000;
    expect(late.frame()).toEqual(["expired", true]);
    expect(late.state).toBe("issued");
    expect(late.arm()).toBe("armed");
    expect(late.frame()).toEqual(["validating", false]);
  });

  test("that has expired costs no retry", () => {
    const world = new World();
    for (let n = 0; n < 10; n += 1) {
      expect(world.arm()).toBe("armed");
      world.now += 30_000;
      expect(world.frame()).toEqual(["expired", true]);
    }
    expect(sessionOf(world.book, "s").live?.retriesUsed).toBe(0);
  });

  test("again is refused while the lease runs and possible once it is over", () => {
    const world = new World();
    world.arm();
    expect(world.arm({ digest: other })).toBe("already_consumed");
    world.now = 30_000;
    expect(world.arm({ digest: other })).toBe("armed");
    expect(world.frame({ digest: other })).toEqual(["validating", false]);
    expect(world.arm()).toBe("already_consumed");
  });

  test("checks in the order of the contract", () => {
    const foreign = channel(1, newInstance());
    expect(new World().arm({ channel: foreign, isUp: false })).toBe("helper_mismatch");
    expect(new World().arm({ channel: channel(9), isUp: false })).toBe("unavailable");
    expect(new World().arm({ channel: channel(9) })).toBe("unknown_channel");
    expect(new World().arm({ sessionId: "other" })).toBe("stale");
    const over = new World();
    over.book = endTurn(over.book, "s", "t");
    expect(over.arm()).toBe("stale");
    const superseded = new World();
    superseded.take(
      startTurn(superseded.book, { ...terms, arming: "required", sessionId: "s", turnId: "u", channel: channel(2) }, 0),
    );
    expect(superseded.arm()).toBe("superseded");
  });

  test("by the agent of another session is refused, also after that session took over the turn (FF-171)", () => {
    const world = new World();
    world.take(
      startTurn(world.book, { ...terms, arming: "required", sessionId: "b", turnId: "t", channel: channel(2) }, 0),
    );
    expect(world.arm({ sessionId: "b" })).toBe("stale");
    expect(world.arm({ channel: channel(2) })).toBe("stale");
    expect(world.arm()).toBe("armed");
  });

  test("is over when the agent process is replaced (FF-171)", () => {
    const world = new World();
    world.arm();
    world.take(replaceSession(world.book, "s", 0));
    expect(world.frame()).toEqual(["stale", false]);
    expect(world.arm()).toBe("stale");
  });
});

describe("a frame", () => {
  test("checks in the order of the contract", () => {
    const foreign = channel(1, newInstance());
    expect(new World().frame({ channel: foreign, isUp: false })).toEqual(["helper_mismatch", false]);
    expect(new World().frame({ channel: channel(9), isUp: false })).toEqual(["unknown_channel", false]);
    expect(new World().frame({ isUp: false })).toEqual(["unavailable", false]);
    const over = new World();
    over.arm();
    over.book = endTurn(over.book, "s", "t");
    expect(over.frame({ isUp: false })).toEqual(["unavailable", false]);
    expect(over.frame({ digest: other })).toEqual(["stale", false]);
    expect(new World().frame()).toEqual(["not_armed", false]);
  });

  test("while one is validated, shown or decided is a duplicate", () => {
    const world = new World();
    world.arm();
    world.frame();
    expect(world.frame({ proposalId: "q" })).toEqual(["already_consumed", false]);
    const proposal = { sessionId: "s", proposalId: "p", channel: channel() };
    world.take(acceptProposal(world.book, proposal, 0));
    expect(world.frame({ digest: other })).toEqual(["already_consumed", false]);
    const won = world.take(claim(world.book, proposal, 0));
    expect(world.frame()).toEqual(["unavailable", false]);
    if (won === undefined) throw new Error("expected a claim");
    world.book = finishClaim(world.book, won, "confirmed", 0);
    const replayed = beginValidation(world.book, { channel: channel(), digest: good, isUp: true, proposalId: "q" }, 0);
    expect(replayed.result).toMatchObject({
      ok: false,
      refusal: { status: "already_consumed", retryable: false, reason: expect.stringContaining("confirmed") },
    });
  });

  test.each([
    ["superseded", "superseded"],
    ["session_replaced", "stale"],
    ["unavailable", "unavailable"],
    ["cancelled", "already_consumed"],
    ["timed_out", "already_consumed"],
    ["confirmed", "already_consumed"],
  ] as const)("on a channel that ended as %s is %s", (ended, status) => {
    const world = new World();
    world.take(endSession(world.book, "s", ended, 0));
    expect(world.frame()).toEqual([status, false]);
    expect(world.arm()).toBe(status);
  });

  test("with other bytes may be corrected twice, and a fourth one finds the channel used (FF-168)", () => {
    const world = new World();
    for (const retryable of [true, true, false]) {
      expect(world.arm()).toBe("armed");
      expect(world.frame({ digest: other })).toEqual(["digest_mismatch", retryable]);
    }
    expect(world.frame()).toEqual(["already_consumed", false]);
    expect(world.arm()).toBe("already_consumed");
    expect(world.state).toBe("none");
  });

  test("needs a new permission after a failed one", () => {
    const world = new World();
    world.arm();
    world.frame({ digest: other });
    expect(world.frame()).toEqual(["not_armed", false]);
  });

  test("shares its budget between digests and schemas", () => {
    const world = new World();
    world.arm();
    expect(world.frame({ digest: other })).toEqual(["digest_mismatch", true]);
    for (const retryable of [true, false]) {
      world.arm();
      expect(world.frame()).toEqual(["validating", false]);
      expect(world.schemaFailure()).toEqual(["invalid_schema", retryable]);
    }
    expect(world.frame()).toEqual(["already_consumed", false]);
  });
});

describe("under preflight", () => {
  test("a frame needs no arming, any bytes will do and each failure costs a retry", () => {
    const world = new World("preflight");
    for (const retryable of [true, true, false]) {
      expect(world.frame({ digest: other })).toEqual(["validating", false]);
      expect(world.schemaFailure()).toEqual(["invalid_schema", retryable]);
    }
    expect(world.frame()).toEqual(["already_consumed", false]);
  });

  test("an arming that exists is honoured until its lease is over", () => {
    const world = new World("preflight");
    world.arm();
    expect(world.frame({ digest: other })).toEqual(["digest_mismatch", true]);
    world.arm();
    world.now = 30_000;
    expect(world.frame({ digest: other })).toEqual(["validating", false]);
  });
});

describe("a payload that is too large", () => {
  test("leaves an issued channel as it is", () => {
    const world = new World();
    for (let n = 0; n < 5; n += 1) expect(world.oversized()).toEqual(["invalid_schema", true]);
    expect(world.arm()).toBe("armed");
    expect(world.frame()).toEqual(["validating", false]);
  });

  test("costs an armed channel a retry and its arming", () => {
    const world = new World();
    for (const retryable of [true, true, false]) {
      world.arm();
      expect(world.oversized()).toEqual(["invalid_schema", retryable]);
    }
    expect(world.oversized()).toEqual(["already_consumed", false]);
  });

  test("finds a lease that is over without a retry", () => {
    const world = new World();
    world.arm();
    world.now = 30_000;
    expect(world.oversized()).toEqual(["invalid_schema", true]);
    expect(sessionOf(world.book, "s").live).toMatchObject({ retriesUsed: 0, state: { state: "issued" } });
  });

  test("is a duplicate while a proposal is open, and gets its own status on a channel that is not live", () => {
    const world = new World();
    world.arm();
    world.frame();
    expect(world.oversized()).toEqual(["already_consumed", false]);
    world.take(acceptProposal(world.book, { sessionId: "s", proposalId: "p", channel: channel() }, 0));
    expect(world.oversized()).toEqual(["already_consumed", false]);
    world.take(endAll(world.book, "superseded", 0));
    expect(world.oversized()).toEqual(["superseded", false]);
  });
});

test("the digest is over the bytes: one changed byte or another spelling of the same value is another one (FF-169)", () => {
  const approved = payloadDigest(bytes('{"a":1,"b":2}'));
  for (const text of ['{"b":2,"a":1}', '{"a":1,"b":3}', '{"a":1,"b":2.0}', '{"a":1,"\\u0062":2}']) {
    expect(payloadDigest(bytes(text))).not.toBe(approved);
  }
  expect(payloadDigest(bytes('{"a":1,"b":2}'))).toBe(approved);
});
