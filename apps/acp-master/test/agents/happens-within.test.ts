// A bounded wait that is fair to events after a stall.
import { expect, it } from "vitest";
import { happensWithin } from "../../src/agents/happens-within.ts";

it("is true when the event comes in time and false when it does not", async () => {
  expect(await happensWithin(Promise.resolve(), 50)).toBe(true);
  expect(await happensWithin(new Promise(() => {}), 20)).toBe(false);
});

it("an event that is already waiting is seen although the process stalled for longer than the wait", async () => {
  const event = new Promise<void>((resolve) => setImmediate(resolve));
  const waiting = happensWithin(event, 20);
  const until = performance.now() + 60;
  while (performance.now() < until) {
    // A stall, as a burst of work makes it.
  }
  expect(await waiting).toBe(true);
});
