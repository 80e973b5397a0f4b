import * as fc from "fast-check";
import { expect, test } from "vitest";
import { frameOf, parseFrame } from "../src/whole-frame.ts";
import { WireError } from "../src/wire-error.ts";

test("a message goes through a frame unchanged, and a frame is one line", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (message) => {
      const frame = frameOf(message);
      expect(frame.indexOf(0x0a)).toBe(frame.length - 1);
      expect(parseFrame(frame, 0, frame.length - 1)).toEqual(JSON.parse(JSON.stringify(message)));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["no JSON", Buffer.from('{"secret":1')],
  ["two values", Buffer.from('{"secret":1}{}')],
  ["invalid UTF-8", Buffer.from('{"secret":"\xff"}', "latin1")],
  ["a byte order mark", Buffer.from('\ufeff{"secret":1}')],
  ["nothing", Buffer.alloc(0)],
])("a frame with %s is refused with its size and none of its bytes", (_, bytes) => {
  let thrown: unknown;
  try {
    parseFrame(bytes, 0, bytes.length);
  } catch (error) {
    thrown = error;
  }
  if (!(thrown instanceof WireError)) expect.fail("no WireError");
  const text = `${thrown.message} ${JSON.stringify(thrown)} ${String(thrown.cause)}`;
  expect(text).toContain(`${bytes.length} bytes`);
  expect(text).not.toContain("secret");
});

test("only the frame is read, not what lies around it", () => {
  expect(parseFrame(Buffer.from('xx{"a":1}yy'), 2, 9)).toEqual({ a: 1 });
});

test("very deep nesting is refused by its depth, brackets in strings do not count", () => {
  const deep = Buffer.from(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
  expect(() => parseFrame(deep, 0, deep.length)).toThrow(/nested deeper than 500/);
  const text = `\\"${"[{".repeat(1000)}`;
  const flat = Buffer.from(JSON.stringify({ text, list: [[[]]] }));
  expect(parseFrame(flat, 0, flat.length)).toEqual({ text, list: [[[]]] });
});
