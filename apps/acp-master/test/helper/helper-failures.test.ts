// When a Helper counts as unavailable, and for how long.
import { expect, test } from "vitest";
import { afterFailure, mayRetry, noFailures } from "../../src/helper/helper-failures.ts";

test("one death is forgiven, a second one within a minute is not", () => {
  const once = afterFailure(noFailures, 0, false);
  expect(once.unavailableSince).toBe(undefined);
  expect(afterFailure(once, 59_999, false).unavailableSince).toBe(59_999);
  expect(afterFailure(once, 60_000, false).unavailableSince).toBe(undefined);
});

test("a Helper that can never fit is out at once", () => {
  expect(afterFailure(noFailures, 5, true).unavailableSince).toBe(5);
});

test("the first try is allowed 30 s later", () => {
  const out = afterFailure(noFailures, 1_000, true);
  expect(mayRetry(out, 30_999)).toBe(false);
  expect(mayRetry(out, 31_000)).toBe(true);
  expect(mayRetry(noFailures, 1e9)).toBe(false);
});
