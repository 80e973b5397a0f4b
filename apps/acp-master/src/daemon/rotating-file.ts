// A file that takes whole lines and never grows past its bound: the full one is renamed, the oldest removed. It never throws.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../config/error-code.ts";

export interface RotationBounds {
  readonly fileBytes: number;
  /** All files together, the one in use included. */
  readonly files: number;
}

/** After a failure (disk full, no rights) it tries again this much later, not at every line. */
const retryMs = 5000;

/**
 * Writes are synchronous, so a line that was written survives the process. `master.ndjson` is the file in use,
 * `master.1.ndjson` the one before it.
 */
export class RotatingFile implements Disposable {
  readonly path: string;
  readonly #bounds: RotationBounds;
  #descriptor: number | undefined;
  #size = 0;
  #retryAt = 0;
  #lost = 0;
  #problem: string | undefined;

  constructor(path: string, bounds: RotationBounds) {
    this.path = path;
    this.#bounds = bounds;
  }

  /** The code of the last failure, while it lasts. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Lines that could not be written. */
  get lostLines(): number {
    return this.#lost;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    try {
      const descriptor = this.#ready(bytes.length);
      if (descriptor === undefined) {
        this.#lost++;
        return;
      }
      this.#size += writeSync(descriptor, bytes);
      this.#problem = undefined;
    } catch (error) {
      this.#lost++;
      this.#problem = errorCode(error);
      this.#retryAt = Date.now() + retryMs;
      this.#close();
    }
  }

  [Symbol.dispose](): void {
    this.#retryAt = Infinity;
    this.#close();
  }

  #ready(bytes: number): number | undefined {
    if (this.#descriptor === undefined) {
      if (Date.now() < this.#retryAt) return undefined;
      this.#open();
    }
    if (this.#size > 0 && this.#size + bytes > this.#bounds.fileBytes) {
      this.#close();
      this.#shift();
      this.#open();
    }
    return this.#descriptor;
  }

  #open(): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    this.#descriptor = openSync(this.path, "a", 0o600);
    this.#size = fstatSync(this.#descriptor).size;
  }

  #shift(): void {
    for (let number = this.#bounds.files - 1; number >= 1; number--) {
      try {
        renameSync(number === 1 ? this.path : this.#numbered(number - 1), this.#numbered(number));
      } catch (error) {
        if (errorCode(error) !== "ENOENT") throw error;
      }
    }
  }

  #numbered(number: number): string {
    return this.path.replace(/(\.[^./]*)?$/, (extension) => `.${number}${extension}`);
  }

  #close(): void {
    if (this.#descriptor === undefined) return;
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    try {
      closeSync(descriptor);
    } catch {
      // A disk that is gone: the descriptor is free either way.
    }
  }
}
