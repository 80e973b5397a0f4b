import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { platformPlace, posixPlace, windowsPlace } from "../src/endpoint.ts";
import { instance } from "./channels.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "place-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function problem(path = folder): string {
  const checked = posixPlace.checkFolder(path);
  return checked.ok ? "" : checked.message;
}

test("the socket is named by the Helper's instance alone", () => {
  expect(posixPlace.path("/run/x", instance)).toEqual({ ok: true, path: `/run/x/${instance}.sock` });
});

test("a path of 103 bytes works and one of 104 does not", () => {
  const rest = 103 - `/${instance}.sock`.length;
  expect(posixPlace.path(`/${"d".repeat(rest - 1)}`, instance).ok).toBe(true);
  expect(posixPlace.path(`/${"d".repeat(rest)}`, instance)).toMatchObject({
    ok: false,
    message: expect.stringContaining("104 bytes"),
  });
  expect(posixPlace.path(`/${"é".repeat(rest / 2 + 1)}`, instance).ok).toBe(false);
  expect(posixPlace.path("", instance).ok).toBe(false);
});

test("a private folder of this user is fine", () => {
  expect(problem()).toBe("");
});

test.each([0o755, 0o770, 0o701, 0o600, 0o500, 0o777])("mode %o is refused with the remedy", (mode) => {
  chmodSync(folder, mode);
  expect(problem()).toContain(`chmod 700 '${folder}'`);
});

test("a link, a file, a missing folder and another user's folder are refused", () => {
  const link = join(folder, "link");
  mkdirSync(join(folder, "real"), { mode: 0o700 });
  symlinkSync(join(folder, "real"), link);
  expect(problem(link)).toContain("symbolic link");
  writeFileSync(join(folder, "file"), "");
  expect(problem(join(folder, "file"))).toContain("not a folder");
  expect(problem(join(folder, "none"))).toContain("ENOENT");
  // Whoever runs this, one of the two belongs to somebody else.
  const foreign = process.getuid?.() === 0 ? undefined : "/";
  if (foreign !== undefined) expect(problem(foreign)).toContain("belongs to user 0");
});

test("a folder below one that anybody can write is refused, unless that one is sticky", () => {
  const inner = join(folder, "open", "inner");
  mkdirSync(inner, { recursive: true, mode: 0o700 });
  chmodSync(join(folder, "open"), 0o777);
  expect(problem(inner)).toContain("Any user can write");
  chmodSync(join(folder, "open"), 0o1777);
  expect(problem(inner)).toBe("");
});

test("what is made while binding is closed to others from the start", () => {
  const path = join(folder, "made");
  const before = process.umask();
  posixPlace.bindPrivately(() => writeFileSync(path, "", { mode: 0o777 }));
  expect(lstatSync(path).mode & 0o777).toBe(0o700);
  expect(process.umask()).toBe(before);
  expect(() =>
    posixPlace.bindPrivately(() => {
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(process.umask()).toBe(before);
});

test("a file in the socket's place is not taken for it", () => {
  const path = join(folder, "x.sock");
  writeFileSync(path, "");
  expect(posixPlace.checkSocket(path)).toMatchObject({ ok: false, message: expect.stringContaining("not the socket") });
  expect(posixPlace.checkSocket(join(folder, "none")).ok).toBe(false);
});

test("on Windows there is a place but no proof, so proposals are off", () => {
  expect(platformPlace("win32")).toBe(windowsPlace);
  expect(platformPlace("linux")).toBe(posixPlace);
  expect(windowsPlace.checkFolder("x")).toMatchObject({ ok: false, message: expect.stringContaining("Windows") });
});
