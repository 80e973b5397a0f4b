import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hasOneReading } from "../src/one-reading.ts";

function judged(text: string): boolean {
  const bytes = Buffer.from(`${text}\n`);
  return hasOneReading(bytes, { start: 0, end: bytes.length - 1 });
}

test.each([
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  '{"\\u0061":1,"\\u0061":2}',
  '{"x":{"y":[1,{"path":"/in"},{"path":"/in","kind":"read","path":"/out"}]}}',
  '[[[{"é":1,"\\u00e9":1}]]]',
  '{"a" : 1 ,\t"b":{}, "a"  :2}',
  '{"":1,"":2}',
])("%s has two readings", (text) => {
  expect(judged(text)).toBe(false);
});

test.each([
  '{"a":{"a":{"a":[{"a":1},{"a":2}]}}}',
  '{"a":"a","b":"a","c":["a","a"]}',
  '{"a":"\\"b\\":","b":"{\\"a\\":1}"}',
  '{"a":1,"A":2,"\\u0062":3}',
  '"a"',
  "[]",
  "17",
])("%s has one reading", (text) => {
  expect(judged(text)).toBe(true);
});

test("any value that a serialiser wrote has one reading, and two once a key is doubled at any depth", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { minKeys: 1 }),
      (around, object) => {
        const text = JSON.stringify(object);
        const [key] = Object.keys(object);
        const doubled = `${text.slice(0, -1)},${JSON.stringify(key)}:0}`;
        expect(judged(`[${JSON.stringify(around)},{"k":${text}}]`)).toBe(true);
        expect(judged(`[${JSON.stringify(around)},{"k":${doubled}}]`)).toBe(false);
      },
    ),
    { numRuns: 1000 },
  );
});

test("what is nested too deep is not vouched for, and ends nothing", () => {
  expect(judged(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).toBe(false);
  expect(judged(`${"[".repeat(500)}${"]".repeat(500)}`)).toBe(true);
});

test("a value that is absent has no second reading", () => {
  expect(hasOneReading(Buffer.from("{}\n"), { start: -1, end: -1 })).toBe(true);
});
