import { describe, expect, it } from "vitest";
import { trimPosition } from "../../src/journal/trim-position.ts";

const journal = { start: 0, end: 1000, turns: [100, 300, 550, 800, 1000], maxBytes: 600, keepFrom: 1000 };

describe("trimPosition", () => {
  it("forgets the fewest whole turns that bring the journal to its bound", () => {
    expect(trimPosition(journal)).toEqual({ whole: 550 });
    expect(trimPosition({ ...journal, maxBytes: 700 })).toEqual({ whole: 300 });
    expect(trimPosition({ ...journal, maxBytes: 701 })).toEqual({ whole: 300 });
    expect(trimPosition({ ...journal, maxBytes: 699 })).toEqual({ whole: 550 });
  });

  it("forgets nothing that somebody has still to read", () => {
    expect(trimPosition({ ...journal, keepFrom: 549 })).toEqual({ whole: 300 });
    expect(trimPosition({ ...journal, keepFrom: 99 })).toEqual({ whole: 0 });
  });

  it("keeps the last turn, however long it was", () => {
    expect(trimPosition({ ...journal, turns: [10, 1000] })).toEqual({ whole: 10 });
    expect(trimPosition({ ...journal, turns: [1000] })).toEqual({ whole: 0 });
  });

  it("cuts into a turn only when the journal is far over its bound", () => {
    expect(trimPosition({ ...journal, turns: [], maxBytes: 250 })).toEqual({ whole: 0 });
    expect(trimPosition({ ...journal, turns: [], maxBytes: 249 })).toEqual({ whole: 0, inTurn: 751 });
    expect(trimPosition({ ...journal, turns: [100], maxBytes: 200 })).toEqual({ whole: 100, inTurn: 800 });
    expect(trimPosition({ ...journal, turns: [], maxBytes: 100, keepFrom: 400 })).toEqual({ whole: 0, inTurn: 400 });
    expect(trimPosition({ ...journal, turns: [], maxBytes: 100, keepFrom: 0 })).toEqual({ whole: 0 });
  });
});
