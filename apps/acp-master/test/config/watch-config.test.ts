import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { LoadedConfig } from "../../src/config/load-config.ts";
import { watchConfig } from "../../src/config/watch-config.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acpm-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Collects what the watch reports and hands it out one by one. */
function watched(file: string) {
  const reports: LoadedConfig[] = [];
  let wake: (() => void) | undefined;
  const watch = watchConfig(file, (loaded) => {
    reports.push(loaded);
    wake?.();
  });
  return {
    reports,
    async next(): Promise<LoadedConfig> {
      while (reports.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return reports.shift()!;
    },
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

const level = (name: string): string => JSON.stringify({ log: { level: name } });
const ok = (name: string) => ({ ok: true, config: { log: { level: name } } });

it("reports a change, a fault, and the way back, each once", async () => {
  const file = join(root, "config.json");
  writeFileSync(file, level("info"));
  using watch = watched(file);
  writeFileSync(file, level("debug"));
  expect(await watch.next()).toMatchObject(ok("debug"));
  writeFileSync(file, level("loud"));
  expect(await watch.next()).toMatchObject({ ok: false, problems: [{ path: "log.level" }] });
  writeFileSync(file, level("debug"));
  expect(await watch.next()).toMatchObject(ok("debug"));
  rmSync(file);
  expect(await watch.next()).toMatchObject(ok("info"));
  expect(watch.reports).toEqual([]);
});

it("follows editors that replace the file by renaming, again and again", async () => {
  const file = join(root, "config.json");
  writeFileSync(file, level("info"));
  using watch = watched(file);
  for (const name of ["debug", "warn", "error"]) {
    renameSync(file, `${file}~`);
    writeFileSync(join(root, ".swap"), level(name));
    renameSync(join(root, ".swap"), file);
    expect(await watch.next()).toMatchObject(ok(name));
  }
});

it("finds a file that is made later, with all its folders, and after these were replaced", async () => {
  const file = join(root, "a", "b", "c", "config.json");
  using watch = watched(file);
  mkdirSync(join(root, "a", "b", "c"), { recursive: true });
  writeFileSync(file, level("debug"));
  expect(await watch.next()).toMatchObject(ok("debug"));
  rmSync(join(root, "a"), { recursive: true });
  expect(await watch.next()).toMatchObject(ok("info"));
  mkdirSync(join(root, "a", "b", "c"), { recursive: true });
  writeFileSync(file, level("warn"));
  expect(await watch.next()).toMatchObject(ok("warn"));
});

it("follows a link to a file in another folder", async () => {
  mkdirSync(join(root, "dotfiles"));
  writeFileSync(join(root, "dotfiles", "real.json"), level("info"));
  symlinkSync(join(root, "dotfiles", "real.json"), join(root, "config.json"));
  using watch = watched(join(root, "config.json"));
  writeFileSync(join(root, "dotfiles", "real.json"), level("debug"));
  expect(await watch.next()).toMatchObject(ok("debug"));
});

it("reports the last of many changes in a row, and nothing that is the same again", async () => {
  const file = join(root, "config.json");
  using watch = watched(file);
  for (let n = 0; n < 50; n++) writeFileSync(file, level(n % 2 === 0 ? "debug" : "warn"));
  expect(await watch.next()).toMatchObject(ok("warn"));
  writeFileSync(file, level("warn"));
  writeFileSync(file, level("error"));
  expect(await watch.next()).toMatchObject(ok("error"));
  expect(watch.reports).toEqual([]);
});

it("is silent once disposed", async () => {
  const file = join(root, "config.json");
  const gone = watched(file);
  gone[Symbol.dispose]();
  using other = watched(file);
  writeFileSync(file, level("debug"));
  await other.next();
  expect(gone.reports).toEqual([]);
});
