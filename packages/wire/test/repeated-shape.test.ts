// Frames in a row of which each may be like the one before it: whatever is taken over from that one must be what a walk finds.
import { describe, expect, test } from "vitest";
import { Envelope } from "../src/envelope.ts";
import { peek } from "../src/peek.ts";
import { FrameMaker } from "./frame-maker.ts";
import { RandomSource, runSeed } from "./random-source.ts";

const ROWS = 15_000;
const TEXTS = ["", "a", "word", "é", "\\n", '\\"', "\\u00e9", "x".repeat(700)];
const ODD_TEXTS = ["}", "\\", '"', "\n", "\\x", '","id":1,"x":"', "session/update", "2.0"];

/** All that the envelope says, with positions from the frame's start on. */
function said({ kind, problem, start, end, spans, optionCount, promptElementCount }: Envelope) {
  const places = spans.map((span) => (span.start === -1 ? undefined : [span.start - start, span.end - start]));
  // Of an invalid frame no more is meant.
  return kind === "invalid" ? { problem } : { kind, length: end - start, places, optionCount, promptElementCount };
}

const update = (random: RandomSource): string => {
  const text = { type: "text", text: random.pick(["a", "some words", "é"]) };
  const update = { sessionUpdate: "agent_message_chunk", content: text, messageId: random.pick(["m1", "m2"]) };
  return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
};

const line = (text: string, n: number): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { n, text } })}\n`;

/** The frame with another text in one of its strings, a byte changed, or as it is. */
function varied(frame: Buffer<ArrayBuffer>, random: RandomSource): Buffer<ArrayBuffer> {
  const way = random.below(10);
  if (way === 0) return frame;
  const changed = Buffer.from(frame);
  if (way === 1) {
    if (changed.length > 0) changed[random.below(changed.length)] = random.below(256);
    return changed;
  }
  const strings = [...frame.toString("latin1").matchAll(/"(?:[^"\\]|\\.)*"/g)];
  if (strings.length === 0) return frame;
  // Mostly the same one of them, as in a stream.
  const string = strings[random.oneIn(6) ? random.below(strings.length) : Math.max(0, strings.length - 3)]!;
  const text = Buffer.from(random.pick(random.oneIn(3) ? ODD_TEXTS : TEXTS));
  const from = string.index + 1;
  return Buffer.concat([frame.subarray(0, from), text, frame.subarray(string.index + string[0].length - 1)]);
}

describe("frames that repeat", () => {
  let repeated = 0;

  test.each([runSeed, runSeed + 1, runSeed + 2, runSeed + 3])("say what a walk of each finds, seed %i", (seed) => {
    const random = new RandomSource(seed);
    const maker = new FrameMaker(random);
    for (let row = 0; row < ROWS; row += 1) {
      const frames = [Buffer.from(random.oneIn(4) ? maker.frame() : update(random))];
      while (frames.length < 8)
        frames.push(varied(random.oneIn(8) ? Buffer.from(maker.frame()) : frames.at(-1)!, random));
      const gaps = frames.map(() => Buffer.alloc(1 + random.below(2), "\n"));
      const bytes = Buffer.concat(frames.flatMap((frame, index) => [frame, gaps[index]!]));
      const envelope = new Envelope();
      let start = 0;
      for (const [index, frame] of frames.entries()) {
        const alone = new Envelope();
        const copy = Buffer.from(frame);
        peek(copy, 0, copy.length, alone);
        peek(bytes, start, start + frame.length, envelope);
        const told = `WIRE_TEST_SEED=${seed}, row ${row}, frame ${index}: ${JSON.stringify(frame.toString("latin1"))}`;
        expect(said(envelope), told).toEqual(said(alone));
        expect([envelope.start, envelope.end], told).toEqual([start, start + frame.length]);
        if (envelope.surprises === 0 && envelope.variesFrom !== -1) repeated += 1;
        start += frame.length + gaps[index]!.length;
      }
    }
  });

  test("are found", () => {
    expect(repeated).toBeGreaterThan(ROWS);
  });

  test("are judged anew where they differ in what makes them a message", () => {
    const lines = ["2.0", "2\\u002e0", "3.0"].map((version) => `{"jsonrpc":"${version}","method":"m","params":{}}`);
    const bytes = Buffer.from(lines.join("\n"));
    const envelope = new Envelope();
    const kinds = lines.map((line) => {
      const start = bytes.indexOf(line);
      peek(bytes, start, start + line.length, envelope);
      return envelope.kind;
    });
    expect(kinds).toEqual(["notification", "notification", "invalid"]);
  });

  test("are none any more when others come in between for long, until the next buffer", () => {
    const envelope = new Envelope();
    const peekAll = (lines: readonly string[]) => {
      const bytes = Buffer.from(lines.join(""));
      let start = 0;
      return lines.map(({ length }) => {
        peek(bytes, start, start + length - 1, envelope);
        start += length;
        return envelope.surprises;
      });
    };
    const unlike = Array.from({ length: 20 }, (_, n) => line("a", n));
    expect(peekAll(unlike).at(-1)).toBe(8);
    expect(peekAll(["a", "b", "c", "d"].map((text) => line(text, 1)))).toEqual([0, 1, 0, 0]);
  });
});
