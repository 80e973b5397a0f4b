import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stringEquals } from "../src/string-equals.ts";

const character = fc.oneof(
  fc.constantFrom("a", "i", "d", "é", "中", "\u{1F600}", '"', "\\", "/", "\n", "\u0000", "\ufffd"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);

/** One of the spellings that JSON allows for a UTF-16 unit. */
function spelled(unit: string, how: number): string {
  const escape = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  if (how === 0) return escape;
  if (how === 1) return escape.toUpperCase().replace("\\U", "\\u");
  if (unit === "/" && how === 2) return "\\/";
  return /[\ud800-\udfff]/.test(unit) ? escape : JSON.stringify(unit).slice(1, -1);
}

function raw(text: string, how: readonly number[]): Buffer {
  const units = Array.from({ length: text.length }, (_, at) => spelled(text[at]!, how[at % how.length]!));
  return Buffer.from(`"${units.join("")}"`);
}

test("a string equals its text in every spelling, and no other text", () => {
  const how = fc.array(fc.nat(3), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(character, { maxLength: 6 }),
      fc.array(character, { maxLength: 6 }),
      how,
      (one, other, spelling) => {
        const text = one.join("");
        const bytes = raw(text, spelling);
        const span = { start: 0, end: bytes.length };
        expect(JSON.parse(bytes.toString())).toBe(text);
        expect(stringEquals(bytes, span, Buffer.from(text))).toBe(true);
        const otherText = other.join("");
        expect(stringEquals(bytes, span, Buffer.from(otherText))).toBe(text === otherText);
        expect(stringEquals(bytes, span, Buffer.from(`${text}x`))).toBe(false);
        expect(stringEquals(bytes, span, Buffer.from(`x${text}`))).toBe(false);
      },
    ),
    { numRuns: 10_000 },
  );
});

test.each(['"\\ud800"', '"\\udc00"', '"\\ud800\\ud800"', '"\\ud800x"', '"\\ud800\\n"', '"x\\udfff"'])(
  "the lone surrogate in %s equals no text",
  (text) => {
    const bytes = Buffer.from(text);
    expect(stringEquals(bytes, { start: 0, end: bytes.length }, Buffer.from(String(JSON.parse(text))))).toBe(false);
  },
);

test.each(["2", "null", "[]"])("%s is no string and equals nothing", (text) => {
  const bytes = Buffer.from(text);
  expect(stringEquals(bytes, { start: 0, end: bytes.length }, Buffer.from(text.slice(1, -1)))).toBe(false);
  expect(stringEquals(bytes, { start: -1, end: -1 }, Buffer.alloc(0))).toBe(false);
});
