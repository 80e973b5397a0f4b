import { expect, test } from "vitest";
import { lasting } from "../../src/router/lasting.ts";

test("what lives as long as a session keeps nothing else alive", () => {
  const pooled = Buffer.from('{"modes":{}}');
  const own = lasting(pooled);
  expect(own).toEqual(pooled);
  expect(own.buffer.byteLength).toBe(own.length);
});
