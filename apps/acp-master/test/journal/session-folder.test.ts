import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderName, SessionFolder, sessionsDir } from "../../src/journal/session-folder.ts";
import { recordOf, StateFolder } from "./state-folder.ts";

describe("SessionFolder", () => {
  it("stands at a place that no id can choose", () => {
    using state = new StateFolder();
    for (const id of ["../../etc/passwd", "/etc/passwd", "a/b", "", ".", "..", "x\0y", "é", "a".repeat(10_000)]) {
      const folder = new SessionFolder(state.path, "demo", id);
      expect(folder.path).toMatch(/\/sessions\/[0-9a-f]{32}$/);
      expect(folder.path.startsWith(join(state.path, "sessions"))).toBe(true);
      expect(folder.save(recordOf(id))).toEqual({ ok: true });
      expect(new SessionFolder(state.path, "demo", id).read()).toEqual({ ok: true, record: recordOf(id) });
    }
    expect(readdirSync(state.path)).toEqual(["sessions"]);
    expect(folderName("a", "b")).toBe("59b271ae1bbcb1d31d41929817f4b16f");
    expect(folderName("a", "bc")).not.toBe(folderName("ab", "c"));
  });

  it("keeps its record and its folder for the owner alone", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder.path, "session.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path)).toEqual(["session.json"]);
  });

  it("replaces its record as a whole and does not write through a second name of it", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    const second = join(state.path, "second");
    linkSync(join(folder.path, "session.json"), second);
    const before = readFileSync(second);
    folder.save({ ...recordOf(), preset: "deny-all", state: "parked" });
    expect(readFileSync(second)).toEqual(before);
    expect(state.session().read()).toMatchObject({ ok: true, record: { preset: "deny-all", state: "parked" } });
  });

  it("reports a record that it cannot read and leaves it as it is", () => {
    using state = new StateFolder();
    const folder = state.session();
    expect(folder.read()).toMatchObject({ ok: false, reason: "absent" });
    folder.save(recordOf());
    const path = join(folder.path, "session.json");
    for (const bytes of [
      "",
      "{",
      "null",
      "[]",
      '{"sessionId":1}',
      Buffer.from([0xff, 0, 1]),
      Buffer.alloc(2_000_000, 0x20),
    ]) {
      writeFileSync(path, bytes);
      const read = folder.read();
      expect(read).toMatchObject({ ok: false, reason: "unreadable" });
      expect(read.ok ? "" : read.message).toContain(path);
      expect(readFileSync(path).equals(Buffer.from(bytes))).toBe(true);
    }
    rmSync(path);
    mkdirSync(path);
    expect(folder.read()).toMatchObject({ ok: false, reason: "unreadable" });
    rmSync(path, { recursive: true });
    symlinkSync("/etc/passwd", path);
    expect(folder.read()).toMatchObject({ ok: false, reason: "unreadable" });
  });

  it("does not take the record of another session for its own", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    writeFileSync(join(folder.path, "session.json"), JSON.stringify(recordOf("other")));
    expect(folder.read()).toMatchObject({ ok: false, reason: "unreadable" });
  });

  it("gives no preset where the stored one cannot be read, and keeps the rest", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    for (const preset of [7, null, "", { value: "allow-all" }, ["ask"]]) {
      writeFileSync(join(folder.path, "session.json"), JSON.stringify({ ...recordOf(), preset }));
      expect(folder.read()).toEqual({ ok: true, record: { ...recordOf(), preset: undefined } });
    }
  });

  it("makes the folder again, with its record, when it was removed", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    rmSync(folder.path, { recursive: true });
    folder.ensure();
    expect(state.session().read()).toEqual({ ok: true, record: recordOf() });
  });

  it("says what to do when the record cannot be written", () => {
    using state = new StateFolder();
    writeFileSync(join(state.path, "sessions"), "in the way");
    const saved = state.session().save(recordOf());
    expect(saved.ok).toBe(false);
    expect(saved.ok ? "" : saved.message).toMatch(/session\.json cannot be written \(ENOTDIR|EEXIST\)/);
    expect(readFileSync(join(state.path, "sessions"), "utf8")).toBe("in the way");
  });

  it("is removed with all in it, and nothing that its links name", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    const other = join(state.path, "other");
    mkdirSync(other);
    writeFileSync(join(other, "kept"), "kept");
    symlinkSync(other, join(folder.path, "link"));
    symlinkSync(join(other, "kept"), join(folder.path, "journal.ndjson"));
    mkdirSync(join(folder.path, "deep"));
    writeFileSync(join(folder.path, "deep", "file"), "");
    expect(folder.delete()).toEqual({ ok: true });
    expect(folder.delete()).toEqual({ ok: true });
    expect(readdirSync(sessionsDir(state.path))).toEqual([]);
    expect(readFileSync(join(other, "kept"), "utf8")).toBe("kept");
  });

  it("leaves alone what stands in its place", () => {
    using state = new StateFolder();
    const folder = state.session();
    const other = join(state.path, "other");
    mkdirSync(other);
    writeFileSync(join(other, "session.json"), "kept");
    mkdirSync(sessionsDir(state.path));
    symlinkSync(other, folder.path);
    expect(folder.delete().ok).toBe(false);
    expect(folder.save(recordOf()).ok).toBe(false);
    expect(readFileSync(join(other, "session.json"), "utf8")).toBe("kept");
    rmSync(folder.path);
    writeFileSync(folder.path, "a file");
    expect(folder.delete().ok).toBe(false);
    expect(existsSync(folder.path)).toBe(true);
  });

  it("narrows the rights of its record on the next save", () => {
    using state = new StateFolder();
    const folder = state.session();
    folder.save(recordOf());
    chmodSync(join(folder.path, "session.json"), 0o644);
    folder.save(recordOf());
    expect(statSync(join(folder.path, "session.json")).mode & 0o777).toBe(0o600);
  });
});
