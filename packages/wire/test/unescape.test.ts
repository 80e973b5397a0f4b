import * as fc from "fast-check";
import { expect, test } from "vitest";
import { unescape } from "../src/unescape.ts";

function meaning(raw: string): Buffer {
  const bytes = Buffer.from(`,${raw},`);
  const into = Buffer.alloc(bytes.length + 2, 0xee);
  const length = unescape(bytes, { start: 1, end: bytes.length - 1 }, into, 2);
  expect([...into.subarray(0, 2), ...into.subarray(2 + length)].every((byte) => byte === 0xee)).toBe(true);
  return into.subarray(2, 2 + length);
}

const escaped = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;

test("any text means its own UTF-8, in either spelling", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const utf8 = Buffer.from(text);
      expect(meaning(JSON.stringify(text)).equals(utf8)).toBe(true);
      expect(meaning(escaped(text)).equals(utf8)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test("short escapes and capital digits are resolved", () => {
  expect(meaning('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u004A\\u00FC"').equals(Buffer.from('"\\/\b\f\n\r\tJü'))).toBe(true);
});

test("a lone surrogate is something of its own", () => {
  const [high, low, mark] = ['"\\ud800"', '"\\udc00"', '"\\ufffd"'].map(meaning);
  expect(high!.equals(low!)).toBe(false);
  expect(high!.equals(mark!)).toBe(false);
});
