// The framing of a Helper's output, on bytes.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { envelopeBytes, maxHeaderBytes, MessageSplitter } from "../../src/helper/message-framing.ts";

function read(chunks: readonly Buffer[], maxFrameBytes = 1000) {
  const bodies: string[] = [];
  const faults: string[] = [];
  const splitter = new MessageSplitter(maxFrameBytes, {
    body: (bytes) => void bodies.push(bytes.toString()),
    fault: (fault) => void faults.push(fault),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { bodies, faults };
}

const message = (body: string, eol = "\r\n") =>
  Buffer.from(`Content-Length: ${Buffer.byteLength(body)}${eol}Content-Type: x${eol}${eol}${body}`);

test("messages come out whole, however their bytes arrive", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(200)), (bodies, cuts) => {
      const all = Buffer.concat(bodies.map((body, n) => message(body, n % 2 === 0 ? "\r\n" : "\n")));
      const at = [0, ...cuts.filter((cut) => cut <= all.length).sort((a, b) => a - b), all.length];
      const chunks = at.slice(1).map((end, n) => all.subarray(at[n], end));
      expect(read(chunks)).toEqual({ bodies, faults: [] });
    }),
    { numRuns: 2000 },
  );
});

describe("out of step", () => {
  test.each([
    ["Content-Length: -1\r\n\r\n", "length_malformed"],
    ["Content-Length: +1\r\n\r\n", "length_malformed"],
    ["Content-Length: 1x\r\n\r\n", "length_malformed"],
    ["Content-Length: \r\n\r\n", "length_malformed"],
    ["Content-Length: 9999999999999999\r\n\r\n", "length_malformed"],
    ["Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "length_conflict"],
    ["Content-Type: x\r\n\r\n", "length_missing"],
    ["\r\n\r\n", "length_missing"],
    ["hello\n", "header_malformed"],
    ["Content-Length: 5\r\n\r\nab", "ended_inside_message"],
    ["Content-Le", "ended_inside_message"],
  ])("%j is %s and nothing is delivered after it", (text, fault) => {
    expect(
      read([message("before"), Buffer.from(text), message("after")].slice(0, fault.startsWith("ended") ? 2 : 3)),
    ).toEqual({
      bodies: ["before"],
      faults: [fault],
    });
  });

  test("equal lengths may be said twice, names in any case", () => {
    expect(read([Buffer.from("content-length: 2\r\nCONTENT-LENGTH:2\r\n\r\nok")]).bodies).toEqual(["ok"]);
  });

  test("the header limit and one byte more", () => {
    const tail = "\r\nContent-Length: 2\r\n\r\n";
    const header = (size: number) => Buffer.from(`X: ${"x".repeat(size - tail.length - 3)}${tail}ok`);
    expect(read([header(maxHeaderBytes)]).bodies).toEqual(["ok"]);
    expect(read([header(maxHeaderBytes + 1)]).faults).toEqual(["header_too_long"]);
  });

  test("the body limit and one byte more", () => {
    const limit = 1000 + envelopeBytes;
    expect(read([message("x".repeat(limit))]).bodies[0]?.length).toBe(limit);
    expect(read([message("x".repeat(limit + 1))])).toEqual({ bodies: [], faults: ["body_too_long"] });
  });
});
