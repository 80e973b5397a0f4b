// One open file of the decision record: private, regular, and the one that its path names. It follows no link and opens no device.
import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  writeSync,
} from "node:fs";

/** Something that is not a regular file stands where the record should be; it is left alone. */
export class NotAFileError extends Error {
  readonly code = "not_a_file";
}

/** Throws the system's error. Synchronous, but for `syncSoon`. */
export class OpenFile implements Disposable {
  readonly path: string;
  readonly #descriptor: number;
  readonly #device: bigint;
  readonly #inode: bigint;
  #size: number;
  #syncing = false;
  #syncAgain = false;
  #closed = false;

  constructor(path: string, how: "append" | "overwrite") {
    // Looked at first: opening a pipe or a device can block or have effects.
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw new NotAFileError(`${path} is not a regular file`);
    const access = how === "append" ? constants.O_WRONLY | constants.O_APPEND : constants.O_RDWR;
    const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    this.path = path;
    this.#descriptor = openSync(path, access | constants.O_CREAT | careful, 0o600);
    try {
      const stat = fstatSync(this.#descriptor, { bigint: true });
      if (!stat.isFile()) throw new NotAFileError(`${path} is not a regular file`);
      if ((stat.mode & 0o077n) !== 0n) fchmodSync(this.#descriptor, 0o600);
      this.#device = stat.dev;
      this.#inode = stat.ino;
      this.#size = Number(stat.size);
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the path still names this file and nobody else has made it longer or shorter. */
  unchanged(): boolean {
    const stat = lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    return stat?.ino === this.#inode && stat.dev === this.#device && stat.size === BigInt(this.#size);
  }

  /** All or nothing, as far as the disk allows: what was written of a failed append is cut off again. */
  append(bytes: Buffer, durable: boolean): void {
    const before = this.#size;
    try {
      for (let from = 0; from < bytes.length;) from += writeSync(this.#descriptor, bytes, from);
      if (durable) fdatasyncSync(this.#descriptor);
      this.#size = before + bytes.length;
    } catch (error) {
      try {
        ftruncateSync(this.#descriptor, before);
      } catch {
        // A torn line stays; the next opening marks it.
      }
      throw error;
    }
  }

  /** Puts `bytes` over the file's beginning; it must always be of one length. */
  overwrite(bytes: Buffer, durable: boolean): void {
    writeSync(this.#descriptor, bytes, 0, bytes.length, 0);
    this.#size = Math.max(this.#size, bytes.length);
    if (durable) fdatasyncSync(this.#descriptor);
  }

  /** Off the event loop; `failed` may be called after the file was closed. */
  syncSoon(failed: (error: Error) => void): void {
    if (this.#closed) return;
    if (this.#syncing) {
      this.#syncAgain = true;
      return;
    }
    this.#syncing = true;
    fdatasync(this.#descriptor, (error) => {
      this.#syncing = false;
      if (error) failed(error);
      if (this.#closed) closeSync(this.#descriptor);
      else if (this.#syncAgain) {
        this.#syncAgain = false;
        this.syncSoon(failed);
      }
    });
  }

  /** Flushes, then closes. Closing twice is fine. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      fdatasyncSync(this.#descriptor);
    } catch {
      // The disk fails; whoever appended last has been told or will be at the next append.
    }
    if (!this.#syncing) closeSync(this.#descriptor);
  }
}
