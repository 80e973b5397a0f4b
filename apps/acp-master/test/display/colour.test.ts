import { expect, test } from "vitest";
import { painter, wantsColour } from "../../src/display/colour.ts";

test("colour only on a terminal that wants it", () => {
  const terminal = { isTTY: true };
  expect(wantsColour(terminal, {})).toBe(true);
  expect(wantsColour(terminal, { NO_COLOR: "1" })).toBe(false);
  expect(wantsColour(terminal, { TERM: "dumb" })).toBe(false);
  expect(wantsColour({}, {})).toBe(false);
  expect(painter({}, {})("red", "x")).toBe("x");
  expect(painter(terminal, {})("red", "x")).toBe("\u001b[31mx\u001b[39m");
});
