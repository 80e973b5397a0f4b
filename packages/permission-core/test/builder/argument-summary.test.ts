// The argument summary, row by row.
import { describe, expect, it } from "vitest";
import { argumentSummary } from "../../src/builder/argument-summary.ts";

describe("argumentSummary", () => {
  it.each([
    ["exec", { command: "python3", args: ["-V", 3, "x"] }, "python3 -V x"],
    ["shell.run", { command: "ls", args: "-l" }, "ls -l"],
    ["execute", { command: "ls" }, "ls"],
    ["local_shell", { command: " ", path: "p" }, "p"],
    ["exec", { command: ["ls"], url: "u" }, "u"],
    ["read_file", { path: "a", command: "c" }, "a"],
    ["read_file_range", { path: "a" }, "a"],
    ["write_file", { path: "a" }, "a"],
    ["edit_file", { path: "a" }, "a"],
    ["stat_file", { path: "a" }, "a"],
    ["list_dir", { path: "a" }, "a"],
    ["delete_file", { path: "", url: "u" }, "u"],
    ["grep", { pattern: "TODO", path: "src" }, "TODO in src"],
    ["grep", { pattern: "TODO" }, "TODO"],
    ["sed", { pattern: "s/a/b/", path: "src" }, "s/a/b/ in src"],
    ["sed", { path: "src", command: "c" }, "src"],
    ["fetch_url", { url: "u", path: "p" }, "u"],
    ["fetch", { url: "u" }, "u"],
    ["http_get", { url: "u" }, "u"],
    ["anything", { pattern: "x", url: "u", command: "c", path: "p" }, "p"],
    ["anything", { pattern: "x", url: "u", command: "c" }, "c"],
    ["anything", { pattern: "x", url: "u" }, "u"],
    ["anything", { pattern: "x" }, "x"],
    [undefined, { command: "c" }, "c"],
    ["anything", { other: "x" }, ""],
    ["anything", {}, ""],
    ["anything", undefined, ""],
  ])("%s with %o says %s", (toolName, args, summary) => {
    expect(argumentSummary(toolName, args)).toBe(summary);
  });

  it("the summary is cut at 80 code points, not in the middle of one", () => {
    const eighty = "😀".repeat(80);
    expect(argumentSummary("x", { path: eighty })).toBe(eighty);
    expect(argumentSummary("x", { path: `${eighty}a` })).toBe(`${"😀".repeat(77)}...`);
  });

  it("line breaks become spaces and the ends are trimmed", () => {
    expect(argumentSummary("x", { path: "\n a\r\nb\u2028c\rd \n" })).toBe("a b c d");
  });
});
