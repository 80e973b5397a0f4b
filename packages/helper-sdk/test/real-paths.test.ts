// Where paths really lead.
import { join } from "node:path";
import { expect, test } from "vitest";
import { isInside, realPath } from "../src/real-paths.ts";
import { Folder } from "./request-bench.ts";

test("a path is followed as the system would, a new file at its nearest parent", () => {
  using folder = new Folder();
  const { cwd, top } = folder;
  expect(realPath("inner.txt", cwd)).toBe(join(cwd, "inner.txt"));
  expect(realPath("new/deep/file", cwd)).toBe(join(cwd, "new/deep/file"));
  expect(realPath("notes.txt", cwd)).toBe(join(top, "outside/key"));
  expect(realPath("linked/new", cwd)).toBe(join(top, "outside/deep/new"));
  expect(realPath("linked/../key", cwd)).toBe(join(top, "outside/key")); // joined as text it would be inside
  expect(realPath("./docs/../inner.txt", cwd)).toBe(join(cwd, "inner.txt"));
  expect(realPath(join(top, "way-in/x"), cwd)).toBe(join(cwd, "docs/x"));
});

test.each([
  "",
  " inner.txt",
  "inner.txt ",
  "file:///etc/passwd",
  "~/x",
  "$HOME/x",
  "a\nb",
  "a\u0000b",
  "dead",
  "inner.txt/x",
  "new/../../x",
])("%j leads nowhere that can be told", (path) => {
  using folder = new Folder();
  expect(realPath(path, folder.cwd)).toBe(undefined);
});

test("inside is compared by parts", () => {
  expect(isInside("/a/b", "/a/b")).toBe(true);
  expect(isInside("/a/b/..c", "/a/b")).toBe(true);
  expect(isInside("/a/bc", "/a/b")).toBe(false);
  expect(isInside("/a", "/a/b")).toBe(false);
  expect(isInside("/", "/a/b")).toBe(false);
});
