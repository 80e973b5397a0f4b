// The lines of a byte stream, however it is cut.
import { expect, it } from "vitest";
import { Lines } from "../src/daemon/lines.ts";

const split = (lines: Lines, ...chunks: string[]): string[] =>
  chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))].map((line) => line.toString("utf8")));

it("are the same at every place where the stream is cut, a character's middle included", () => {
  const text = '{"a":"ä🦊"}\n\n{"b":2}\n';
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at++) {
    const lines = new Lines(100);
    const found = [bytes.subarray(0, at), bytes.subarray(at)].flatMap((part) => [...lines.push(part)]);
    expect(found.map((line) => line.toString("utf8"))).toEqual(['{"a":"ä🦊"}', '{"b":2}']);
  }
});

it("may have so many bytes and no more, also before their end has come", () => {
  expect(split(new Lines(4), "abcd\n")).toEqual(["abcd"]);
  expect(() => split(new Lines(4), "abcde\n")).toThrow(/longer than 4 bytes/);
  expect(() => split(new Lines(4), "abc", "de")).toThrow(/longer than 4 bytes/);
  expect(split(new Lines(4), "abc", "d\nab", "cd\n")).toEqual(["abcd", "abcd"]);
});
