import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listKeptSessions } from "../../src/journal/kept-sessions.ts";
import { folderName, sessionsDir } from "../../src/journal/session-folder.ts";
import { recordOf, StateFolder } from "./state-folder.ts";

describe("listKeptSessions", () => {
  it("finds nothing where nothing was kept", () => {
    using state = new StateFolder();
    expect(listKeptSessions(state.path)).toEqual({ records: [], problems: [] });
    expect(readdirSync(state.path)).toEqual([]);
  });

  it("lists a thousand sessions quickly", () => {
    using state = new StateFolder();
    for (let n = 0; n < 1000; n++) {
      const folder = state.session(`s${n}`);
      mkdirSync(folder.path, { recursive: true });
      writeFileSync(join(folder.path, "session.json"), JSON.stringify(recordOf(`s${n}`)));
    }
    const began = process.cpuUsage();
    const { records, problems } = listKeptSessions(state.path);
    const { user, system } = process.cpuUsage(began);
    const tookMs = (user + system) / 1000;
    console.log(`1,000 kept sessions listed in ${tookMs.toFixed(0)} ms of processor time`);
    expect(problems).toEqual([]);
    expect(new Set(records.map((record) => record.agentId)).size).toBe(1000);
    expect(tookMs).toBeLessThan(1000);
  });

  it("lists the readable ones, reports the others and ignores what is no session", () => {
    using state = new StateFolder();
    state.session("good").save(recordOf("good"));
    state.session("torn").save(recordOf("torn"));
    writeFileSync(join(state.session("torn").path, "session.json"), '{"sessionId":"to');
    mkdirSync(state.session("empty").path);
    writeFileSync(state.session("file").path, "");
    symlinkSync(state.session("good").path, state.session("link").path);
    state.session("moved").save(recordOf("moved"));
    writeFileSync(join(state.session("moved").path, "session.json"), JSON.stringify(recordOf("good")));
    mkdirSync(join(sessionsDir(state.path), "notes"));
    const { records, problems } = listKeptSessions(state.path);
    expect(records).toEqual([recordOf("good")]);
    expect(problems).toHaveLength(5);
    for (const name of ["torn", "empty", "file", "link", "moved"]) {
      expect(problems.filter((problem) => problem.includes(folderName("demo", name)))).toHaveLength(1);
    }
  });

  it("finishes a removal that was interrupted", () => {
    using state = new StateFolder();
    state.session().save(recordOf());
    const left = join(sessionsDir(state.path), `.removed-${folderName("demo", "gone")}`);
    mkdirSync(left);
    writeFileSync(join(left, "journal.ndjson"), "");
    expect(listKeptSessions(state.path).records).toHaveLength(1);
    expect(readdirSync(sessionsDir(state.path))).toEqual([folderName("demo", "s1")]);
  });
});
