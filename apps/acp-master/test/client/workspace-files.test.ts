import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WorkspaceFiles } from "../../src/client/workspace-files.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acpm-files-"));
  root = join(base, "root");
  mkdirSync(root);
  mkdirSync(join(base, "root-sibling"));
  writeFileSync(join(base, "secret"), "secret");
});
afterEach(() => rmSync(base, { recursive: true }));

test("reads whole files and parts by lines", async () => {
  const files = await WorkspaceFiles.open(root);
  writeFileSync(join(root, "a.txt"), "1\n2\n3\n4");
  expect(await files.read(join(root, "a.txt"))).toBe("1\n2\n3\n4");
  expect(await files.read(join(root, "a.txt"), { line: 2, limit: 2 })).toBe("2\n3\n");
  expect(await files.read(join(root, "a.txt"), { line: 4, limit: null })).toBe("4");
});

test("writes new files with their folders and replaces old content", async () => {
  const files = await WorkspaceFiles.open(root);
  await files.write(join(root, "new/deep/b.txt"), "long content");
  await files.write(join(root, "new/deep/b.txt"), "short");
  expect(readFileSync(join(root, "new/deep/b.txt"), "utf8")).toBe("short");
});

test("refuses every way out of the folder, and leaves what is outside as it is", async () => {
  const files = await WorkspaceFiles.open(root);
  symlinkSync(base, join(root, "out"));
  symlinkSync(join(base, "secret"), join(root, "link"));
  symlinkSync(join(base, "not-there"), join(root, "dangling"));
  for (const path of ["../secret", "out/secret", "link", "../root-sibling/x", "out/new"]) {
    await expect(files.read(join(root, path)), path).rejects.toMatchObject({ problem: "outside" });
    await expect(files.write(join(root, path), "x"), path).rejects.toMatchObject({ problem: "outside" });
  }
  await expect(files.write(join(root, "dangling"), "x")).rejects.toMatchObject({ name: "WorkspaceFileError" });
  await expect(files.read("a.txt")).rejects.toMatchObject({ problem: "not_absolute" });
  expect(readFileSync(join(base, "secret"), "utf8")).toBe("secret");
});

test("says what kind of problem a path has", async () => {
  const files = await WorkspaceFiles.open(root);
  await expect(files.read(join(root, "none"))).rejects.toMatchObject({ problem: "not_found" });
  await expect(files.read(root)).rejects.toMatchObject({ problem: "not_a_file" });
});

test("serves its folder when another one does not exist, and nothing when its own is gone", async () => {
  const files = await WorkspaceFiles.open(root, join(base, "none"));
  await files.write(join(root, "a.txt"), "1");
  expect(await files.read(join(root, "a.txt"))).toBe("1");
  await expect(files.write(join(base, "none", "b.txt"), "1")).rejects.toMatchObject({ problem: "outside" });
  await expect(WorkspaceFiles.open(join(base, "none"), root)).rejects.toMatchObject({ problem: "not_found" });
});
