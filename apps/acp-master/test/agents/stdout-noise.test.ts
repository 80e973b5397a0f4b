// The bounded warning about stray lines.
import { expect, it } from "vitest";
import { StdoutNoise } from "../../src/agents/stdout-noise.ts";

it("warns at the first line, then at most every 10 s with what came meanwhile", () => {
  const noise = new StdoutNoise();
  expect(noise.add(10, 0)).toEqual({ lines: 1, bytes: 10, total: 1 });
  expect(noise.add(20, 1)).toBeUndefined();
  expect(noise.add(30, 9999)).toBeUndefined();
  expect(noise.add(40, 10_000)).toEqual({ lines: 3, bytes: 90, total: 4 });
  expect(noise.add(1, 10_001)).toBeUndefined();
  expect(noise.count).toBe(5);
});
