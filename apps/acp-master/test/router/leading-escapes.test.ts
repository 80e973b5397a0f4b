import { expect, test } from "vitest";
import { afterEscapes } from "../../src/router/leading-escapes.ts";

const ESC = "\x1b";

function rest(line: string): string {
  const bytes = Buffer.from(`..${line}\n`);
  return bytes.toString("utf8", afterEscapes(bytes, 2, bytes.length - 1), bytes.length - 1);
}

test.each([
  ["a title that ends with a bell", `${ESC}]0;title\x07`],
  ["a title that ends with a string terminator", `${ESC}]2;a title${ESC}\\`],
  ["clear line", `${ESC}[2K`],
  ["a colour with several parameters", `${ESC}[1;38;5;200m`],
  ["hide cursor", `${ESC}[?25l`],
  ["a two-character sequence", `${ESC}7`],
  ["a charset choice", `${ESC}(B`],
  ["several in a row", `${ESC}]0;x\x07${ESC}[2K${ESC}[0G`],
])("%s in front is left out", (_, prefix) => {
  expect(rest(`${prefix}{"a":1}`)).toBe('{"a":1}');
  expect(rest(prefix)).toBe("");
});

test.each([
  ["no sequence", '{"a":1}'],
  ["text first", `x${ESC}[2K{}`],
  ["a title without an end", `${ESC}]0;{"a":1}`],
  ["an unfinished sequence", `${ESC}[12`],
  ["an escape alone", ESC],
  ["an endless title", `${ESC}]0;${"x".repeat(5000)}\x07{}`],
])("a line with %s stays whole", (_, line) => {
  expect(rest(line)).toBe(line);
});
