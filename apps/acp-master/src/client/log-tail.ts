// Reads the end of the daemon's log over its rotated files and follows it across rotations. It keeps at most the lines asked for.
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync, watch, type FSWatcher } from "node:fs";
import { errorCode } from "../config/error-code.ts";
import { basename, dirname } from "node:path";

/** The last `count` lines, oldest first. `files` are the log's files, newest first; those that are missing count as empty. */
export function lastLogLines(files: readonly string[], count: number): string[] {
  let lines: string[] = [];
  for (const file of files) {
    if (lines.length >= count) break;
    lines = [...linesOf(file), ...lines];
  }
  return count === 0 ? [] : lines.slice(-count);
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Delivers each line that is appended after the start, in order, also when the file is replaced by a new one. Its folder must exist. */
export class LogFollower implements Disposable {
  readonly #file: string;
  readonly #onLine: (line: string) => void;
  readonly #watcher: FSWatcher;
  #descriptor: number | undefined;
  #offset = 0;
  #partial: Buffer = Buffer.alloc(0);

  constructor(file: string, onLine: (line: string) => void) {
    this.#file = file;
    this.#onLine = onLine;
    this.#open();
    if (this.#descriptor !== undefined) this.#offset = fstatSync(this.#descriptor).size;
    this.#watcher = watch(dirname(file), (_event, name) => {
      if (name === null || name === basename(file)) this.#look();
    });
    // The folder was removed: nothing more will come, the caller ends by a signal.
    this.#watcher.on("error", () => this.#watcher.close());
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
    this.#close();
  }

  #look(): void {
    if (this.#descriptor === undefined) this.#open();
    this.#drain();
    if (!this.#wasReplaced()) return;
    this.#close();
    this.#open();
    this.#drain();
  }

  #wasReplaced(): boolean {
    if (this.#descriptor === undefined) return false;
    try {
      return statSync(this.#file).ino !== fstatSync(this.#descriptor).ino;
    } catch {
      return false; // between the rename and the new file: the next change tells
    }
  }

  #open(): void {
    try {
      this.#descriptor = openSync(this.#file, "r");
    } catch {
      this.#descriptor = undefined; // not there yet
    }
    this.#offset = 0;
    this.#partial = Buffer.alloc(0);
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #drain(): void {
    const chunk = Buffer.alloc(64 * 1024);
    // Whoever gets a line may dispose of the follower.
    while (this.#descriptor !== undefined) {
      const length = readSync(this.#descriptor, chunk, 0, chunk.length, this.#offset);
      if (length === 0) return;
      this.#offset += length;
      this.#deliver(Buffer.concat([this.#partial, chunk.subarray(0, length)]));
    }
  }

  #deliver(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
      if (end > start) this.#onLine(bytes.toString("utf8", start, end));
      start = end + 1;
    }
    this.#partial = bytes.subarray(start);
  }
}
