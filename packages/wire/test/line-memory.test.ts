import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineMemory } from "../src/line-memory.ts";

const KIB = 1024;

/** Puts the stream in, at most as much at once as each size says, and gives what is passed on, with a copy of its first state. */
function passedOn(stream: Buffer, sizes: readonly number[]): { readonly bytes: Buffer; readonly copy: Buffer }[] {
  const memory = new LineMemory();
  const passed: { bytes: Buffer; copy: Buffer }[] = [];
  const pass = (bytes: Buffer): void => void (bytes.length > 0 && passed.push({ bytes, copy: Buffer.from(bytes) }));
  for (let at = 0, index = 0; at < stream.length; index++) {
    const room = memory.room();
    expect(room.length).toBeGreaterThanOrEqual(64 * KIB);
    const count = stream.copy(room, 0, at, at + (sizes[index % sizes.length] ?? 1));
    at += count;
    pass(memory.took(count));
  }
  pass(memory.rest());
  expect(memory.rest()).toHaveLength(0);
  return passed;
}

const line = (length: number, letter = "x"): Buffer => Buffer.concat([Buffer.alloc(length, letter), Buffer.from("\n")]);

describe("memory that a stream is read into", () => {
  test("it passes on all bytes in order, and never writes to what it has passed on", () => {
    const lengths = fc.oneof(fc.nat(200), fc.integer({ min: 30 * KIB, max: 150 * KIB }));
    const sizes = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: KIB, max: 200 * KIB }));
    fc.assert(
      fc.property(
        fc.array(lengths, { maxLength: 12 }),
        fc.array(sizes, { minLength: 1, maxLength: 6 }),
        fc.nat(100),
        (lines, cuts, tail) => {
          const whole = lines.map((length, index) => line(length, String.fromCharCode(0x41 + (index % 26))));
          const stream = Buffer.concat([...whole, Buffer.alloc(tail, "t")]);
          const smallest = stream.length > 100 * KIB ? cuts.map((cut) => Math.max(cut, 512)) : cuts;
          const passed = passedOn(stream, smallest);
          expect(Buffer.concat(passed.map(({ bytes }) => bytes)).equals(stream)).toBe(true);
          for (const { bytes, copy } of passed) expect(bytes.equals(copy)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("what it passes on before the end is whole lines, as long as they are no longer than 96 KiB", () => {
    const lines = Array.from({ length: 40 }, (_, index) => line((index * 7919) % (96 * KIB)));
    for (const size of [1000, 64 * KIB, 192 * KIB]) {
      for (const { bytes } of passedOn(Buffer.concat(lines), [size])) expect(bytes.at(-1)).toBe(0x0a);
    }
  });

  test("a line in pieces comes in one, and the lines of one piece together", () => {
    const memory = new LineMemory();
    const put = (text: string): string => memory.took(memory.room().write(text)).toString();
    expect(put('{"a":')).toBe("");
    expect(put("1")).toBe("");
    expect(put('}\n{"b":2}\n{"c"')).toBe('{"a":1}\n{"b":2}\n');
    expect(put(":3}\n")).toBe('{"c":3}\n');
    expect(put("end")).toBe("");
    expect(memory.rest().toString()).toBe("end");
  });

  test("nothing of what was passed on stays where the next bytes go, whether it was short or long", () => {
    const beginning = '{"next":';
    for (const length of [20, 16 * KIB - 1, 16 * KIB, 60 * KIB]) {
      for (const held of ["", beginning]) {
        const memory = new LineMemory();
        for (let round = 0; round < 3; round++) {
          const lines = `${"secret".repeat(length / 6)}\n`;
          const passed = memory.took(memory.room().write(lines + held)).toString();
          expect(passed).toBe((round > 0 ? held : "") + lines);
          const kept = Buffer.from(memory.room().buffer);
          expect(kept.includes("secret"), `${length} bytes, ${held.length} held`).toBe(false);
          expect(kept.toString("latin1").replaceAll("\0", "")).toBe(held);
        }
      }
    }
  });

  test("large lines that come in pieces lie side by side", () => {
    const memory = new LineMemory();
    const stream = Buffer.concat([line(40 * KIB, "a"), line(40 * KIB, "b"), line(40 * KIB, "c")]);
    const first = memory.took(stream.copy(memory.room(), 0, 0, 60 * KIB));
    const second = memory.took(stream.copy(memory.room(), 0, 60 * KIB, 100 * KIB));
    expect([first.length, second.length]).toEqual([40 * KIB + 1, 40 * KIB + 1]);
    expect(second.buffer).toBe(first.buffer);
    expect(second.byteOffset).toBe(first.byteOffset + first.length);
  });

  test("of a line without an end it holds no more than 96 KiB", () => {
    const memory = new LineMemory();
    let held = 0;
    for (let round = 0; round < 1000; round++) {
      const room = memory.room();
      room.fill("x", 0, 10_000);
      held += 10_000 - memory.took(10_000).length;
      expect(held).toBeLessThanOrEqual(96 * KIB);
    }
  });
});
