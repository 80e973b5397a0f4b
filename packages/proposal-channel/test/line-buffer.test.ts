import { describe, expect, test } from "vitest";
import { maxFrameBytes } from "../src/limits.ts";
import { LineBuffer } from "../src/line-buffer.ts";

function events(...chunks: Buffer[]): (number | string)[] {
  const buffer = new LineBuffer();
  return chunks
    .flatMap((chunk) => buffer.push(chunk))
    .map((each) => (each.event === "line" ? each.line.length : each.event));
}

const full = Buffer.alloc(maxFrameBytes, 0x78);

test("the limit is 50,176 bytes", () => {
  expect(maxFrameBytes).toBe(50_176);
});

describe.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
])("ended by %s", (_name, end) => {
  test("a line of the limit passes and one byte more does not", () => {
    expect(events(Buffer.concat([full, Buffer.from(end)]))).toEqual([maxFrameBytes]);
    expect(events(Buffer.concat([full, Buffer.from(`x${end}`)]))).toEqual(["too_long"]);
  });

  test("a line of the limit passes however it is cut", () => {
    expect(events(full.subarray(0, 1), full.subarray(1), ...end.split("").map((char) => Buffer.from(char)))).toEqual([
      maxFrameBytes,
    ]);
  });
});

test("so many bytes that no line of the limit can be among them are refused before a line end comes", () => {
  expect(events(Buffer.alloc(maxFrameBytes + 1, 0x78))).toEqual([]);
  expect(events(Buffer.alloc(maxFrameBytes + 2, 0x78))).toEqual(["too_long"]);
  expect(events(Buffer.alloc(maxFrameBytes + 1, 0x78), Buffer.from("x"), Buffer.from("\nmore\n"))).toEqual([
    "too_long",
  ]);
});

test("several lines come out of one chunk, an unfinished one waits, and only one CR is dropped", () => {
  const buffer = new LineBuffer();
  expect(buffer.push(Buffer.from("a\r\n\nb\r\r\nc"))).toEqual([
    { event: "line", line: Buffer.from("a") },
    { event: "line", line: Buffer.from("") },
    { event: "line", line: Buffer.from("b\r") },
  ]);
  expect(buffer.pendingBytes).toBe(1);
  expect(buffer.push(Buffer.from("d\n"))).toEqual([{ event: "line", line: Buffer.from("cd") }]);
});
