import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FrameReceiver } from "../src/frame-splitter.ts";
import { FrameSplitter } from "../src/frame-splitter.ts";
import { RandomSource, runSeed } from "./random-source.ts";

const MIB = 1024 * 1024;

class Collector implements FrameReceiver {
  readonly frames: string[] = [];
  readonly places: { bytes: Buffer; start: number; end: number }[] = [];
  limit: number | undefined;

  frame(bytes: Buffer, start: number, end: number): void {
    expect(this.limit, "a frame after tooLong").toBeUndefined();
    expect(bytes[end], "the byte after a frame").toBe(0x0a);
    this.frames.push(bytes.toString("latin1", start, end));
    this.places.push({ bytes, start, end });
  }

  tooLong(limit: number): void {
    expect(this.limit, "tooLong twice").toBeUndefined();
    this.limit = limit;
  }
}

function split(stream: Buffer, cuts: readonly number[], limit = MIB): Collector {
  const collector = new Collector();
  const splitter = new FrameSplitter(limit, collector);
  let from = 0;
  for (const cut of [...cuts, stream.length]) {
    splitter.push(Buffer.from(stream.subarray(from, cut)));
    from = cut;
  }
  splitter.end();
  return collector;
}

/** The rules, said with strings. */
function expectedFrames(stream: Buffer): string[] {
  return stream
    .toString("latin1")
    .split("\n")
    .map((line) => line.replace(/^\u00ef\u00bb\u00bf/, "").replace(/\r$/, ""))
    .filter((line) => !/^[ \t\r]*$/.test(line));
}

describe("lines", () => {
  const stream = Buffer.from(
    '{"a":1}\n\n\r\n{"b":"中\u2028"}\r\n\ufeff{"c":3}\n \t \n\ufeff\ufeffd\n\ufeff\n\r\r\ne\r\r\nlast',
    "utf8",
  );

  test("a stream gives the same frames wherever it is cut once, also inside a character or a line end", () => {
    const frames = expectedFrames(stream);
    expect(frames).toHaveLength(6);
    for (let cut = 0; cut <= stream.length; cut += 1) expect(split(stream, [cut]).frames).toEqual(frames);
  });

  test("a stream gives the same frames wherever it is cut twice", () => {
    const frames = expectedFrames(stream);
    for (let first = 0; first <= stream.length; first += 1) {
      for (let second = first; second <= stream.length; second += 1) {
        if (split(stream, [first, second]).frames.join("\n") !== frames.join("\n"))
          expect.fail(`cut at ${first} and ${second}`);
      }
    }
  });

  test("a stream gives the same frames byte by byte", () => {
    expect(split(stream, Array.from(stream.keys())).frames).toEqual(expectedFrames(stream));
  });

  test("any bytes in any chunks give the frames that their lines say", () => {
    const piece = fc.oneof(
      fc.constantFrom("\n", "\r\n", "\r", "\u00ef\u00bb\u00bf", "\u00ef\u00bb", " ", "\t", "{}"),
      fc.string({ unit: "binary-ascii", maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(60), { maxLength: 8 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(""), "latin1");
        const sorted = cuts.filter((cut) => cut <= bytes.length).sort((one, other) => one - other);
        expect(split(bytes, sorted).frames).toEqual(expectedFrames(bytes));
      }),
      { numRuns: 20_000 },
    );
  }, 60_000);

  test("frames of one chunk lie side by side in the chunk itself", () => {
    const collector = new Collector();
    const chunk = Buffer.from("one\ntwo\nthree\nfo");
    new FrameSplitter(MIB, collector).push(chunk);
    expect(collector.places.map(({ start, end }) => [start, end])).toEqual([
      [0, 3],
      [4, 7],
      [8, 13],
    ]);
    expect(collector.places.every(({ bytes }) => bytes === chunk)).toBe(true);
  });

  test("a frame and its line feed can be written on as they are: no carriage return is left in front of the line feed", () => {
    const collector = split(Buffer.from("one\r\ntwo\r\nthree\r"), [6]);
    const written = collector.places.map(({ bytes, start, end }) => bytes.toString("latin1", start, end + 1));
    expect(written).toEqual(["one\n", "two\n", "three\n"]);
  });

  test("a last line without a line feed is a frame at the end of input, and only then", () => {
    const collector = new Collector();
    const splitter = new FrameSplitter(MIB, collector);
    splitter.push(Buffer.from("one\ntw"));
    splitter.push(Buffer.from("o"));
    expect(collector.frames).toEqual(["one"]);
    expect(splitter.bufferedBytes).toBe(3);
    splitter.end();
    splitter.end();
    splitter.push(Buffer.from("late\n"));
    expect(collector.frames).toEqual(["one", "two"]);
    expect(splitter.bufferedBytes).toBe(0);
  });
});

describe("the limit", () => {
  test.each([
    ["12345\n", ["12345"], undefined],
    ["12345\r\n", ["12345"], undefined],
    ["\ufeff12345\r\n", ["12345"], undefined],
    ["\ufeff12345", ["12345"], undefined],
    ["123456\n", [], 5],
    ["123456", [], 5],
    ["\ufeff123456\r\n", [], 5],
    ["\ufeff\ufeff12345\n", [], 5],
    ["12345\r\r\n", [], 5],
    ["one\n1234567\ntwo\n", ["one"], 5],
    ["one\ntwo\n12345678901234567890", ["one", "two"], 5],
  ])("%j with a limit of 5 bytes gives the same in any chunks", (text, frames, limit) => {
    const stream = Buffer.from(text);
    for (let first = 0; first <= stream.length; first += 1) {
      for (let second = first; second <= stream.length; second += 1) {
        const collector = split(stream, [first, second], 5);
        expect([collector.frames, collector.limit]).toEqual([frames, limit]);
      }
    }
    const collector = split(stream, Array.from(stream.keys()), 5);
    expect([collector.frames, collector.limit]).toEqual([frames, limit]);
  });

  test("a line is refused as soon as it is too long, not when it ends, and nothing of it is kept", () => {
    const collector = new Collector();
    const splitter = new FrameSplitter(100, collector);
    splitter.push(Buffer.alloc(105, "x"));
    expect(collector.limit).toBe(100);
    expect(splitter.bufferedBytes).toBe(0);
    splitter.push(Buffer.from("\none\n"));
    splitter.end();
    expect(collector.frames).toEqual([]);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("a limit of %d is refused", (limit) => {
    expect(() => new FrameSplitter(limit, new Collector())).toThrow(`The frame limit is ${limit}`);
  });
});

describe("cost", () => {
  test("a long line in tiny chunks costs about as much per byte as a short one", () => {
    const feed = (bytes: number): number => {
      const collector = new Collector();
      const splitter = new FrameSplitter(64 * MIB, collector);
      const chunk = Buffer.from("xy");
      const before = process.cpuUsage();
      for (let sent = 0; sent < bytes; sent += 2) splitter.push(chunk);
      splitter.push(Buffer.from("\n"));
      const spent = process.cpuUsage(before).user / 1000;
      expect(collector.frames[0]).toHaveLength(bytes);
      return spent;
    };
    feed(MIB / 4);
    const short = feed(MIB / 4);
    const long = feed(4 * MIB);
    // 16 times the bytes; a quadratic splitter would need 256 times the time.
    expect(long).toBeLessThan(Math.max(short, 5) * 80);
  }, 60_000);

  test("a 32 MiB line in chunks of every size comes through whole", () => {
    const random = new RandomSource(runSeed);
    const line = Buffer.alloc(32 * MIB, "abcdefghijklmnopqrstuvwxyz0123456789");
    const stream = Buffer.concat([Buffer.from("a\n"), line, Buffer.from("\nb\n")]);
    const collector = new Collector();
    const splitter = new FrameSplitter(32 * MIB, collector);
    for (let from = 0; from < stream.length;) {
      const size = random.oneIn(2) ? 1 + random.below(5000) : 1 + random.below(70_000);
      splitter.push(stream.subarray(from, from + size));
      from += size;
    }
    expect(collector.limit).toBeUndefined();
    expect(collector.frames.map((frame) => frame.length)).toEqual([1, 32 * MIB, 1]);
    const { bytes, start, end } = collector.places[1]!;
    expect(bytes.subarray(start, end).equals(line)).toBe(true);
  }, 60_000);
});
