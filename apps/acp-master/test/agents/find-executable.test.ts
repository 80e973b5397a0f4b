// Which file a command name means.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findExecutable, searchPath } from "../../src/agents/find-executable.ts";

const folder = mkdtempSync(join(tmpdir(), "find-"));
const file = (name: string, mode = 0o755) => {
  writeFileSync(join(folder, name), "");
  chmodSync(join(folder, name), mode);
  return join(folder, name);
};
afterAll(() => rmSync(folder, { recursive: true }));

it("a name is looked up in the folders of PATH in order; what cannot be run is passed over", () => {
  const tool = file("tool");
  file("plain", 0o644);
  mkdirSync(join(folder, "directory"));
  const environment = { PATH: `/nowhere::relative:${folder}` };
  expect(findExecutable("tool", { environment })).toBe(tool);
  for (const name of ["plain", "directory", "absent"]) expect(findExecutable(name, { environment })).toBeUndefined();
  expect(findExecutable("tool", { environment: {} })).toBeUndefined();
});

it("a path is taken as it is", () => {
  const tool = file("by-path");
  expect(findExecutable(tool, { environment: {} })).toBe(tool);
  expect(findExecutable(join(folder, "absent"), { environment: {} })).toBeUndefined();
});

it("on Windows the endings of PATHEXT are tried, unless the name has one", () => {
  const place = { environment: { Path: folder, PATHEXT: ".EXE;.CMD" }, platform: "win32" } as const;
  const shim = file("shim.cmd", 0o644);
  file("bare", 0o755);
  expect(findExecutable("shim", place)).toBe(shim);
  expect(findExecutable("shim.cmd", place)).toBe(shim);
  expect(findExecutable("bare", place)).toBeUndefined();
});

it("PATH is found whatever its case is", () => {
  expect(searchPath({ Path: "C:\\bin" })).toBe("C:\\bin");
  expect(searchPath({})).toBe("");
});
