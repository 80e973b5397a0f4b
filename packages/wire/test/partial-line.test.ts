import { expect, test } from "vitest";
import { PartialLine } from "../src/partial-line.ts";
import { RandomSource, runSeed } from "./random-source.ts";

test("pieces of every size are joined in order, with the last one and a line feed", () => {
  const random = new RandomSource(runSeed);
  for (let round = 0; round < 200; round += 1) {
    const line = new PartialLine();
    const pieces: Buffer[] = [];
    for (let count = random.below(30); count > 0; count -= 1) {
      const piece = Buffer.alloc(random.oneIn(3) ? random.below(10_000) : random.below(20), random.below(250) + 1);
      pieces.push(piece);
      line.add(piece);
    }
    const whole = Buffer.concat(pieces);
    expect(line.length).toBe(whole.length);
    for (const offset of [0, 1, 2, whole.length - 1, whole.length, random.below(whole.length + 1)]) {
      if (offset >= 0) expect(line.byteAt(offset)).toBe(whole[offset]);
    }
    expect(line.join(Buffer.from("end")).equals(Buffer.concat([whole, Buffer.from("end\n")]))).toBe(true);
    expect([line.length, line.byteAt(0)]).toEqual([0, undefined]);
  }
});

test("a million pieces of one byte cost a few megabytes, not an object each", () => {
  const line = new PartialLine();
  const piece = Buffer.from("x");
  const before = process.memoryUsage();
  for (let count = 0; count < 1_000_000; count += 1) line.add(piece);
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(40_000_000);
  expect(line.join(Buffer.alloc(0))).toHaveLength(1_000_001);
});
