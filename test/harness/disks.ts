// Disks that are full, read-only or away: small ones in memory, and folders that are closed for writing, mounted for one
// test. Needs the rights of root.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TRIES = 20;

const run = (...args: string[]): boolean => spawnSync(args[0]!, args.slice(1), { stdio: "ignore" }).status === 0;

function mount(...args: string[]): void {
  if (!run("mount", ...args)) throw new Error(`mount ${args.join(" ")} failed`);
}

/** Lazily where somebody still uses it: no mount must stay behind. */
function unmount(path: string): void {
  if (!run("umount", path)) run("umount", "-l", path);
}

export class SmallDisk implements Disposable {
  readonly path: string;
  readonly #bytes: number;

  /** `path`: where it is to be, made if it is not there; what is there already is hidden. */
  constructor(bytes: number, path = mkdtempSync(join(tmpdir(), "acpm-disk-"))) {
    this.path = path;
    this.#bytes = bytes;
    mkdirSync(path, { recursive: true });
    mount("-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "tmpfs", path);
  }

  /** Leaves no room on it. */
  fill(): void {
    try {
      writeFileSync(this.#ballast, Buffer.alloc(this.#bytes));
    } catch {
      // as full as it gets
    }
  }

  free(): void {
    rmSync(this.#ballast);
  }

  remount(how: "ro" | "rw"): void {
    mount("-o", `remount,${how}`, this.path);
  }

  get #ballast(): string {
    return join(this.path, "ballast");
  }

  [Symbol.dispose](): void {
    unmount(this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Nothing in the folder can be opened for writing until it is disposed; files that are open stay so. */
export class ReadOnlyFolder implements Disposable {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    // A file that the daemon opens between the two keeps the second from its end; the next try has another mount.
    for (let left = TRIES; left > 0; left--) {
      mount("--bind", path, path);
      if (run("mount", "-o", "remount,bind,ro", path)) return;
      unmount(path);
    }
    throw new Error(`${path} cannot be closed for writing`);
  }

  [Symbol.dispose](): void {
    unmount(this.#path);
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
