import { expect, test } from "vitest";
import { within } from "../src/within.ts";
import { FakeClock } from "./fake-clock.ts";

test("work that ends in time gives its result and leaves no timer", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  expect(await within(clock, 10, stop, () => Promise.resolve(5))).toBe(5);
  expect(stop.signal.aborted).toBe(false);
  expect(clock.pendingTimers).toBe(0);
});

function throwing(): never {
  throw new Error("no");
}

test("work that throws, at once or later, gives nothing", async () => {
  const clock = new FakeClock();
  expect(await within(clock, 10, new AbortController(), throwing)).toBeUndefined();
  expect(await within(clock, 10, new AbortController(), () => Promise.reject(new Error("no")))).toBeUndefined();
  expect(clock.pendingTimers).toBe(0);
});

test("work whose time is over is stopped, and its late result is nothing", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const finish: ((value: number) => void)[] = [];
  const waiting = within(clock, 10, stop, async () => await new Promise<number>((resolve) => finish.push(resolve)));
  clock.pass(10);
  finish[0]?.(5);
  expect(await waiting).toBeUndefined();
  expect(stop.signal.aborted).toBe(true);
});

test("work is not begun once it is stopped", async () => {
  const stop = new AbortController();
  stop.abort();
  const clock = new FakeClock();
  expect(await within(clock, 10, stop, () => expect.unreachable())).toBeUndefined();
  expect(clock.pendingTimers).toBe(0);
});
