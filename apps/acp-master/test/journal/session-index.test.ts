import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionIndex } from "../../src/journal/session-index.ts";
import { StateFolder } from "./state-folder.ts";

const turnsOf = (path: string): readonly number[] => new SessionIndex(path).state.turns;

describe("SessionIndex", () => {
  it("writes what was noted with the next flush, and of each snapshot kind the latest alone", () => {
    using state = new StateFolder();
    const path = join(state.path, "index.ndjson");
    const index = new SessionIndex(path);
    for (let n = 1; n <= 100; n++) index.note({ type: "snapshot", kind: "usage_update", at: n, bytes: 5 });
    index.note({ type: "turn", at: 200 });
    expect(existsSync(path)).toBe(false);
    index.flush();
    expect(index.isDirty).toBe(false);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
    const read = new SessionIndex(path);
    expect(read.state).toEqual(index.state);
    expect(read.problem).toBeUndefined();
  });

  it("is urgent with all but marks of turns, until it is written", () => {
    using state = new StateFolder();
    const index = new SessionIndex(join(state.path, "index.ndjson"));
    index.note({ type: "turn", at: 100 });
    expect([index.isDirty, index.isUrgent]).toEqual([true, false]);
    index.note({ type: "snapshot", kind: "usage_update", at: 100, bytes: 5 });
    index.note({ type: "turn", at: 200 });
    expect(index.isUrgent).toBe(true);
    index.flush();
    expect([index.isDirty, index.isUrgent]).toEqual([false, false]);
    index.note({ type: "start", at: 50 });
    expect(index.isUrgent).toBe(true);
    index.mustRewrite();
    expect(index.isUrgent).toBe(true);
    index.flush();
    index.note({ type: "turn", at: 300 });
    expect(index.isUrgent).toBe(false);
  });

  it("is written anew when it has grown, and says the same then", () => {
    using state = new StateFolder();
    const path = join(state.path, "index.ndjson");
    const index = new SessionIndex(path);
    for (let n = 1; n <= 20_000; n++) {
      index.note({ type: "snapshot", kind: "usage_update", at: n, bytes: 5 });
      if (n % 100 === 0) index.note({ type: "turn", at: n });
      if (n % 4 === 0) index.flush();
    }
    index.flush();
    expect(statSync(path).size).toBeLessThan(300_000);
    expect(new SessionIndex(path).state).toEqual(index.state);
    expect(readdirSync(state.path)).toEqual(["index.ndjson"]);
  });

  it("leaves out a torn last line and goes on", () => {
    using state = new StateFolder();
    const path = join(state.path, "index.ndjson");
    writeFileSync(path, '{"type":"turn","at":10}\n{"type":"turn","at":2');
    const index = new SessionIndex(path);
    index.note({ type: "turn", at: 30 });
    index.flush();
    expect(turnsOf(path)).toEqual([10, 30]);
    expect(new SessionIndex(path).problem).toBeUndefined();
    expect(readdirSync(state.path)).toEqual(["index.ndjson"]);
  });

  it("keeps lines that are none of its own aside, and what was between them", () => {
    using state = new StateFolder();
    const path = join(state.path, "index.ndjson");
    const foreign = Buffer.concat([
      Buffer.from('{"type":"turn","at":10}\nhello\n{"type":"turn","at":20}\n'),
      Buffer.from([0, 255, 10]),
    ]);
    writeFileSync(path, foreign);
    const index = new SessionIndex(path);
    expect(index.problem).toContain("2 lines");
    expect(index.problem).not.toContain("hello");
    expect(readFileSync(path).equals(foreign)).toBe(true);
    index.flush();
    expect(turnsOf(path)).toEqual([10, 20]);
    expect(readFileSync(join(state.path, "index.foreign-1")).equals(foreign)).toBe(true);
  });

  it("notices what others did to it while it was in use", () => {
    using state = new StateFolder();
    const path = join(state.path, "index.ndjson");
    const index = new SessionIndex(path);
    index.write({ type: "turn", at: 10 });
    appendFileSync(path, "hello");
    index.write({ type: "turn", at: 20 });
    expect(turnsOf(path)).toEqual([10, 20]);
    expect(readFileSync(join(state.path, "index.foreign-1"), "utf8")).toBe('{"type":"turn","at":10}\nhello');
    rmSync(path);
    index.write({ type: "turn", at: 30 });
    expect(turnsOf(path)).toEqual([10, 20, 30]);
    writeFileSync(path, "");
    index.write({ type: "turn", at: 40 });
    expect(turnsOf(path)).toEqual([10, 20, 30, 40]);
  });

  it("keeps what it could not write, and writes it when it can", () => {
    using state = new StateFolder();
    const path = join(state.path, "index.ndjson");
    const index = new SessionIndex(path);
    mkdirSync(path);
    expect(() => index.write({ type: "turn", at: 10 })).toThrow();
    index.note({ type: "turn", at: 20 });
    expect(() => index.flush()).toThrow();
    expect(index.isDirty).toBe(true);
    rmSync(path, { recursive: true });
    index.flush();
    expect(turnsOf(path)).toEqual([10, 20]);
  });
});
