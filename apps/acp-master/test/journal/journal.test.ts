import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { readKeptTickets } from "../../src/journal/kept-journal.ts";
import { type JournalSettings, JournalWriter } from "../../src/journal/journal-writer.ts";
import { batchWritten, frame, recordOf, StateFolder } from "./state-folder.ts";

/** A writer that remembers what it was told. */
function writerOf(settings: Partial<JournalSettings> = {}): JournalWriter & { readonly reports: string[] } {
  const reports: string[] = [];
  return Object.assign(new JournalWriter({ report: (what) => reports.push(what), settings }), { reports });
}

/** Everything from `from` on, read in small steps as a slow client does. */
function readAll(journal: Journal, from = journal.start, maxBytes = 1000): Buffer {
  const found: Buffer[] = [];
  for (let at = from; at < journal.end;) {
    const frames = Buffer.concat(journal.read(at, journal.end, maxBytes));
    expect(frames.at(-1)).toBe(0x0a);
    found.push(frames);
    at += frames.length;
  }
  return Buffer.concat(found);
}

const journalOf = (state: StateFolder): string => join(state.session().path, "journal.ndjson");
const indexOf = (state: StateFolder): string => join(state.session().path, "index.ndjson");

/** One run of a daemon that saw these frames. */
async function record(state: StateFolder, ...frames: Buffer[]): Promise<void> {
  await using writer = writerOf();
  state.session().save(recordOf());
  const journal = writer.open(state.session());
  for (const each of frames) journal.append(each);
}

const ticket = (approvalId: string) => ({
  approvalId,
  toolCallId: "t1",
  options: [{ optionId: "yes", kind: "allow_once" }],
  paramsDigest: "d",
  openedAt: 5,
});

describe("Journal", () => {
  it("answers with the position at once and writes once after the clients were served", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    const frames = Array.from({ length: 100 }, (_, n) => frame(n));
    const whole = Buffer.concat(frames);
    for (const each of frames) expect(journal.append(each)).toBe(journal.end);
    expect(journal.end).toBe(whole.length);
    expect(existsSync(journalOf(state))).toBe(false);
    expect(readAll(journal).equals(whole)).toBe(true);
    await batchWritten();
    expect(readFileSync(journalOf(state)).equals(whole)).toBe(true);
    expect(readAll(journal).equals(whole)).toBe(true);
    expect(statSync(journalOf(state)).mode & 0o777).toBe(0o600);
    expect(statSync(indexOf(state)).mode & 0o777).toBe(0o600);
  });

  it("touches nothing before its first use, and makes nothing before its first frame", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    expect([journal.start, journal.end, journal.read(0, 0, 10)]).toEqual([0, 0, []]);
    await batchWritten();
    expect(readdirSync(state.path)).toEqual([]);
  });

  it("writes at once when too much waits", async () => {
    using state = new StateFolder();
    await using writer = writerOf({ pendingBytes: 10_000 });
    const journal = writer.open(state.session());
    for (let n = 0; n < 100; n++) journal.append(frame(n, 1000));
    expect(journal.end - statSync(journalOf(state)).size).toBeLessThanOrEqual(10_000);
  });

  it("gives a frame longer than was asked for as a whole, also where it crosses from the file to memory", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    const frames = [frame(1), frame(2, 700_000), frame(3)];
    for (const each of frames) journal.append(each);
    await batchWritten();
    journal.append(frame(4, 500_000));
    journal.append(frame(5));
    expect(readAll(journal, 0, 1).equals(Buffer.concat([...frames, frame(4, 500_000), frame(5)]))).toBe(true);
    const lengths = journal
      .read(frames[0]!.length + frames[1]!.length, journal.end, 10_000_000)
      .map((each) => each.length);
    expect(lengths).toEqual([frames[2]!.length, frame(4, 500_000).length, frame(5).length]);
  });

  it("goes on where the last run ended", async () => {
    using state = new StateFolder();
    await record(state, frame(1), frame(2));
    await record(state, frame(3));
    await using writer = writerOf();
    const journal = writer.open(state.session());
    await journal.prepare();
    expect(readAll(journal).equals(Buffer.concat([frame(1), frame(2), frame(3)]))).toBe(true);
    expect(writer.reports).toEqual([]);
  });

  it("keeps the latest frame of each snapshot kind within reach of those who join later", async () => {
    using state = new StateFolder();
    {
      await using writer = writerOf();
      const journal = writer.open(state.session());
      for (const [n, kind] of ["usage_update", "current_mode_update", "usage_update", "tool_call"].entries()) {
        journal.noteSnapshot(kind, journal.end, frame(n).length);
        journal.append(frame(n));
      }
      expect(journal.snapshot("usage_update")).toEqual(frame(2));
    }
    await using writer = writerOf();
    const journal = writer.open(state.session());
    expect(journal.snapshot("usage_update")).toEqual(frame(2));
    expect(journal.snapshot("current_mode_update")).toEqual(frame(1));
    expect(journal.snapshot("session_info_update")).toBeUndefined();
    expect(readFileSync(indexOf(state), "utf8")).not.toContain("tool_call");
  });

  it("remembers tickets that nobody settled, as ids and kinds", async () => {
    using state = new StateFolder();
    {
      await using writer = writerOf();
      const journal = writer.open(state.session());
      expect(journal.recordOpening(ticket("a"))).toBe(true);
      expect(journal.recordOpening(ticket("b"))).toBe(true);
      // Both are on disk before anything else happens: a kill -9 loses neither.
      expect(readFileSync(indexOf(state), "utf8").match(/"opening"/g)).toHaveLength(2);
      expect(journal.recordDecision({ approvalId: "a", result: "refused", by: "client", settledAt: 6 })).toBe(true);
    }
    expect(readKeptTickets(state.session().path)).toEqual([ticket("b")]);
    await using writer = writerOf();
    const journal = writer.open(state.session());
    expect(journal.openTickets).toEqual([ticket("b")]);
    journal.recordDecision({ approvalId: "b", result: "cancelled", by: "agent_exit", settledAt: 7 });
    expect(journal.openTickets).toEqual([]);
  });

  it("can tell whether a client may go on from where it was in an earlier run", async () => {
    using state = new StateFolder();
    await record(state, frame(1), frame(2), frame(3));
    const position = frame(1).length + frame(2).length;
    let run = "";
    {
      await using writer = writerOf();
      const journal = writer.open(state.session());
      run = journal.run;
      expect(journal.resumable(run, journal.end)).toBe(true);
      expect(journal.resumable(run, position)).toBe(true);
      expect(journal.resumable(run, position + 1)).toBe(false);
      expect(journal.resumable("other", position)).toBe(false);
    }
    // The last frame got lost on the way to the disk, and others took its place.
    truncateSync(journalOf(state), position);
    await record(state, frame(4), frame(5), frame(6));
    await using writer = writerOf();
    const journal = writer.open(state.session());
    expect(journal.run).not.toBe(run);
    expect(journal.resumable(run, position)).toBe(true);
    expect(journal.resumable(run, position + frame(3).length)).toBe(false);
    expect(journal.resumable(journal.run, position + frame(4).length)).toBe(true);
  });

  it("forgets the oldest whole turns over its bound and gives their space back", async () => {
    using state = new StateFolder();
    const maxBytes = 100_000;
    {
      await using writer = writerOf({ maxBytes });
      const journal = writer.open(state.session());
      for (let turn = 0; turn < 60; turn++) {
        for (let n = 0; n < 10; n++) journal.append(frame(`${turn}.${n}`, 1000));
        journal.turnBoundary();
        journal.trim(journal.end);
        await batchWritten();
      }
      expect(journal.end - journal.start).toBeLessThanOrEqual(maxBytes);
      expect(journal.end - journal.start).toBeGreaterThan(maxBytes - 15_000);
      expect(readAll(journal).toString()).toMatch(/^[^\n]*"text":"\d+\.0 /);
      expect(journal.read(0, journal.end, 1000)).toEqual([]);
      // As much as stays may be forgotten before it is copied anew.
      while (statSync(journalOf(state)).size > maxBytes * 2) {
        journal.trim(journal.end);
        await batchWritten();
      }
      expect(readAll(journal).toString()).toMatch(/"text":"59\.9 /);
    }
    expect(readdirSync(state.session().path).toSorted()).toEqual(["index.ndjson", "journal.ndjson"]);
    await using writer = writerOf({ maxBytes });
    const journal = writer.open(state.session());
    expect(journal.end).toBeGreaterThan(500_000);
    expect(journal.end - journal.start).toBeLessThanOrEqual(maxBytes);
    expect(readAll(journal).toString()).toMatch(/"text":"59\.9 /);
    expect(writer.reports).toEqual([]);
  });

  it("knows after a kill in the middle of giving space back which file it has", async () => {
    for (const step of ["before the move", "moved"]) {
      using state = new StateFolder();
      const frames = Array.from({ length: 10 }, (_, n) => frame(n, 500));
      await record(state, ...frames);
      const whole = Buffer.concat(frames);
      const to = Buffer.concat(frames.slice(0, 6)).length;
      const move = { type: "move", from: 0, to, bytes: whole.length - to };
      appendFileSync(indexOf(state), `{"type":"start","at":${to}}\n${JSON.stringify(move)}\n`);
      if (step === "moved") writeFileSync(journalOf(state), whole.subarray(to));
      else writeFileSync(`${journalOf(state)}.next`, whole.subarray(to));
      await using writer = writerOf();
      const journal = writer.open(state.session());
      expect([journal.start, journal.end]).toEqual([to, whole.length]);
      expect(readAll(journal).equals(whole.subarray(to))).toBe(true);
      journal.append(frame(10));
      await writer.close(journal);
      const again = writer.open(state.session());
      expect(readAll(again).equals(Buffer.concat([whole.subarray(to), frame(10)]))).toBe(true);
      expect(readdirSync(state.session().path).toSorted()).toEqual(["index.ndjson", "journal.ndjson", "session.json"]);
      expect(writer.reports).toEqual([]);
    }
  });

  it("forgets nothing that a client has still to read, FF-120", async () => {
    using state = new StateFolder();
    await using writer = writerOf({ maxBytes: 10_000 });
    const journal = writer.open(state.session());
    journal.append(frame("first"));
    const cursor = journal.end;
    journal.turnBoundary();
    const seen: Buffer[] = [];
    for (let n = 0; n < 500; n++) {
      seen.push(frame(n, 1000));
      journal.append(seen.at(-1)!);
      if (n % 5 === 4) journal.turnBoundary();
      journal.trim(cursor);
      if (n % 50 === 0) await batchWritten();
    }
    expect(journal.start).toBeLessThanOrEqual(cursor);
    expect(readAll(journal, cursor).equals(Buffer.concat(seen))).toBe(true);
  });

  it("writes the frames of many short turns at once each, and the marks of all of them together", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    const index = join(journal.folder.path, "index.ndjson");
    const marks = (): number => readFileSync(index, "utf8").match(/"type":"turn"/g)?.length ?? 0;
    let seen = 0;
    for (let n = 0; n < 10; n++) {
      journal.append(frame(n));
      journal.turnBoundary();
      await new Promise((resolve) => setImmediate(resolve));
      expect(statSync(join(journal.folder.path, "journal.ndjson")).size).toBe(journal.end);
      seen = Math.max(seen, marks());
    }
    expect(seen).toBeLessThan(10);
    await vi.waitUntil(() => marks() === 10);
  });

  it("costs no descriptor while it rests and no check when nobody touched it meanwhile", async () => {
    using state = new StateFolder();
    await using writer = writerOf({ idleMs: 20 });
    const journal = writer.open(state.session());
    journal.append(frame(1));
    await batchWritten();
    expect(writer.files.size).toBe(1);
    while (writer.files.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(readFileSync(indexOf(state), "utf8")).toContain('"rest"');
    journal.append(frame(2));
    await batchWritten();
    expect(readAll(journal).equals(Buffer.concat([frame(1), frame(2)]))).toBe(true);
  });

  it("keeps few files open however many journals are written", async () => {
    using state = new StateFolder();
    await using writer = writerOf({ maxDescriptors: 10 });
    const journals = Array.from({ length: 300 }, (_, n) => writer.open(state.session(`s${n}`)));
    for (let round = 0; round < 3; round++) {
      for (const [n, journal] of journals.entries()) journal.append(frame(`${n} ${round}`));
      await batchWritten();
      expect(writer.files.size).toBeLessThanOrEqual(10);
    }
    for (const [n, journal] of journals.entries()) {
      expect(readAll(journal).equals(Buffer.concat([0, 1, 2].map((round) => frame(`${n} ${round}`))))).toBe(true);
    }
    expect(writer.reports).toEqual([]);
  });
});

describe("a journal that is not as it was left", () => {
  it("cuts off a torn last frame", async () => {
    using state = new StateFolder();
    await record(state, frame(1), frame(2));
    appendFileSync(journalOf(state), frame(3).subarray(0, 100));
    {
      await using writer = writerOf();
      const journal = writer.open(state.session());
      expect(readAll(journal).equals(Buffer.concat([frame(1), frame(2)]))).toBe(true);
      expect(writer.reports.join()).toContain("cut off");
      journal.append(frame(4));
    }
    expect(readFileSync(journalOf(state)).equals(Buffer.concat([frame(1), frame(2), frame(4)]))).toBe(true);
    expect(readdirSync(state.session().path).filter((name) => name.includes("foreign"))).toEqual([]);
  });

  it.each([
    ["a foreign line", Buffer.from("hello\n")],
    ["binary bytes", Buffer.from([0, 255, 10, 13, 0])],
  ])("ends before %s, says so, and loses nothing of what comes behind", async (_, foreign) => {
    using state = new StateFolder();
    await record(state, frame(1));
    const behind = Buffer.concat([foreign, frame(2), frame(3).subarray(0, 50)]);
    for (const round of [1, 2]) {
      appendFileSync(journalOf(state), behind);
      await using writer = writerOf();
      const journal = writer.open(state.session());
      expect(journal.end).toBe(frame(1).length * round);
      expect(writer.reports.join()).toContain(`${behind.length} bytes are none of its own`);
      expect(writer.reports.join()).not.toContain("hello");
      journal.append(frame(1));
      await batchWritten();
      expect(readFileSync(join(state.session().path, `journal.foreign-${round}`)).equals(behind)).toBe(true);
    }
    expect(readFileSync(journalOf(state)).equals(Buffer.concat([frame(1), frame(1), frame(1)]))).toBe(true);
  });

  it("only looked at, stays as it is on disk", async () => {
    using state = new StateFolder();
    await record(state, frame(1));
    appendFileSync(journalOf(state), "hello\n");
    const before = readFileSync(journalOf(state));
    {
      await using writer = writerOf();
      readAll(writer.open(state.session()));
    }
    expect(readFileSync(journalOf(state)).equals(before)).toBe(true);
  });

  it.each<[string, (state: StateFolder) => void]>([
    ["removed", (state) => rmSync(indexOf(state))],
    ["empty", (state) => writeFileSync(indexOf(state), "")],
    ["binary", (state) => writeFileSync(indexOf(state), Buffer.from([0, 1, 10, 255]))],
    [
      "of another session",
      (state) =>
        writeFileSync(
          indexOf(state),
          '{"type":"turn","at":7}\n{"type":"start","at":9}\n{"type":"snapshot","kind":"usage_update","at":3,"bytes":20}\n',
        ),
    ],
    [
      "far ahead",
      (state) => appendFileSync(indexOf(state), '{"type":"turn","at":9000000}\n{"type":"start","at":8000000}\n'),
    ],
    ["torn", (state) => appendFileSync(indexOf(state), '{"type":"tu')],
  ])("shows whole frames when its index is %s", async (_, spoil) => {
    using state = new StateFolder();
    await record(state, frame(1), frame(2), frame(3));
    spoil(state);
    for (const n of [4, 5]) {
      await using writer = writerOf();
      const journal = writer.open(state.session());
      const shown = readAll(journal);
      const whole = Buffer.concat([1, 2, 3, 4].slice(0, n - 1).map((each) => frame(each)));
      expect(whole.subarray(whole.length - shown.length).equals(shown)).toBe(true);
      expect(whole.length === shown.length || whole[whole.length - shown.length - 1] === 0x0a).toBe(true);
      expect(journal.snapshot("usage_update")).toBeUndefined();
      journal.trim(journal.end);
      journal.append(frame(n));
    }
  });

  it("leaves no hole when it is cut right behind a batch, and takes what is put behind one for nobody's", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    for (let n = 0; n < 20; n++) {
      journal.append(frame(n));
      await batchWritten();
      if (n % 2 === 0) truncateSync(journalOf(state), n % 4);
      else appendFileSync(journalOf(state), n % 4 === 1 ? "\n" : "x");
      journal.append(frame(100 + n));
      await batchWritten();
      const kept = readFileSync(journalOf(state));
      expect(kept).not.toContain(0);
      expect(readAll(journal).equals(kept)).toBe(true);
      expect(kept.subarray(-frame(100 + n).length)).toEqual(frame(100 + n));
      expect(
        kept
          .toString()
          .split("\n")
          .slice(0, -1)
          .every((line) => JSON.parse(line) !== null),
      ).toBe(true);
    }
  });

  it("gives out no position twice when its file is gone", async () => {
    using state = new StateFolder();
    {
      await using writer = writerOf();
      const journal = writer.open(state.session());
      journal.append(frame(1));
      journal.turnBoundary();
    }
    rmSync(journalOf(state));
    await using writer = writerOf();
    const journal = writer.open(state.session());
    expect([journal.start, journal.end]).toEqual([frame(1).length, frame(1).length]);
    journal.append(frame(2));
    await batchWritten();
    expect(readAll(journal)).toEqual(frame(2));
  });

  it("keeps aside what others put in its place while it is in use, and goes on", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    journal.append(frame(1));
    await batchWritten();
    appendFileSync(journalOf(state), "hello\n");
    journal.append(frame(2));
    await batchWritten();
    expect(readAll(journal).equals(Buffer.concat([frame(1), frame(2)]))).toBe(true);
    expect(readFileSync(join(state.session().path, "journal.foreign-1"), "utf8")).toBe("hello\n");

    rmSync(journalOf(state));
    writeFileSync(journalOf(state), "another\n");
    // The name is not looked at with each batch.
    await new Promise((resolve) => setTimeout(resolve, 25));
    journal.append(frame(3));
    await batchWritten();
    expect(readAll(journal)).toEqual(frame(3));
    expect(readFileSync(join(state.session().path, "journal.foreign-2"), "utf8")).toBe("another\n");

    truncateSync(journalOf(state), 10);
    journal.append(frame(4));
    await batchWritten();
    expect(readAll(journal)).toEqual(frame(4));
    expect(journal.end).toBe(frame(1).length * 4);
    expect(journal.problem).toBeUndefined();
  });

  it("never leaves a reader without an end when its file cannot be read", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const journal = writer.open(state.session());
    journal.append(frame(1));
    await batchWritten();
    truncateSync(journalOf(state), 10);
    journal.append(frame(2));
    expect(journal.read(0, journal.end, 1000)).toEqual([]);
    expect(journal.start).toBe(frame(1).length);
    expect(readAll(journal)).toEqual(frame(2));
  });

  it("is made again, with the session's record, when its folder is removed", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const folder = state.session();
    folder.save(recordOf());
    const journal = writer.open(folder);
    journal.append(frame(1));
    await batchWritten();
    rmSync(folder.path, { recursive: true });
    journal.append(frame(2));
    await batchWritten();
    expect(readAll(journal)).toEqual(frame(2));
    expect(state.session().read().ok).toBe(true);
    expect(readFileSync(journalOf(state))).toEqual(frame(2));
    expect(writer.reports.join()).toContain("removed or replaced");
  });

  it("takes its time to be checked without holding back who cannot wait", async () => {
    using state = new StateFolder();
    const frames = Array.from({ length: 3000 }, (_, n) => frame(n, 500));
    await record(state, ...frames);
    appendFileSync(journalOf(state), frame("last"));
    await using writer = writerOf();
    const journal = writer.open(state.session());
    const ready = Promise.all([journal.prepare(), journal.prepare()]);
    journal.append(frame("new"));
    await ready;
    expect(readAll(journal, 0, 100_000).equals(Buffer.concat([...frames, frame("last"), frame("new")]))).toBe(true);
  });

  it("stays away once it was dropped", async () => {
    using state = new StateFolder();
    await using writer = writerOf();
    const folder = state.session();
    folder.save(recordOf());
    const journal = writer.open(folder);
    journal.append(frame(1));
    await writer.drop(journal);
    expect(folder.delete()).toEqual({ ok: true });
    journal.append(frame(2));
    journal.turnBoundary();
    journal.recordDecision({ approvalId: "a", result: "refused", by: "client", settledAt: 1 });
    await batchWritten();
    expect(existsSync(folder.path)).toBe(false);
  });
});
