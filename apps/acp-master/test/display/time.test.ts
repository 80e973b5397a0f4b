import { describe, expect, test } from "vitest";
import { age, duration, isoTime } from "../../src/display/time.ts";

const now = Date.parse("2026-01-02T00:00:00.000Z");

describe("age", () => {
  test.each([
    [now - 5_000, "5 s ago"],
    ["2026-01-01T23:57:00.000Z", "3 min ago"],
    [now - 3 * 86_400_000, "3 d ago"],
    [now + 90_000, "in 1 min"],
    [null, "-"],
    ["no time", "-"],
  ])("of %s is %s", (at, shown) => expect(age(at, now)).toBe(shown));
});

test("a length of time is never negative", () => expect(duration(-5)).toBe("0 s"));

test("times for programs are ISO 8601, whatever form they came in", () => {
  expect(isoTime(now)).toBe("2026-01-02T00:00:00.000Z");
  expect(isoTime("2026-01-02T01:00:00+01:00")).toBe("2026-01-02T00:00:00.000Z");
  expect([isoTime(undefined), isoTime(Number.NaN), isoTime(1e300)]).toEqual(["-", "-", "-"]);
});
