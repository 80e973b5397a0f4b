import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startLockWithin, tryFileLock, tryStartLock, within } from "../../src/daemon/start-lock.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acpm-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("tryStartLock()", () => {
  it("gives the lock to one, and the word of the holder to those who wait", async () => {
    const first = await tryStartLock(root, "start");
    const second = await tryStartLock(root, "start");
    if (!first.held || second.held) throw new Error("not exclusive");
    // The waiter is heard once it was accepted.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    first.lock.release("it failed");
    expect(await within(second, 5000)).toBe("it failed");
    const third = await startLockWithin(root, "start", 5000);
    expect(third).toBeDefined();
    third?.release();
    third?.release();
  });

  it("keeps locks of different purposes and folders apart", async () => {
    const locks = await Promise.all([
      tryStartLock(root, "start"),
      tryStartLock(root, "open"),
      tryStartLock(join(root, "other"), "start"),
    ]);
    expect(locks.map(({ held }) => held)).toEqual([true, true, true]);
    for (const attempt of locks) if (attempt.held) attempt.lock.release();
  });

  it("gives up after its time while the holder lives", async () => {
    const held = await tryStartLock(root, "open");
    expect(await startLockWithin(root, "open", 50)).toBeUndefined();
    if (held.held) held.lock.release();
  });
});

describe("tryFileLock()", () => {
  it("is exclusive, private and gone after its release", () => {
    const file = join(root, "open.lock");
    const first = tryFileLock(file);
    const second = tryFileLock(file);
    expect([first.held, second.held]).toEqual([true, false]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pid: process.pid });
    if (!second.held) second.stop();
    if (first.held) first.lock.release();
    expect(existsSync(file)).toBe(false);
  });

  it("takes over the file of a process that is gone, and no other", async () => {
    const child = spawn("true");
    await once(child, "exit");
    const file = join(root, "open.lock");
    writeFileSync(file, JSON.stringify({ pid: child.pid }));
    const taken = tryFileLock(file);
    expect(taken.held).toBe(true);
    if (taken.held) taken.lock.release();
    for (const content of ["", JSON.stringify({ pid: process.pid })]) {
      writeFileSync(file, content);
      const attempt = tryFileLock(file);
      expect(attempt.held).toBe(false);
      if (!attempt.held) attempt.stop();
      expect(readFileSync(file, "utf8")).toBe(content);
    }
  });
});
