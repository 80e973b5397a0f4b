// Disks that are full, read-only or away: small ones in memory, mounted for one test. Needs the rights of root.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const run = (...args: string[]): boolean => spawnSync(args[0]!, args.slice(1), { stdio: "ignore" }).status === 0;

export class SmallDisk implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "acpm-disk-"));

  constructor(bytes: number) {
    if (!run("mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", this.path)) throw new Error("mount failed");
  }

  remount(how: "ro" | "rw"): void {
    if (!run("mount", "-o", `remount,${how}`, this.path)) throw new Error(`remount ${how} failed`);
  }

  [Symbol.dispose](): void {
    run("umount", this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Why no disk can be mounted here; undefined: it can. */
export function whyNoDisk(): string | undefined {
  if (process.platform !== "linux") return "mounts are tried on Linux only";
  if (process.getuid?.() !== 0) return "mounting needs root";
  try {
    using _disk = new SmallDisk(1024 * 1024);
    return undefined;
  } catch {
    return "mounting is not allowed here";
  }
}
