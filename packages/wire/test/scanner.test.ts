import { expect, test } from "vitest";
import { Scanner } from "../src/scanner.ts";

function valueEnd(text: string): number {
  const bytes = Buffer.from(text);
  const scanner = new Scanner();
  scanner.open(bytes, bytes.length);
  return scanner.value(0);
}

test.each([
  "0",
  "-0",
  "12",
  "1.5",
  "-1.25e+10",
  "0e0",
  "1E-2",
  "true",
  "false",
  "null",
  '""',
  '"a"',
  "[]",
  "{}",
  "[ ]",
  "{ }",
  '[1,{"a":[]}]',
])("%s ends where the text ends, whatever follows", (text) => {
  for (const following of ["", ",", "]", "}", " ", "\n"]) expect(valueEnd(text + following)).toBe(text.length);
});

test.each([
  "01",
  "-",
  "-a",
  "1.",
  "1.e1",
  "1e",
  "1e+",
  ".5",
  "+1",
  "tru",
  "nul",
  "fals",
  "fal",
  '"',
  '"\\',
  '"\\u00',
  '"\\x"',
  "[1",
  "[1,",
  "[,",
  "[1,]",
  "{1",
  '{"a"',
  '{"a":',
  '{"a":1,',
  '{"a":1,}',
  "{,}",
  "[}",
  '{"a":1]',
  "",
])("%s is no value", (text) => {
  expect(valueEnd(text)).toBe(-1);
});

function look(text: string): [boolean, boolean] {
  const bytes = Buffer.from(text);
  const scanner = new Scanner();
  scanner.open(bytes, bytes.length);
  scanner.value(0);
  return [scanner.sawEscape, scanner.sawHighBytes];
}

test("it says whether a string held escapes or bytes above ASCII", () => {
  expect(look('["plain ascii text \u007f"]')).toEqual([false, false]);
  expect(look('["plain \\n text"]')).toEqual([true, false]);
  expect(look('["pläin"]')).toEqual([false, true]);
});
