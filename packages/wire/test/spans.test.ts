import * as fc from "fast-check";
import { expect, test } from "vitest";
import { absentSpan, readString, spanBytes, spanEquals } from "../src/spans.ts";

function whole(bytes: Buffer): { start: number; end: number } {
  return { start: 1, end: bytes.length - 1 };
}

test("any string is read as JSON.parse reads it, in either spelling", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.boolean(), (text, escapeAll) => {
      const plain = JSON.stringify(text);
      const raw = escapeAll
        ? `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`
        : plain;
      const bytes = Buffer.from(`,${raw},`);
      expect(readString(bytes, whole(bytes))).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test.each(["1", "null", "true", "[]", '{"a":"b"}'])("%s is no string", (raw) => {
  const bytes = Buffer.from(`,${raw},`);
  expect(readString(bytes, whole(bytes))).toBeUndefined();
});

test("an absent span has no string and no bytes, and equals nothing", () => {
  const bytes = Buffer.from('"a"');
  expect(readString(bytes, absentSpan())).toBeUndefined();
  expect(spanBytes(bytes, absentSpan())).toHaveLength(0);
  expect(spanEquals(bytes, absentSpan(), Buffer.from(""))).toBe(false);
});

test("spans are compared as raw bytes: another spelling is another value", () => {
  const bytes = Buffer.from(',"s\\u0031",');
  expect(spanEquals(bytes, whole(bytes), Buffer.from('"s\\u0031"'))).toBe(true);
  expect(spanEquals(bytes, whole(bytes), Buffer.from('"s1"'))).toBe(false);
  expect(spanEquals(bytes, whole(bytes), Buffer.from('"s\\u0032"'))).toBe(false);
  expect(spanEquals(bytes, whole(bytes), Buffer.from('"s\\u003'))).toBe(false);
});

test("the bytes of a span are a copy", () => {
  const bytes = Buffer.from(",12,");
  const copy = spanBytes(bytes, whole(bytes));
  bytes.fill(0);
  expect(copy.toString()).toBe("12");
});
