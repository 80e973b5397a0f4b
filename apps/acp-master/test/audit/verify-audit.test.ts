import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/audit/record.ts";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import { AuditFolder } from "./audit-folder.ts";
import { decisionNumber } from "./decisions.ts";

describe("verification names", () => {
  it("the changed record, be it the first, a middle one or the last", () => {
    using folder = new AuditFolder();
    folder.record(4);
    const whole = folder.lines();
    for (const number of [1, 2, 3, 4]) {
      folder.rewrite(() => whole.map((line, at) => (at === number - 1 ? line.replace('"yes"', '"no!"') : line)));
      expect(folder.problems()).toEqual([
        expect.stringMatching(`^audit.ndjson:${number} record ${number} was changed`),
      ]);
    }
    folder.rewrite(() => whole);
    expect(folder.problems()).toEqual([]);
  });

  it("a record whose own hash of its predecessor was changed", () => {
    using folder = new AuditFolder();
    folder.record(4);
    folder.rewrite((lines) => lines.map((line, at) => (at === 2 ? line.replace(/"prev":"./, '"prev":"x') : line)));
    expect(folder.problems()).toEqual(["audit.ndjson:3 this line is not a record: it was overwritten, torn or put in"]);
    // Two digits that the hash of record 2 does not begin with.
    const wrong = hashOf(Buffer.from(folder.lines()[1] ?? "")).startsWith("01") ? "10" : "01";
    folder.rewrite((lines) =>
      lines.map((line, at) => (at === 2 ? line.replace(/"prev":"../, `"prev":"${wrong}`) : line)),
    );
    expect(folder.problems()).toEqual([expect.stringMatching("^audit.ndjson:3 record 3 was changed")]);
  });

  it("missing records: first, middle, last, all", () => {
    using folder = new AuditFolder();
    folder.record(5);
    const whole = folder.lines();
    const without = (...numbers: number[]) => folder.rewrite(() => whole.filter((_, at) => !numbers.includes(at + 1)));
    without(1);
    expect(folder.problems()).toEqual(["audit.ndjson:1 the records before number 2 are missing"]);
    without(3);
    expect(folder.problems()).toEqual(["audit.ndjson:3 record 3 is missing before this line"]);
    without(2, 3);
    expect(folder.problems()).toEqual(["audit.ndjson:2 records 2 to 3 are missing before this line"]);
    without(4, 5);
    expect(folder.problems()).toEqual(["audit.ndjson:3 records 4 to 5 are cut off the end"]);
    without(1, 2, 3, 4, 5);
    expect(folder.problems()).toEqual(["audit.ndjson:0 records 1 to 5 are cut off the end"]);
  });

  it("swapped, doubled and foreign lines", () => {
    using folder = new AuditFolder();
    folder.record(4);
    const [one = "", two = "", three = "", four = ""] = folder.lines();
    folder.rewrite(() => [one, three, two, four]);
    expect(folder.problems()).toEqual([
      "audit.ndjson:2 record 2 is missing before this line",
      "audit.ndjson:3 record 2 is out of order",
      "audit.ndjson:4 record 3 is missing before this line",
    ]);
    folder.rewrite(() => [one, two, two, three, four]);
    expect(folder.problems()).toContain("audit.ndjson:3 record 2 is out of order");
    folder.rewrite(() => [one, two, '{"allow":true}', three, four]);
    expect(folder.problems()).toEqual(["audit.ndjson:3 this line is not a record: it was overwritten, torn or put in"]);
  });

  it("a missing or damaged head, a missing file and a missing record", () => {
    using folder = new AuditFolder();
    expect(folder.problems()).toEqual([
      "audit.ndjson:0 there is no decision record: no daemon has run here, or it was removed",
    ]);
    folder.record(0);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 0 });
    folder.record(2);
    const head = readFileSync(folder.head);
    writeFileSync(folder.head, "garbage");
    expect(folder.problems()).toEqual(["audit.head:1 the head is damaged, so a cut tail cannot be ruled out"]);
    unlinkSync(folder.head);
    expect(folder.problems()).toEqual(["audit.head:1 the head is missing, so a cut tail cannot be ruled out"]);
    folder.record(1);
    expect(folder.problems()).toEqual([expect.stringMatching(/^audit\.ndjson:3 the head was gone or unreadable/)]);
    writeFileSync(folder.head, head);
    unlinkSync(folder.current);
    expect(folder.problems()).toContain("audit.ndjson:0 the file in use is missing");
  });

  it("what cannot be read, instead of throwing", () => {
    using folder = new AuditFolder();
    mkdirSync(folder.current, { recursive: true });
    expect(folder.problems()).toEqual(["audit.ndjson:0 the decision record cannot be read (EISDIR)"]);
  });

  it("a bounded number of problems", () => {
    using folder = new AuditFolder();
    folder.record(1);
    appendFileSync(folder.current, "garbage\n".repeat(5000));
    const problems = folder.problems();
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toContain("there are 4000 more problems");
  });
});

describe("no change goes unseen", () => {
  it("of any single byte of any record, also after the daemon went on behind it", () => {
    using folder = new AuditFolder("fast");
    folder.record(2);
    const whole = readFileSync(folder.current);
    const head = readFileSync(folder.head);
    const unseen: number[] = [];
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0x01, (whole[at] ?? 0) ^ 0x0a]) {
        if (flip === 0) continue; // the byte is a line feed already
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ flip;
        writeFileSync(folder.current, changed);
        if (verifyAudit(folder.stateDir).ok) unseen.push(at);
      }
      if (at % 11 === 0) {
        folder.record(1);
        if (verifyAudit(folder.stateDir).ok) unseen.push(at);
        writeFileSync(folder.head, head);
      }
    }
    expect(unseen).toEqual([]);
  });

  it("of any single byte of the head", () => {
    using folder = new AuditFolder("fast");
    folder.record(12);
    const whole = readFileSync(folder.head);
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0x01, 0x08]) {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ flip;
        writeFileSync(folder.head, changed);
        expect(verifyAudit(folder.stateDir).ok, `byte ${at} ^ ${flip}`).toBe(false);
      }
    }
  });

  it("in any record: what was appended verifies, and any edit, cut, move or removal does not", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 });
    const decision = fc.record({ approvalId: text, toolCallId: text, agent: text, preset: text });
    const runs = fc.array(fc.array(decision, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 });
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const edit = fc.record({
      how: fc.constantFrom("byte", "insert", "cut", "remove", "swap", "double"),
      file: place,
      at: place,
      to: place,
      byte: fc.integer({ min: 1, max: 255 }),
      goesOn: fc.boolean(),
    });
    fc.assert(
      fc.property(runs, edit, fc.integer({ min: 500, max: 6000 }), (decisions, change, fileBytes) => {
        using folder = new AuditFolder("fast");
        const bounds = { fileBytes, files: 3 };
        for (const run of decisions) {
          using log = folder.open({ bounds });
          for (const texts of run) expect(log.decision(decisionNumber(1, texts))).toBe(true);
        }
        expect(folder.problems()).toEqual([]);
        expect(folder.notices()).toEqual([]);
        const names = folder.files();
        const path = join(folder.stateDir, names[Math.floor(change.file * names.length)] ?? "");
        if (!corrupt(path, change)) return;
        if (change.goesOn) folder.record(2, { fileBytes: 1_000_000, files: 10 });
        expect(verifyAudit(folder.stateDir).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});

interface Change {
  readonly how: string;
  readonly at: number;
  readonly to: number;
  readonly byte: number;
}

/** false: this change would change nothing, or only take the last line feed, which the daemon puts back. */
function corrupt(path: string, { how, at, to, byte }: Change): boolean {
  const bytes = readFileSync(path);
  const lines = bytes.toString("latin1").split("\n").slice(0, -1);
  const position = Math.floor(at * bytes.length);
  const line = Math.floor(at * lines.length);
  const other = Math.floor(to * lines.length);
  if (bytes.length === 0) return false;
  if (how === "byte") {
    bytes[position] = (bytes[position] ?? 0) ^ byte;
    writeFileSync(path, bytes);
    return true;
  }
  if (how === "cut") {
    if (position === bytes.length - 1) return false;
    truncateSync(path, position);
    return true;
  }
  if (how === "insert") {
    writeFileSync(path, Buffer.concat([bytes.subarray(0, position), Buffer.from([byte]), bytes.subarray(position)]));
    return true;
  }
  if (how === "swap" && line === other) return false;
  const [taken = ""] = lines.splice(line, 1);
  if (how === "double") lines.splice(line, 0, taken, taken);
  if (how === "swap") lines.splice(other, 0, taken);
  if (lines.length === 0) rmSync(path);
  else writeFileSync(path, Buffer.from(`${lines.join("\n")}\n`, "latin1"));
  return true;
}
