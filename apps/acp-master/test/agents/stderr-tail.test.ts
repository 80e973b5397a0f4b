// The bounded, cleaned tail of what an agent wrote beside the protocol.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { StderrTail } from "../../src/agents/stderr-tail.ts";

const tailOf = (...chunks: (string | Buffer)[]) => {
  const tail = new StderrTail();
  for (const chunk of chunks) tail.push(Buffer.from(chunk));
  return tail.text();
};

it("keeps the last 64 lines", () => {
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`);
  expect(tailOf(`${lines.join("\n")}\n`).split("\n")).toEqual(lines.slice(-64));
});

it("removes control sequences, controls and invisible or reordering characters", () => {
  const dirty = "\x1b[31mred\x1b[0m\x1b]0;title\x07 a\x00b\x08c\u202Ed\u200Be\x1b(Bf\u009bg\ttab\r\nnext\rover";
  expect(tailOf(dirty)).toBe("red abcdefg\ttab\nnext\nover");
});

it("is the same however the bytes were cut into chunks", () => {
  const text = "one\nzwei ä €\n三\n";
  const bytes = Buffer.from(text);
  expect(tailOf(...Array.from(bytes, (byte) => Buffer.from([byte])))).toBe("one\nzwei ä €\n三");
});

it("marks lines of stdout as such and begins them on a line of their own", () => {
  const tail = new StderrTail();
  tail.push(Buffer.from("half a line"));
  tail.pushNoise(Buffer.from("banner"));
  tail.push(Buffer.from("after\n"));
  expect(tail.text()).toBe("half a line\nstdout: banner\nafter");
});

it("of a long line of stdout only the beginning is kept", () => {
  const tail = new StderrTail();
  tail.push(Buffer.from("important\n"));
  tail.pushNoise(Buffer.alloc(1_000_000, "x"));
  expect(tail.text()).toBe(`important\nstdout: ${"x".repeat(1024)}`);
});

it("a control string without an end takes only its own line with it", () => {
  expect(tailOf("\x1b]0;no end\nError: the reason\n")).toBe("Error: the reason");
});

it("is never longer than 64 lines and 16 KiB, and ends with what came last", () => {
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 40_000, size: "max" }).map((bytes) => Buffer.from(bytes)),
    fc.string({ unit: "grapheme", maxLength: 200 }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
      const text = tailOf(...chunks, "\nend");
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
      expect(text.split("\n").length).toBeLessThanOrEqual(64);
      expect(text.endsWith("end")).toBe(true);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    }),
    { numRuns: 60 },
  );
});
