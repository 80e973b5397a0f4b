// Unified diffs for people, against real files.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unifiedDiff, unifiedDiffOfFile } from "../../src/builder/unified-diff.ts";

const lines = (count: number, text = "line"): string =>
  Array.from({ length: count }, (_, n) => `${text} ${n}\n`).join("");

describe("unifiedDiff", () => {
  it("shows what changes with three lines around it", () => {
    const current = lines(9);
    const proposed = current.replace("line 4", "changed");
    expect(unifiedDiff({ file: "a.txt", current, proposed })).toBe(
      [
        "--- a.txt (current)",
        "+++ a.txt (proposed)",
        "@@ -2,7 +2,7 @@",
        " line 1",
        " line 2",
        " line 3",
        "-line 4",
        "+changed",
        " line 5",
        " line 6",
        " line 7",
      ].join("\n"),
    );
  });

  it("is blank when nothing changes", () => {
    expect(unifiedDiff({ file: "a", current: "x", proposed: "x" })).toBe("");
  });

  it("a change of white space only is made visible", () => {
    const diff = unifiedDiff({ file: "a", current: "if\n\tx\n", proposed: "if\n  x\r\n" });
    expect(diff).toContain("-→x");
    expect(diff).toContain("+··x␍");
    expect(unifiedDiff({ file: "a", current: "a b\n", proposed: "a c\n" })).toContain("+a c");
  });

  it("has at most 120 lines and says how many are missing", () => {
    const diff = unifiedDiff({ file: "a", current: lines(300), proposed: lines(300, "other") }).split("\n");
    expect(diff).toHaveLength(120);
    // 600 changed lines and one hunk header, of which 117 are shown.
    expect(diff.at(-1)).toBe("[484 more lines of this diff are not shown]");
  });

  it("compares 500 lines of each side and says how many are left out", () => {
    const current = lines(500);
    const diff = unifiedDiff({ file: "a", current, proposed: `${current}${lines(2)}` });
    expect(diff.split("\n")).toEqual([
      "--- a (current)",
      "+++ a (proposed)",
      "[2 more lines of the proposed file were not compared]",
    ]);
  });

  it("a file name with line breaks stays on its line", () => {
    expect(unifiedDiff({ file: "a\nb", current: "", proposed: "x" }).split("\n")[0]).toBe("--- a b (current)");
  });
});

describe("unifiedDiffOfFile", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "diff-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it("reads the file as it is at this moment", async () => {
    const path = join(folder, "a.txt");
    await writeFile(path, "one\n");
    expect(await unifiedDiffOfFile(path, "two\n")).toContain("-one\n+two");
    await writeFile(path, "zero\n");
    expect(await unifiedDiffOfFile(path, "two\n")).toContain("-zero\n+two");
  });

  it("takes a missing file for an empty one", async () => {
    expect(await unifiedDiffOfFile(join(folder, "new"), "two\n")).toContain("@@ -0,0 +1,1 @@\n+two");
  });

  it("is undefined where there is no file to read", async () => {
    expect(await unifiedDiffOfFile(folder, "two\n")).toBeUndefined();
  });
});
