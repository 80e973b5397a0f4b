// Text in rows: nothing is lost, nothing is wider than the row.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, fitted, wrapped } from "../../src/card/wrap.ts";

test("every character is in exactly one row, and no row is too wide", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), fc.integer({ min: 2, max: 200 }), (text, columns) => {
      const rows = wrapped(text, columns);
      expect(rows.join("")).toBe(text);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expect(columnsOf(row)).toBeLessThanOrEqual(columns);
    }),
  );
});

test("a wide character counts as two columns", () => {
  expect(columnsOf("ab漢")).toBe(4);
  expect(wrapped("a漢b", 2)).toEqual(["a", "漢", "b"]);
});

test("a cut is marked and fits", () => {
  expect(fitted("short", 10)).toBe("short");
  expect(fitted("much too long", 10)).toBe("much to...");
});
