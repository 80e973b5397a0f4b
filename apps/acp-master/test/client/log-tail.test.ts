import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lastLogLines, LogFollower } from "../../src/client/log-tail.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "acpm-log-"));
  file = join(folder, "master.ndjson");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("takes the last lines over the rotated files, oldest first", () => {
  writeFileSync(join(folder, "master.1.ndjson"), "a\nb\n");
  writeFileSync(file, "c\nd\n");
  const files = [file, join(folder, "master.1.ndjson"), join(folder, "master.2.ndjson")];
  expect(lastLogLines(files, 3)).toEqual(["b", "c", "d"]);
  expect(lastLogLines(files, 1)).toEqual(["d"]);
  expect(lastLogLines(files, 0)).toEqual([]);
});

test("follows the file, half lines and a rotation included", async () => {
  writeFileSync(file, "old\n");
  const lines: string[] = [];
  let wake: (() => void) | undefined;
  const have = async (count: number) => {
    while (lines.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  using _follower = new LogFollower(file, (line) => {
    lines.push(line);
    wake?.();
  });
  appendFileSync(file, "on");
  appendFileSync(file, "e\ntwo\n");
  await have(2);
  appendFileSync(file, "three\n");
  renameSync(file, join(folder, "master.1.ndjson"));
  writeFileSync(file, "four\n");
  await have(4);
  expect(lines).toEqual(["one", "two", "three", "four"]);
});

test("waits for a file that is not there yet", async () => {
  const first = new Promise<string>((resolve) => {
    const follower = new LogFollower(file, (line) => {
      follower[Symbol.dispose]();
      resolve(line);
    });
  });
  writeFileSync(file, "born\n");
  await expect(first).resolves.toBe("born");
});
