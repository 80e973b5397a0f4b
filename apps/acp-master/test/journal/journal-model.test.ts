// The journal against the simplest thing that could be one: all frames in a list.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  record,
} from "fast-check";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { JournalWriter } from "../../src/journal/journal-writer.ts";
import { frame, StateFolder } from "./state-folder.ts";

type Step =
  | { readonly do: "append"; readonly lengths: readonly number[] }
  | { readonly do: "turn" | "trim" | "loop" | "reopen" | "wait" }
  | { readonly do: "read"; readonly at: number; readonly maxBytes: number }
  | { readonly do: "attach"; readonly at: number }
  | { readonly do: "snapshot"; readonly length: number };

const step: Arbitrary<Step> = oneof(
  {
    weight: 8,
    arbitrary: record({
      do: constant("append" as const),
      lengths: array(oneof(nat(500), nat(6000)), { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 4, arbitrary: record({ do: constantFrom("turn" as const, "trim" as const, "loop" as const) }) },
  { weight: 1, arbitrary: record({ do: constantFrom("reopen" as const, "wait" as const) }) },
  {
    weight: 5,
    arbitrary: record({
      do: constant("read" as const),
      at: nat(),
      maxBytes: oneof(integer({ min: 1, max: 300 }), integer({ min: 1, max: 50_000 })),
    }),
  },
  { weight: 2, arbitrary: record({ do: constant("attach" as const), at: nat() }) },
  { weight: 2, arbitrary: record({ do: constant("snapshot" as const), length: nat(400) }) },
);

class Model {
  bytes = Buffer.alloc(0);
  /** Every frame boundary. */
  readonly boundaries = [0];
  readonly turns = [0];
  snapshot: { position: number; frame: Buffer } | undefined;

  append(frames: Buffer): void {
    this.bytes = Buffer.concat([this.bytes, frames]);
    this.boundaries.push(this.bytes.length);
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  using state = new StateFolder();
  const settings = { maxBytes: 40_000, pendingBytes: 20_000, idleMs: 1 };
  const reports: string[] = [];
  const started = () => new JournalWriter({ report: (what) => reports.push(what), settings });
  let writer = started();
  let journal: Journal = writer.open(state.session());
  const model = new Model();
  let cursor: number | undefined;
  let number = 0;
  try {
    for (const each of steps) {
      switch (each.do) {
        case "append": {
          const frames = each.lengths.map((length) => frame(number++, length));
          expect(journal.append(Buffer.concat(frames))).toBe(model.bytes.length + Buffer.concat(frames).length);
          for (const one of frames) model.append(one);
          break;
        }
        case "snapshot": {
          const one = frame(number++, each.length);
          model.snapshot = { position: journal.end, frame: one };
          journal.noteSnapshot("usage_update", journal.end, one.length);
          journal.append(one);
          model.append(one);
          break;
        }
        case "turn":
          journal.turnBoundary();
          model.turns.push(journal.end);
          break;
        case "trim": {
          const before = journal.start;
          journal.trim(cursor ?? journal.end);
          const { start, end } = journal;
          expect(start).toBeGreaterThanOrEqual(before);
          expect(start).toBeLessThanOrEqual(cursor ?? end);
          expect(model.boundaries).toContain(start);
          if (start !== before && end - start < 3 * settings.maxBytes) expect(model.turns).toContain(start);
          break;
        }
        case "loop":
          await turnOfTheLoop();
          break;
        case "wait":
          await new Promise((resolve) => setTimeout(resolve, 3));
          break;
        case "reopen":
          await writer[Symbol.asyncDispose]();
          writer = started();
          journal = writer.open(state.session());
          if (number % 2 === 0) await journal.prepare();
          break;
        case "attach":
          cursor = model.boundaries[each.at % model.boundaries.length]!;
          if (cursor < journal.start) cursor = undefined;
          break;
        case "read": {
          const within = model.boundaries.filter((at) => at >= journal.start);
          const from = within[each.at % within.length]!;
          const frames = Buffer.concat(journal.read(from, journal.end, each.maxBytes));
          expect(frames.equals(model.bytes.subarray(from, from + frames.length))).toBe(true);
          expect(model.boundaries).toContain(from + frames.length);
          if (from < journal.end) expect(frames.length).toBeGreaterThan(0);
          break;
        }
      }
      expect(journal.end).toBe(model.bytes.length);
      const { snapshot } = model;
      if (snapshot) {
        const kept = snapshot.position >= journal.start ? snapshot.frame : undefined;
        expect(journal.snapshot("usage_update")).toEqual(kept);
      }
    }
    const { start } = journal;
    const whole = Buffer.concat(journal.read(start, journal.end, Number.MAX_SAFE_INTEGER));
    expect(whole.equals(model.bytes.subarray(start))).toBe(true);
    await writer[Symbol.asyncDispose]();
    // What is on disk is the end of all that was ever seen, and nothing else.
    if (model.bytes.length > 0) {
      const file = readFileSync(join(state.session().path, "journal.ndjson"));
      expect(file.equals(model.bytes.subarray(model.bytes.length - file.length))).toBe(true);
    }
    expect(reports).toEqual([]);
  } finally {
    await writer[Symbol.asyncDispose]();
  }
}

describe("Journal", () => {
  it("gives equal bytes at every cursor through appends, trims and restarts in any order", async () => {
    await assert(asyncProperty(array(step, { minLength: 5, maxLength: 120 }), play), { numRuns: 200 });
  }, 60_000);
});
