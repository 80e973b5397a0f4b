// A hundred thousand random stories about tickets: whatever comes in whatever order, each request ends once, and never in an allow that nobody gave.
import { assert, noBias, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { Tape } from "./tape.ts";
import { World } from "./world.ts";

const stories = 100_000;

describe("interleavings", () => {
  it("every ticket gets one record, one outcome and one answer, and no allow that nobody gave", () => {
    const outcomes = new Map<string, number>();
    assert(
      property(noBias(uint8Array({ minLength: 40, maxLength: 120, size: "max" })), (bytes) => {
        const world = new World(new Tape(bytes));
        world.run();
        for (const outcome of world.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        expect(world.broken).toEqual([]);
      }),
      { numRuns: stories },
    );
    // The stories are worth nothing unless every way to end occurs in them, many times over.
    const ways = [
      "selected by client",
      "selected by helper",
      "refused by client",
      "refused by preset",
      "refused by master",
      "cancelled by cancel",
      "cancelled by helper",
      "cancelled by master",
      "cancelled by agent_exit",
      "expired by expiry",
      "expired by no_client",
      "unavailable by helper",
      "superseded by superseded",
    ];
    expect([...outcomes.keys()].toSorted()).toEqual(ways.toSorted());
    for (const way of ways) expect(outcomes.get(way), way).toBeGreaterThan(stories / 500);
  }, 120_000);
});
