import { expect, test } from "vitest";
import { KeySet } from "../src/key-set.ts";
import { RandomSource, runSeed } from "./random-source.ts";

test("a key is new exactly once, among few keys and among many", () => {
  const random = new RandomSource(runSeed);
  const keys = new KeySet();
  for (let round = 0; round < 300; round += 1) {
    keys.clear();
    const bytes = Buffer.alloc(4000);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = 0x61 + random.below(3);
    const seen = new Set<string>();
    for (let count = random.below(round); count >= 0; count -= 1) {
      const start = random.below(3900);
      const end = start + random.below(8);
      const key = bytes.toString("latin1", start, end);
      expect(keys.add(bytes, start, end)).toBe(!seen.has(key));
      seen.add(key);
    }
  }
});

test("three hundred thousand different keys and their repetition take time in proportion", () => {
  const keys = new KeySet();
  const text = Array.from({ length: 300_000 }, (_, index) => index.toString(36).padStart(5, "0")).join("");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 5) {
    if (!keys.add(bytes, at, at + 5)) expect.fail(`the key at ${at} counts as seen`);
  }
  for (let at = 0; at < bytes.length; at += 5000) expect(keys.add(bytes, at, at + 5)).toBe(false);
});
