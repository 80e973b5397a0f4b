// When a failed agent may be started again.
import { expect, it } from "vitest";
import { BackOff } from "../../src/agents/back-off.ts";

const failure = { message: "it ended", stderrTail: "bad flag" };
const minute = 60_000;

it("waits grow with each failure in a row and end at 30 s", () => {
  const backOff = new BackOff();
  // Far enough apart that it never opens.
  const waits = [0, 1000, 2000, 5000, 10_000, 30_000, 30_000].map((_, n) => {
    const now = n * 2 * minute;
    backOff.failed(now, failure);
    const attempt = backOff.attempt(now);
    return attempt.state === "ready" ? 0 : attempt.allowedAt - now;
  });
  expect(waits).toEqual([0, 1000, 2000, 5000, 10_000, 30_000, 30_000]);
});

it("is ready at once before any failure, and exactly when the wait is over", () => {
  const backOff = new BackOff();
  expect(backOff.attempt(0)).toEqual({ state: "ready" });
  backOff.failed(0, failure);
  backOff.failed(0, failure);
  expect(backOff.attempt(999)).toMatchObject({ state: "waiting", allowedAt: 1000 });
  expect(backOff.attempt(1000)).toEqual({ state: "ready" });
});

it("five failures within five minutes open it until the first is older than that", () => {
  const backOff = new BackOff();
  for (const now of [0, 10, 20, 30, 40]) backOff.failed(now, failure);
  expect(backOff.attempt(minute)).toMatchObject({ state: "open", allowedAt: 5 * minute });
  expect(backOff.attempt(5 * minute)).toEqual({ state: "ready" });
  backOff.failed(5 * minute, failure);
  expect(backOff.attempt(5 * minute)).toMatchObject({ state: "open", allowedAt: 5 * minute + 10 });
});

it("says why, with the last lines of stderr", () => {
  const backOff = new BackOff();
  for (let n = 0; n < 5; n++) backOff.failed(n, failure);
  expect(backOff.attempt(5)).toMatchObject({ reason: "it ended\nIts last lines on stderr:\nbad flag" });
});

it("a success and a reset by hand forget the failures", () => {
  for (const forget of ["succeeded", "reset"] as const) {
    const backOff = new BackOff();
    for (let n = 0; n < 5; n++) backOff.failed(n, failure);
    backOff[forget]();
    expect(backOff.attempt(5)).toEqual({ state: "ready" });
    backOff.failed(6, failure);
    expect(backOff.attempt(6)).toEqual({ state: "ready" });
  }
});
