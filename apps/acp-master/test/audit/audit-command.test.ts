import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundled } from "../bundled.ts";
import { AuditFolder } from "./audit-folder.ts";

let programs = "";
let program = "";
beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "acpm-audit-"));
  program = bundled(import.meta.url, "verify", programs);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

function verify(folder: AuditFolder, ...args: string[]) {
  return spawnSync(process.execPath, [program, "audit", "verify", ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ACP_MASTER_HOME: folder.root },
  });
}

describe("acp-master audit verify", () => {
  it("prints ok with its counts and ends with 0", () => {
    using folder = new AuditFolder();
    folder.record(3);
    expect(verify(folder)).toMatchObject({
      status: 0,
      stdout: `ok  3 records in 1 file, ${folder.stateDir}\n`,
      stderr: "",
    });
  });

  it("prints each problem with its file and line and ends with 1", () => {
    using folder = new AuditFolder();
    folder.record(3);
    folder.rewrite((lines) => lines.filter((_, at) => at !== 1));
    const { status, stdout, stderr } = verify(folder);
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain(`${folder.current}:2: record 2 is missing before this line\n`);
    expect(stderr).toContain("1 problem, 2 records read.");
  });

  it("ends with 1 where there is no record", () => {
    using folder = new AuditFolder();
    expect(verify(folder)).toMatchObject({ status: 1, stderr: expect.stringContaining("there is no decision record") });
  });

  it("prints the same as JSON", () => {
    using folder = new AuditFolder();
    folder.record(2);
    const whole = verify(folder, "--json");
    expect(whole.status).toBe(0);
    expect(JSON.parse(whole.stdout)).toEqual({ ok: true, records: 2, files: 1, problems: [], notices: [] });
    folder.rewrite((lines) => lines.slice(0, 1));
    const cut = verify(folder, "--json");
    expect(cut.status).toBe(1);
    expect(JSON.parse(cut.stdout)).toMatchObject({
      ok: false,
      problems: [{ file: folder.current, line: 1, what: "record 2 is cut off the end" }],
    });
  });
});
