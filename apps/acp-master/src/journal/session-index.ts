// A session's index.ndjson: appended to, and written anew from what it adds up to when it has grown or is not what it was.
// It decides nothing about the journal.

import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, readFileSync, renameSync, rmSync } from "node:fs";
import { errorCode } from "../config/error-code.ts";
import { copyAside, writeFully } from "./aside.ts";
import { decodeLine, encodeLine, type IndexLine, type SnapshotKind } from "./index-lines.ts";
import { IndexState } from "./index-state.ts";
import { APPEND, CREATE, openRegular, READ } from "./open-regular.ts";

/** An index shorter than this is never written anew for its length. */
const REWRITE_BYTES = 256 * 1024;
/** A longer one was not written by us. */
const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const MAX_WAITING = 1000;

export class SessionIndex {
  readonly path: string;
  readonly state = new IndexState();
  /** What was found amiss when it was read. */
  readonly problem: string | undefined;
  readonly #found: "absent" | "read" | "unreadable";
  /** Its length as we left it. */
  #bytes = 0;
  #rewriteAt = REWRITE_BYTES;
  /** What is in the file does not add up to the state. */
  #stale = false;
  /** Somebody else's bytes are in it. */
  #foreign = false;
  #waiting: IndexLine[] = [];
  /** Something else than marks of turns is waiting. */
  #urgent = false;
  readonly #kinds = new Set<SnapshotKind>();

  /** Reads what is there. Lines that are none of ours are passed over. */
  constructor(path: string) {
    this.path = path;
    try {
      const bytes = readIndex(path);
      this.#bytes = bytes?.length ?? 0;
      this.#found = bytes === undefined ? "absent" : "read";
      const unread = bytes === undefined ? 0 : this.#fold(bytes);
      if (unread > 0) this.problem = `${path} has ${unread} lines that are none of its own`;
    } catch (error) {
      this.#found = "unreadable";
      this.#foreign = true;
      this.problem = `${path} cannot be read (${errorCode(error)})`;
    }
    this.#stale = this.#foreign;
  }

  get wasRead(): boolean {
    return this.#found === "read";
  }

  /** Something is waiting to be written. */
  get isDirty(): boolean {
    return this.#stale || this.#waiting.length > 0 || this.#kinds.size > 0;
  }

  /** More than marks of turns, whose loss only costs a longer look at the journal, is waiting. */
  get isUrgent(): boolean {
    return this.#stale || this.#urgent;
  }

  /** Counts at once, and is written with the next flush. */
  note(line: IndexLine): void {
    this.state.apply(line);
    if (line.type !== "turn") this.#urgent = true;
    if (line.type === "start") this.#waiting = this.#waiting.filter(({ type }) => type !== "start");
    if (line.type === "snapshot") this.#kinds.add(line.kind);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(line);
    else this.mustRewrite();
  }

  /** Counts at once and is in the file when this returns; throws when it is not, and goes there with the next flush. */
  write(line: IndexLine): void {
    this.state.apply(line);
    if (this.#stale) return this.#rewrite();
    try {
      this.#append(encodeLine(line));
    } catch (error) {
      this.mustRewrite();
      throw error;
    }
  }

  /** The file no longer says what is so, and is written anew before anything else. */
  mustRewrite(): void {
    this.#stale = true;
    this.#forgetWaiting();
  }

  /** Throws the system's error; what waits then goes on waiting. */
  flush(): void {
    if (this.#stale || this.#bytes > this.#rewriteAt) return this.#rewrite();
    if (!this.isDirty) return;
    const lines = [...this.#waiting];
    for (const kind of this.#kinds) {
      const place = this.state.snapshots.get(kind);
      if (place) lines.push({ type: "snapshot", kind, at: place.position, bytes: place.length });
    }
    this.#append(lines.map(encodeLine).join(""));
    this.#forgetWaiting();
  }

  #forgetWaiting(): void {
    this.#waiting = [];
    this.#kinds.clear();
    this.#urgent = false;
  }

  /** Writes anew what is not as it should be, and only that. */
  settle(): void {
    if (this.#stale) this.#rewrite();
  }

  #fold(bytes: Buffer): number {
    const end = bytes.lastIndexOf(0x0a) + 1;
    let unread = 0;
    for (const text of bytes.toString("utf8", 0, end).split("\n")) {
      if (text === "") continue;
      const line = decodeLine(text);
      if (line) this.state.apply(line);
      else unread++;
    }
    if (unread > 0) this.#foreign = true;
    // A torn last line is ours: the next writing leaves it out.
    else if (end < bytes.length) this.#bytes = -1;
    return unread;
  }

  #append(text: string): void {
    const bytes = Buffer.from(text);
    const { descriptor, stat } = openRegular(this.path, APPEND);
    try {
      if (stat.size !== this.#bytes) {
        if (stat.size > Math.max(this.#bytes, 0) && this.#bytes >= 0) this.#foreign = true;
        this.mustRewrite();
        return this.#rewrite();
      }
      try {
        writeFully(descriptor, bytes, null);
      } catch (error) {
        ftruncateSync(descriptor, stat.size);
        throw error;
      }
      this.#bytes += bytes.length;
    } finally {
      closeSync(descriptor);
    }
  }

  #rewrite(): void {
    this.mustRewrite();
    if (this.#foreign && existsSync(this.path)) copyAside(this.path, 0, this.path.replace(/ndjson$/, "foreign"));
    this.#foreign = false;
    const next = `${this.path}.next`;
    rmSync(next, { force: true });
    const { descriptor } = openRegular(next, CREATE);
    const bytes = Buffer.from(this.state.lines().map(encodeLine).join(""));
    try {
      writeFully(descriptor, bytes, 0);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(next, this.path);
    this.#bytes = bytes.length;
    this.#rewriteAt = Math.max(REWRITE_BYTES, bytes.length * 4);
    this.#stale = false;
  }
}

function readIndex(path: string): Buffer | undefined {
  try {
    const { descriptor } = openRegular(path, READ);
    try {
      if (fstatSync(descriptor).size > MAX_INDEX_BYTES) throw Object.assign(new Error("too long"), { code: "EFBIG" });
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
