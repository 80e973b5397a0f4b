// The journal on disks that fail, for real.
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { JournalWriter } from "../../src/journal/journal-writer.ts";
import { sessionsDir } from "../../src/journal/session-folder.ts";
import { SmallDisk, whyNoDisk } from "../../../../test/harness/disks.ts";
import { batchWritten, frame, recordOf, StateFolder } from "./state-folder.ts";

const noDisk = whyNoDisk();
if (noDisk !== undefined) console.log(`tests of full and read-only disks are left out: ${noDisk}`);

const settings = { retryMs: 20, idleMs: 20, memoryBytes: 200_000 };
const all = (journal: Journal): Buffer =>
  Buffer.concat(journal.read(journal.start, journal.end, Number.MAX_SAFE_INTEGER));
const decide = (journal: Journal): boolean =>
  journal.recordDecision({ approvalId: "a", result: "selected", by: "client", settledAt: 1 });

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe.skipIf(noDisk !== undefined)("on a full disk", () => {
  it("goes on in memory, says so, and writes all of it when there is room again", async () => {
    using disk = new SmallDisk(256 * 1024);
    using state = new StateFolder(disk.path);
    const reports: string[] = [];
    await using writer = new JournalWriter({ report: (what) => reports.push(what), settings });
    const folder = state.session();
    expect(folder.save(recordOf())).toEqual({ ok: true });
    const journal = writer.open(folder);
    const frames: Buffer[] = [];
    const add = (length: number): void => {
      frames.push(frame(frames.length, length));
      journal.append(frames.at(-1)!);
    };
    for (let n = 0; n < 50; n++) add(1000);
    await batchWritten();
    expect(journal.problem).toBeUndefined();
    disk.fill();
    for (let n = 0; n < 150; n++) {
      add(1000);
      await batchWritten();
    }
    expect(journal.problem).toContain("ENOSPC");
    expect(writer.problems).toEqual([journal.problem]);
    expect(all(journal).equals(Buffer.concat(frames))).toBe(true);
    // The last page of the index may still have room.
    let recorded = 0;
    while (recorded < 1000 && decide(journal)) recorded++;
    expect(recorded).toBeLessThan(1000);
    // What is on the full disk is whole frames.
    expect(readFileSync(join(folder.path, "journal.ndjson")).at(-1)).toBe(0x0a);

    disk.free();
    await until(() => journal.problem === undefined);
    expect(writer.problems).toEqual([]);
    expect(readFileSync(join(folder.path, "journal.ndjson")).equals(Buffer.concat(frames))).toBe(true);
    expect(decide(journal)).toBe(true);
    add(10);
    await batchWritten();
    expect(all(journal).equals(Buffer.concat(frames))).toBe(true);
    expect(reports).toEqual([]);
  });

  it("forgets the oldest whole turns over its bound of memory and keeps on disk what was there", async () => {
    using disk = new SmallDisk(400 * 1024);
    using state = new StateFolder(disk.path);
    await using writer = new JournalWriter({ report: () => {}, settings: { ...settings, memoryBytes: 50_000 } });
    const folder = state.session();
    folder.save(recordOf());
    const journal = writer.open(folder);
    journal.append(frame("before"));
    journal.turnBoundary();
    await batchWritten();
    disk.fill();
    let end = 0;
    for (let turn = 0; turn < 100; turn++) {
      for (let n = 0; n < 5; n++) end = journal.append(frame(`${turn}.${n}`, 1000));
      journal.turnBoundary();
      expect(journal.end).toBe(end);
    }
    expect(journal.problem ?? (journal.flush(), journal.problem)).toContain("ENOSPC");
    for (let n = 0; n < 200; n++) end = journal.append(frame(`last.${n}`, 1000));
    expect(journal.end - journal.start).toBeLessThanOrEqual(2 * 50_000 + 2000);
    const shown = all(journal);
    expect(shown.length).toBe(journal.end - journal.start);
    disk.free();
    await until(() => journal.problem === undefined);
    expect(journal.end).toBe(end);
    expect(all(journal).equals(shown)).toBe(true);
    expect(readFileSync(join(folder.path, "journal.ndjson")).equals(shown)).toBe(true);
    expect(readFileSync(join(folder.path, "journal.cut")).equals(frame("before"))).toBe(true);
    await writer.close(journal);
    await using later = new JournalWriter({ report: (what) => expect(what).toBe(""), settings });
    const again = later.open(state.session());
    expect([again.start, again.end]).toEqual([end - shown.length, end]);
    expect(all(again).equals(shown)).toBe(true);
  });

  it("says that it could not be shortened and loses nothing by that", async () => {
    using disk = new SmallDisk(500 * 1024);
    using state = new StateFolder(disk.path);
    const reports: string[] = [];
    await using writer = new JournalWriter({
      report: (what) => reports.push(what),
      settings: { ...settings, maxBytes: 200_000, memoryBytes: 1_000_000 },
    });
    const journal = writer.open(state.session());
    const frames: Buffer[] = [];
    for (let n = 0; n < 480; n++) {
      frames.push(frame(n, 1000));
      journal.append(frames.at(-1)!);
      journal.turnBoundary();
      journal.trim(journal.end);
      await batchWritten();
    }
    await until(() => reports.length > 0);
    expect(reports.join()).toContain("could not be shortened (ENOSPC)");
    expect(all(journal).equals(Buffer.concat(frames).subarray(journal.start))).toBe(true);
  });
});

describe.skipIf(noDisk !== undefined)("on a disk that becomes read-only", () => {
  it("can be read, goes on in memory, and writes again when it may", async () => {
    using disk = new SmallDisk(4 * 1024 * 1024);
    using state = new StateFolder(disk.path);
    {
      await using writer = new JournalWriter({ report: () => {}, settings });
      writer.open(state.session()).append(frame(1));
    }
    disk.remount("ro");
    await using writer = new JournalWriter({ report: () => {}, settings });
    const journal = writer.open(state.session());
    expect(all(journal)).toEqual(frame(1));
    journal.append(frame(2));
    await batchWritten();
    expect(journal.problem).toContain("EROFS");
    expect(state.session().save(recordOf()).ok).toBe(false);
    expect(all(journal).equals(Buffer.concat([frame(1), frame(2)]))).toBe(true);
    disk.remount("rw");
    await until(() => journal.problem === undefined);
    expect(readFileSync(join(state.session().path, "journal.ndjson")).equals(all(journal))).toBe(true);
  });
});

describe("with something else in its place", () => {
  it.each<[string, (state: StateFolder) => void, (state: StateFolder) => void]>([
    [
      "a file where its folder should be",
      (state) => {
        mkdirSync(sessionsDir(state.path));
        writeFileSync(state.session().path, "mine");
      },
      (state) => rmSync(state.session().path),
    ],
    [
      "a link where its folder should be",
      (state) => {
        mkdirSync(join(state.path, "other"));
        mkdirSync(sessionsDir(state.path));
        symlinkSync(join(state.path, "other"), state.session().path);
      },
      (state) => rmSync(state.session().path),
    ],
    [
      "a folder where its file should be",
      (state) => mkdirSync(join(state.session().path, "journal.ndjson"), { recursive: true }),
      (state) => rmSync(join(state.session().path, "journal.ndjson"), { recursive: true }),
    ],
    [
      "a link where its file should be",
      (state) => {
        mkdirSync(state.session().path, { recursive: true });
        writeFileSync(join(state.path, "other"), "mine");
        symlinkSync(join(state.path, "other"), join(state.session().path, "journal.ndjson"));
      },
      (state) => {
        expect(readFileSync(join(state.path, "other"), "utf8")).toBe("mine");
        rmSync(join(state.session().path, "journal.ndjson"));
      },
    ],
    [
      "a link where its index should be",
      (state) => {
        mkdirSync(state.session().path, { recursive: true });
        writeFileSync(join(state.path, "other"), "mine");
        symlinkSync(join(state.path, "other"), join(state.session().path, "index.ndjson"));
      },
      (state) => {
        expect(readFileSync(join(state.path, "other"), "utf8")).toBe("mine");
        rmSync(join(state.session().path, "index.ndjson"));
      },
    ],
  ])("%s: it is left alone, the session goes on in memory until it is gone", async (_, spoil, mend) => {
    using state = new StateFolder();
    spoil(state);
    await using writer = new JournalWriter({ report: () => {}, settings });
    const journal = writer.open(state.session());
    journal.append(frame(1));
    journal.turnBoundary();
    await batchWritten();
    expect(journal.problem).toMatch(
      /\((in_the_way|ENOTDIR)\).* Remove what stands in its place; nothing needs to be restarted/,
    );
    journal.append(frame(2));
    expect(all(journal).equals(Buffer.concat([frame(1), frame(2)]))).toBe(true);
    mend(state);
    await until(() => journal.problem === undefined);
    expect(readFileSync(join(state.session().path, "journal.ndjson")).equals(all(journal))).toBe(true);
  });

  it.skipIf(process.getuid?.() === 0)("a folder without the right to write: as on a full disk", async () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    chmodSync(folder.path, 0o500);
    await using writer = new JournalWriter({ report: () => {}, settings });
    const journal = writer.open(folder);
    journal.append(frame(1));
    await batchWritten();
    expect(journal.problem).toContain("EACCES");
    chmodSync(folder.path, 0o700);
    await until(() => journal.problem === undefined);
  });
});
