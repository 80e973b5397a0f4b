import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DecisionLine } from "../../src/audit/record.ts";
import { verifyAudit } from "../../src/audit/verify-audit.ts";
import { bundled } from "../bundled.ts";
import { AuditFolder, killedAfter, privileged, startWriter } from "./audit-folder.ts";
import { decisionNumber } from "./decisions.ts";

let programs = "";
let writer = "";
beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "acpm-audit-"));
  writer = bundled(import.meta.url, "writer", programs);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

const small = { fileBytes: 2000, files: 3 };

describe("a decision", () => {
  it("is one line with the fields of the decision, its number and the hash of the line before", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    expect(log.decision(decisionNumber(1))).toBe(true);
    expect(log.decision(decisionNumber(2, { askedAt: undefined, outcome: { result: "cancelled" } }))).toBe(true);
    const [first, second] = folder.lines().map((line): unknown => JSON.parse(line));
    expect(first).toEqual({
      seq: 1,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      type: "decision",
      ...decisionNumber(1),
      askedAt: "2023-11-14T22:13:20.001Z",
      prev: "0".repeat(64),
    });
    expect(second).toMatchObject({ seq: 2, askedAt: null, outcome: { result: "cancelled" } });
    expect(log.head.seq).toBe(2);
    expect(log.problem).toBeUndefined();
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 2, problems: [], notices: [] });
  });

  it("is found again by the question's id, in full files too, and nothing else is taken for one", async () => {
    using folder = new AuditFolder();
    using log = folder.open({ bounds: { fileBytes: 2000, files: 5 } });
    for (let number = 1; number <= 9; number++) log.decision(decisionNumber(number));
    log.event("helper_fault", { approvalId: "approval-10", fault: "timeout" });
    log.decision(decisionNumber(11, { outcome: { result: "cancelled" }, by: { kind: "cancel", name: "x" } }));
    expect(folder.files().length).toBeGreaterThan(2);
    const found = await log.decided(new Set(["approval-1", "approval-10", "approval-11", "approval-12"]));
    expect(Object.fromEntries(found)).toEqual({
      "approval-1": { outcome: { result: "selected", optionId: "yes" }, by: { kind: "client" } },
      "approval-11": { outcome: { result: "cancelled" }, by: { kind: "cancel" } },
    });
  });

  it("is in a file that only its owner can read, also when the file was wider before", () => {
    using folder = new AuditFolder();
    folder.record(1);
    expect(statSync(folder.current).mode & 0o777).toBe(0o600);
    expect(statSync(folder.head).mode & 0o777).toBe(0o600);
    expect(statSync(folder.stateDir).mode & 0o777).toBe(0o700);
    chmodSync(folder.current, 0o644);
    folder.record(1);
    expect(statSync(folder.current).mode & 0o777).toBe(0o600);
  });

  it("stays one line whatever breaks, quotes and separators its texts hold", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    const forged = 'x\n{"seq":9,"type":"decision","outcome":{"result":"selected"}}\r\u2028\u0085\u0000"},\ud800\u202e';
    const line: DecisionLine = decisionNumber(1, {
      toolCallId: forged,
      agent: forged,
      options: [{ optionId: forged, kind: forged }],
      outcome: { result: "selected", optionId: forged },
      by: { kind: "client", name: forged },
    });
    expect(log.decision(line)).toBe(true);
    expect(log.event("preset", { name: forged, seq: 99, prev: forged, type: "decision" })).toBe(true);
    const bytes = readFileSync(folder.current, "utf8");
    expect(bytes.split(/[\n\r\u2028\u2029\u0085]/)).toHaveLength(3);
    expect(bytes.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(folder.lines()[0] ?? "")).toMatchObject({ toolCallId: forged, by: { name: forged } });
    expect(JSON.parse(folder.lines()[1] ?? "")).toMatchObject({ seq: 2, type: "preset", name: forged });
    expect(folder.problems()).toEqual([]);
  });

  it("has a bounded line however long the agent's ids and lists are", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    const long = "\u0001".repeat(1_000_000);
    const options = Array.from({ length: 10_000 }, () => ({ optionId: long.slice(0, 300), kind: "allow_once" }));
    expect(log.decision(decisionNumber(1, { toolCallId: long, options }))).toBe(true);
    const [line = ""] = folder.lines();
    expect(line.length).toBeLessThan(100_000);
    expect(JSON.parse(line)).toMatchObject({ optionsLeftOut: 9936 });
    expect(folder.problems()).toEqual([]);
  });

  it("is flushed when it must be, and a process that does not close its log still ends", () => {
    using folder = new AuditFolder();
    using log = folder.open({ sync: "always" });
    expect(log.decision(decisionNumber(1))).toBe(true);
    log[Symbol.dispose]();
    expect(log.decision(decisionNumber(2))).toBe(false);
    const ended = spawnSync(process.execPath, [writer, folder.stateDir, "3"], { encoding: "utf8", timeout: 20_000 });
    expect(ended).toMatchObject({ status: 0, stdout: "2\n3\n4\n" });
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 4 });
  });
});

describe("a record that cannot be written", () => {
  it("is refused on a full disk, leaves no half line, and is taken again when there is space", ({ skip }) => {
    using folder = new AuditFolder();
    mkdirSync(folder.stateDir, { mode: 0o700 });
    if (!privileged("mount", ["-t", "tmpfs", "-o", "size=64k", "none", folder.stateDir]))
      skip("cannot mount a small disk");
    try {
      using log = folder.open();
      expect(log.decision(decisionNumber(1))).toBe(true);
      const filler = join(folder.stateDir, "filler");
      fill(filler);
      let recorded = 1;
      while (log.decision(decisionNumber(recorded + 1))) recorded++;
      expect(log.problem).toContain("ENOSPC");
      expect(folder.lines()).toHaveLength(recorded);
      expect(log.event("preset", {})).toBe(false);
      unlinkSync(filler);
      expect(log.decision(decisionNumber(100))).toBe(true);
      expect(log.problem).toBeUndefined();
      log[Symbol.dispose]();
      expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: recorded + 1, notices: [] });
    } finally {
      privileged("umount", [folder.stateDir]);
    }
  });

  it("is refused at a file size limit, where a write stops in the middle of a line", () => {
    using folder = new AuditFolder();
    folder.record(1);
    const ended = spawnSync(
      "sh",
      ["-c", `ulimit -f 6; exec "$0" "$@"`, process.execPath, writer, folder.stateDir, "12"],
      {
        encoding: "utf8",
      },
    );
    const answers = ended.stdout.trim().split("\n");
    expect(answers).toHaveLength(12);
    expect(answers.at(0)).toBe("2");
    expect(answers.at(-1)).toBe("refused");
    const recorded = answers.filter((answer) => answer !== "refused").length;
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: recorded + 1, notices: [] });
  });

  it("is refused on a read-only disk", ({ skip }) => {
    using folder = new AuditFolder();
    mkdirSync(folder.stateDir, { mode: 0o700 });
    if (!privileged("mount", ["-t", "tmpfs", "-o", "ro,size=64k", "none", folder.stateDir]))
      skip("cannot mount a disk");
    try {
      using log = folder.open();
      expect(log.problem).toContain("EROFS");
      expect(log.decision(decisionNumber(1))).toBe(false);
    } finally {
      privileged("umount", [folder.stateDir]);
    }
  });

  it("is refused in a folder that takes no files", () => {
    using folder = new AuditFolder();
    mkdirSync(folder.stateDir, { mode: 0o700 });
    const immutable = privileged("chattr", ["+i", folder.stateDir]);
    if (!immutable) chmodSync(folder.stateDir, 0o500);
    try {
      using log = folder.open();
      expect(log.decision(decisionNumber(1))).toBe(false);
      expect(log.problem).toMatch(/EPERM|EACCES/);
      expect(log.problem).toContain(folder.current);
    } finally {
      if (immutable) privileged("chattr", ["-i", folder.stateDir]);
      else chmodSync(folder.stateDir, 0o700);
    }
  });

  it("is refused when a file stands where the folder should be, or the folder is removed, until it is back", () => {
    using folder = new AuditFolder();
    writeFileSync(folder.stateDir, "");
    using blocked = folder.open();
    expect(blocked.problem).toMatch(/EEXIST|ENOTDIR/);
    expect(blocked.decision(decisionNumber(1))).toBe(false);
    unlinkSync(folder.stateDir);
    using log = folder.open();
    expect(log.decision(decisionNumber(1))).toBe(true);
    rmSync(folder.stateDir, { recursive: true });
    expect(log.decision(decisionNumber(2))).toBe(false);
    expect(existsSync(folder.stateDir)).toBe(false);
    mkdirSync(folder.stateDir, { mode: 0o700 });
    expect(log.decision(decisionNumber(3))).toBe(true);
    expect(folder.problems()).toEqual(["audit.ndjson:1 record 1 is cut off here before the daemon went on"]);
  });

  it.each([
    ["a link to a full device", (path: string) => symlinkSync("/dev/full", path)],
    ["a link to another file", (path: string) => symlinkSync("/etc/hostname", path)],
    ["a pipe", (path: string) => expect(spawnSync("mkfifo", [path]).status).toBe(0)],
    ["a folder", (path: string) => mkdirSync(path)],
  ])("is refused while %s stands in the file's place, and nothing is written into that", (_name, put) => {
    using folder = new AuditFolder();
    using log = folder.open();
    expect(log.decision(decisionNumber(1))).toBe(true);
    const aside = join(folder.root, "aside");
    renameSync(folder.current, aside);
    put(folder.current);
    expect(log.decision(decisionNumber(2))).toBe(false);
    expect(log.problem).toContain("not_a_file");
    rmSync(folder.current, { recursive: true });
    renameSync(aside, folder.current);
    expect(log.decision(decisionNumber(3))).toBe(true);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 2, notices: [] });
  });
});

describe("a log that was changed from outside while it is open", () => {
  it("goes on in a new file after the file was deleted, and says what is missing", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    for (let number = 1; number <= 3; number++) log.decision(decisionNumber(number));
    unlinkSync(folder.current);
    expect(log.decision(decisionNumber(4))).toBe(true);
    expect(folder.lines().map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({ seq: 4, type: "recovered" }),
      expect.objectContaining({ seq: 5, type: "decision" }),
    ]);
    expect(log.head.seq).toBe(5);
    expect(folder.warnings).toHaveLength(1);
    expect(folder.problems()).toEqual(["audit.ndjson:1 records 1 to 3 are cut off here before the daemon went on"]);
  });

  it("notices a cut tail at the next decision", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    for (let number = 1; number <= 3; number++) log.decision(decisionNumber(number));
    folder.rewrite((lines) => lines.slice(0, 1));
    expect(log.decision(decisionNumber(4))).toBe(true);
    expect(folder.problems()).toEqual(["audit.ndjson:2 records 2 to 3 are cut off here before the daemon went on"]);
  });

  it("goes on without a word in an equal copy, and writes a removed head again", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    log.decision(decisionNumber(1));
    copyFileSync(folder.current, join(folder.root, "copy"));
    renameSync(join(folder.root, "copy"), folder.current);
    expect(log.decision(decisionNumber(2))).toBe(true);
    unlinkSync(folder.head);
    expect(log.decision(decisionNumber(3))).toBe(true);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 3, notices: [] });
  });

  it("puts no record behind a foreign half line, and only that line is at fault", () => {
    using folder = new AuditFolder();
    using log = folder.open();
    log.decision(decisionNumber(1));
    appendFileSync(folder.current, '{"seq":2,"outcome":');
    expect(log.decision(decisionNumber(2))).toBe(true);
    expect(folder.lines()).toHaveLength(4);
    expect(folder.problems()).toEqual([]);
    expect(folder.notices()).toEqual(["audit.ndjson:2 a line was torn here while it was written; record 2 notes it"]);
  });
});

describe("opening", () => {
  it("marks a line that was torn while it was written, and every later line is whole", () => {
    using folder = new AuditFolder();
    folder.record(2);
    appendFileSync(folder.current, folder.lines()[1]?.slice(0, 50) ?? "");
    expect(folder.notices()).toEqual(["audit.ndjson:3 the last line is torn; the daemon marks it when it next starts"]);
    folder.record(2);
    expect(folder.lines().filter((line) => isJson(line))).toHaveLength(5);
    expect(isJson(folder.lines()[2] ?? "")).toBe(false);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 5 });
    expect(folder.notices()).toEqual(["audit.ndjson:3 a line was torn here while it was written; record 3 notes it"]);
  });

  it("reports a whole record that was cut in the middle, before and after the daemon went on", () => {
    using folder = new AuditFolder();
    folder.record(3);
    truncateSync(folder.current, statSync(folder.current).size - 20);
    expect(folder.problems()).toEqual([
      "audit.ndjson:3 this line is not a record: it was overwritten, torn or put in",
      "audit.ndjson:3 record 3 is cut off the end",
    ]);
    folder.record(2);
    expect(folder.lines().filter((line) => isJson(line))).toHaveLength(5);
    expect(folder.problems()).toEqual(["audit.ndjson:3 record 3 is cut off here before the daemon went on"]);
  });

  it("adds a line feed that alone is missing", () => {
    using folder = new AuditFolder();
    folder.record(2);
    truncateSync(folder.current, statSync(folder.current).size - 1);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 2 });
    folder.record(1);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 3, notices: [] });
  });

  it("takes a record whose head was not written any more", () => {
    using folder = new AuditFolder();
    folder.record(2);
    copyFileSync(folder.head, join(folder.root, "head"));
    folder.record(1);
    copyFileSync(join(folder.root, "head"), folder.head);
    expect(folder.problems()).toEqual([]);
    folder.record(1);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 4, notices: [] });
  });

  it("loses no record that was reported as written when its process is killed", async () => {
    using folder = new AuditFolder();
    let reported = 0;
    for (let run = 1; run <= 4; run++) {
      reported = Number(await killedAfter(startWriter(writer, folder.stateDir), 20 * run));
      const { ok, records } = verifyAudit(folder.stateDir);
      expect(ok).toBe(true);
      expect(records).toBeGreaterThanOrEqual(reported);
    }
    expect(reported).toBeGreaterThan(100);
  });
});

describe("rotation", () => {
  it("keeps the chain over its files and says where it begins after the oldest went", () => {
    using folder = new AuditFolder();
    folder.record(60, small);
    expect(folder.files()).toHaveLength(3);
    for (const name of folder.files()) expect(statSync(join(folder.stateDir, name)).size).toBeLessThan(3000);
    const found = verifyAudit(folder.stateDir);
    expect(found).toMatchObject({ ok: true, files: 3, notices: [] });
    expect(found.records).toBeLessThan(60);
    folder.record(60, small);
    expect(folder.problems()).toEqual([]);
  });

  it("does not hide that a kept file is missing", () => {
    using folder = new AuditFolder();
    folder.record(60, small);
    const [oldest = "", middle = ""] = folder.files();
    renameSync(join(folder.stateDir, oldest), join(folder.root, oldest));
    expect(folder.problems()).toEqual([
      expect.stringMatching(/^audit\.\d+\.ndjson:1 the records before number \d+ are missing$/),
    ]);
    renameSync(join(folder.root, oldest), join(folder.stateDir, oldest));
    unlinkSync(join(folder.stateDir, middle));
    expect(folder.problems()).toEqual([
      expect.stringMatching(/^audit\.ndjson:1 records \d+ to \d+ are missing before this line$/),
    ]);
  });

  it("goes on when its process ended between the rename and the new file", () => {
    using folder = new AuditFolder();
    folder.record(7);
    renameSync(folder.current, join(folder.stateDir, "audit.0000000000000007.ndjson"));
    folder.record(1);
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 8, files: 2, notices: [] });
  });

  it("records past the bound when the file cannot be renamed", () => {
    using folder = new AuditFolder();
    using log = folder.open({ bounds: { fileBytes: 600, files: 2 } });
    log.decision(decisionNumber(1));
    log.decision(decisionNumber(2));
    mkdirSync(join(folder.stateDir, "audit.0000000000000002.ndjson"));
    expect(log.decision(decisionNumber(3))).toBe(true);
    expect(log.problem).toContain("EEXIST");
    rmSync(join(folder.stateDir, "audit.0000000000000002.ndjson"), { recursive: true });
    expect(log.decision(decisionNumber(4))).toBe(true);
    expect(log.problem).toBeUndefined();
    expect(verifyAudit(folder.stateDir)).toMatchObject({ ok: true, records: 4, files: 2 });
  });
});

function fill(path: string): void {
  expect(() => {
    for (;;) appendFileSync(path, Buffer.alloc(4096));
  }).toThrow(/ENOSPC/);
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
