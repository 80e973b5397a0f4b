import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensurePrivateFolder, withUmask } from "../../src/daemon/private-folder.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acpm-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("ensurePrivateFolder()", () => {
  it("makes the folder and those above it 0700, whatever the mask", () => {
    const folder = join(root, "a", "b");
    expect(withUmask(0, () => ensurePrivateFolder(folder))).toEqual({ ok: true });
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect(lstatSync(join(root, "a")).mode & 0o777).toBe(0o700);
    expect(ensurePrivateFolder(folder)).toEqual({ ok: true });
  });

  it.each([0o755, 0o770, 0o701])("refuses a folder of mode %o, says how to close it, and leaves it", (mode) => {
    const folder = join(root, "open");
    mkdirSync(folder);
    chmodSync(folder, mode);
    const checked = ensurePrivateFolder(folder);
    expect(checked).toMatchObject({ ok: false, reason: "rights" });
    expect(checked.ok ? "" : checked.message).toContain(`chmod 700 '${folder}'`);
    expect(lstatSync(folder).mode & 0o777).toBe(mode);
  });

  it.runIf(process.getuid?.() === 0)("refuses a folder of another user", () => {
    const folder = join(root, "theirs");
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, 12_345, 12_345);
    expect(ensurePrivateFolder(folder)).toMatchObject({ ok: false, reason: "rights" });
  });

  it("refuses a symbolic link and a file", () => {
    mkdirSync(join(root, "real"), { mode: 0o700 });
    symlinkSync(join(root, "real"), join(root, "link"));
    writeFileSync(join(root, "file"), "");
    expect(ensurePrivateFolder(join(root, "link"))).toMatchObject({ ok: false, reason: "in_the_way" });
    expect(ensurePrivateFolder(join(root, "file"))).toMatchObject({ ok: false, reason: "in_the_way" });
    expect(ensurePrivateFolder(join(root, "file", "below"))).toMatchObject({ ok: false });
  });

  it("refuses a place below a folder that anybody can write, unless its sticky bit is set", () => {
    const above = join(root, "anybody");
    mkdirSync(above);
    chmodSync(above, 0o777);
    const checked = ensurePrivateFolder(join(above, "mine"));
    expect(checked).toMatchObject({ ok: false, reason: "rights" });
    expect(checked.ok ? "" : checked.message).toContain(`chmod o-w '${above}'`);
    chmodSync(above, 0o1777);
    expect(ensurePrivateFolder(join(above, "mine"))).toEqual({ ok: true });
  });
});
