import {
  type Arbitrary,
  array,
  assert,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
  string,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeLine, encodeLine, type IndexLine, SNAPSHOT_KINDS } from "../../src/journal/index-lines.ts";
import { IndexState } from "../../src/journal/index-state.ts";

function folded(lines: readonly IndexLine[]): IndexState {
  const state = new IndexState();
  for (const line of lines) state.apply(line);
  return state;
}

const run = (name: string, at: number): IndexLine => ({ type: "run", run: name, at, time: 1 });

const anyLine: Arbitrary<IndexLine> = oneof(
  record({ type: constant("turn" as const), at: nat(10_000) }),
  record({
    type: constant("snapshot" as const),
    kind: constantFrom(...SNAPSHOT_KINDS),
    at: nat(10_000),
    bytes: nat(100),
  }),
  record({ type: constant("base" as const), at: nat(100) }),
  record({
    type: constant("opening" as const),
    approvalId: constantFrom("a", "b", "c"),
    toolCallId: string(),
    options: array(record({ optionId: string(), kind: string() }), { maxLength: 3 }),
    paramsDigest: string(),
    openedAt: nat(),
  }),
  record({
    type: constant("decision" as const),
    approvalId: constantFrom("a", "b", "c"),
    result: string(),
    by: string(),
    settledAt: nat(),
  }),
);

describe("IndexState", () => {
  it("says the same after it was written in its shortest form", () => {
    assert(
      property(array(anyLine, { maxLength: 700 }), (lines) => {
        const state = folded([run("r1", 0), ...lines]);
        const written = state.lines().map((line) => decodeLine(encodeLine(line))!);
        expect(folded(written)).toEqual(state);
        expect(written.length).toBeLessThan(300);
      }),
      { numRuns: 50 },
    );
  });

  it("forgets what was marked behind the place where a later run begins", () => {
    const state = folded([
      run("r1", 0),
      { type: "turn", at: 100 },
      { type: "snapshot", kind: "usage_update", at: 90, bytes: 10 },
      { type: "turn", at: 200 },
      { type: "snapshot", kind: "current_mode_update", at: 150, bytes: 20 },
      run("r2", 150),
    ]);
    expect(state.turns).toEqual([100]);
    expect([...state.snapshots.keys()]).toEqual(["usage_update"]);
  });

  it("knows up to where the positions of a former run still hold", () => {
    const state = folded([run("r1", 0), run("r2", 900), run("r3", 1500), run("r4", 700)]);
    expect(state.holds("r1", 700)).toBe(true);
    expect(state.holds("r1", 701)).toBe(false);
    expect(state.holds("r3", 701)).toBe(false);
    expect(state.holds("r4", 100_000)).toBe(true);
    expect(state.holds("r5", 0)).toBe(false);
  });

  it("tells by the size of the file whether an interrupted move took place", () => {
    const move: IndexLine = { type: "move", from: 1000, to: 1600, bytes: 400 };
    for (const [size, base] of [
      [1000, 1000],
      [400, 1600],
      [0, 1600],
    ]) {
      const state = folded([{ type: "base", at: 1000 }, move]);
      state.settleMove(size!);
      expect(state.base).toBe(base);
    }
    const ended = folded([move, { type: "base", at: 1600 }]);
    ended.settleMove(5000);
    expect(ended.base).toBe(1600);
  });

  it("keeps a bounded number of turn marks, spread over all of the journal", () => {
    const state = new IndexState();
    for (let at = 1; at <= 100_000; at++) state.apply({ type: "turn", at });
    expect(state.turns.length).toBeLessThanOrEqual(256);
    const gaps = state.turns.map((turn, index) => turn - (state.turns[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(2000);
  });

  it("thins out where turns are short, and leaves long ones as they are", () => {
    const lengths = array(oneof(integer({ min: 1, max: 50 }), integer({ min: 1, max: 100_000 })), {
      minLength: 200,
      maxLength: 1500,
    });
    assert(
      property(lengths, (each) => {
        const state = new IndexState();
        const ends: number[] = [];
        for (const length of each) {
          ends.push((ends.at(-1) ?? 0) + length);
          state.apply({ type: "turn", at: ends.at(-1)! });
          expect(state.turns.at(-1)).toBe(ends.at(-1));
        }
        expect(state.turns.length).toBeLessThanOrEqual(256);
        const known = new Set(ends);
        expect(state.turns.every((turn) => known.has(turn))).toBe(true);
        const stretches = state.turns.map((turn, index) => turn - (state.turns[index - 1] ?? 0));
        expect(stretches.every((stretch) => stretch > 0)).toBe(true);
        const fair = ends.at(-1)! / 64;
        expect(Math.max(...stretches)).toBeLessThanOrEqual(Math.max(fair, ...each));
      }),
    );
  });

  it("reads no line that is none of its own", () => {
    for (const text of [
      "",
      "x",
      "null",
      "[]",
      "1",
      "{}",
      '{"type":"turn"}',
      '{"type":"turn","at":-1}',
      '{"type":"turn","at":1.5}',
      '{"type":"base","at":9007199254740993}',
      '{"type":"snapshot","kind":"tool_call","at":1,"bytes":1}',
      '{"type":"opening","approvalId":"a"}',
      '{"type":"surprise","at":1}',
    ]) {
      expect(decodeLine(text)).toBeUndefined();
    }
  });
});
