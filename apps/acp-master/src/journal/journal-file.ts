// The file of one journal: which positions it holds, reads and writes at positions, and what to do when it is not as it
// was left. It keeps nothing in memory and knows no turns.

import { fstatSync, ftruncateSync, lstatSync, readSync, renameSync, type Stats, writevSync } from "node:fs";
import { copyAside, moveAside } from "./aside.ts";
import type { DescriptorCache, FileOwner, OpenedFile } from "./descriptor-cache.ts";
import { InTheWayError } from "./open-regular.ts";

const LF = 0x0a;
const SEARCH_BYTES = 64 * 1024;
/** So long may pass until another file in the place of an open one is noticed. */
const IDENTITY_MS = 20;

const TAIL = Buffer.alloc(2);

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

/** What somebody else did to the file while it was in use. */
export type Finding = "intact" | "lost" | { readonly keptAs: string; readonly lost: boolean };

export class JournalFile implements FileOwner {
  readonly path: string;
  /** Position of its first byte. */
  #base = 0;
  /** Position behind the last frame in it. */
  #written = 0;
  #identity: Identity | undefined;
  /** What stands behind the last frame is the beginning of one of ours and may go. */
  #torn = false;
  /** When the name was last seen to be the file's that is open. */
  #identifiedAt = Number.NEGATIVE_INFINITY;
  readonly #files: DescriptorCache;
  readonly #rested: () => void;

  constructor(path: string, files: DescriptorCache, rested: () => void) {
    this.path = path;
    this.#files = files;
    this.#rested = rested;
  }

  get base(): number {
    return this.#base;
  }

  get written(): number {
    return this.#written;
  }

  /** As it was found on disk. */
  found(base: number, goodBytes: number, torn: boolean, identity: Identity | undefined): void {
    this.#base = base;
    this.#written = base + goodBytes;
    this.#torn = torn;
    this.#identity = identity;
  }

  isSame(stat: Identity): boolean {
    return this.#identity?.ino === stat.ino && this.#identity.dev === stat.dev;
  }

  /** Opens it for writing, with nothing behind the last frame. When it is lost, `startOver` comes next. Throws the system's error. */
  makeReady(ensureFolder: () => void): Finding {
    const expected = this.#written - this.#base;
    if (this.#endsAt(expected)) return "intact";
    const stat = lstatSync(this.path, { throwIfNoEntry: false });
    if (stat === undefined) {
      if (expected > 0) return "lost";
      this.#files.close(this);
      ensureFolder();
      this.#identity = identityOf(this.#files.writing(this).stat);
      return "intact";
    }
    if (!stat.isFile()) throw new InTheWayError(`${this.path} is not a regular file`);
    if (stat.size < expected || (this.#identity !== undefined && !this.isSame(stat))) {
      return { keptAs: moveAside(this.path, this.#foreignStem), lost: true };
    }
    const opened = this.#files.writing(this);
    this.#identity ??= identityOf(opened.stat);
    this.#identifiedAt = performance.now();
    if (stat.size === expected) return "intact";
    const keptAs = this.#torn ? undefined : copyAside(this.path, expected, this.#foreignStem);
    ftruncateSync(opened.descriptor, expected);
    this.#torn = false;
    return keptAs === undefined ? "intact" : { keptAs, lost: false };
  }

  /**
   * Whether the open file, whose name was looked at just now, ends with a frame's end at `end`. To read that one byte costs a third
   * of the system's whole answer about a file.
   */
  #endsAt(end: number): boolean {
    const opened = this.#files.peek(this);
    if (opened?.writable !== true || performance.now() - this.#identifiedAt > IDENTITY_MS || end === 0) return false;
    try {
      return readSync(opened.descriptor, TAIL, 0, 2, end - 1) === 1 && TAIL[0] === LF;
    } catch {
      return false;
    }
  }

  /** All of it or, when it throws the system's error, nothing. */
  write(pieces: readonly Buffer[]): void {
    const { descriptor } = this.#files.writing(this);
    let rest = pieces;
    let position = this.#written - this.#base;
    try {
      while (rest.length > 0) {
        const count = writevSync(descriptor, rest, position);
        position += count;
        rest = behind(rest, count);
      }
      this.#written = this.#base + position;
    } catch (error) {
      this.#torn = true;
      ftruncateSync(descriptor, this.#written - this.#base);
      throw error;
    }
  }

  /** Whole frames from `from` on, at least one and then up to `maxBytes` or `to`; undefined: they cannot be read. */
  read(from: number, to: number, maxBytes: number): Buffer | undefined {
    const most = Math.min(to, this.#written) - from;
    for (let length = Math.min(most, maxBytes); ; length = Math.min(most, length * 2)) {
      const bytes = this.#bytesAt(from, length);
      if (bytes === undefined || length === most) return bytes;
      const end = bytes.lastIndexOf(LF) + 1;
      if (end > 0) return bytes.subarray(0, end);
    }
  }

  /** The first end of a frame at or after `position`; undefined: it cannot be read. */
  boundaryFrom(position: number): number | undefined {
    if (position <= this.#base) return this.#base;
    for (let at = position - 1; at < this.#written; at += SEARCH_BYTES) {
      const bytes = this.#bytesAt(at, Math.min(SEARCH_BYTES, this.#written - at));
      if (bytes === undefined) return undefined;
      const lineFeed = bytes.indexOf(LF);
      if (lineFeed >= 0) return at + lineFeed + 1;
    }
    return this.#written;
  }

  /** Another file, which holds [base, written), takes its place. */
  replaceBy(path: string, base: number, identity: Identity): void {
    this.#files.close(this);
    renameSync(path, this.path);
    this.#base = base;
    this.#identity = { dev: identity.dev, ino: identity.ino };
    this.#torn = false;
  }

  /** An empty file begins at `position`. What there is goes under `keepAs`, or is gone already. */
  startOver(position: number, keepAs?: string): void {
    this.#files.close(this);
    if (keepAs !== undefined && lstatSync(this.path, { throwIfNoEntry: false })?.isFile() === true) {
      renameSync(this.path, keepAs);
    }
    this.#base = position;
    this.#written = position;
    this.#identity = undefined;
    this.#torn = false;
  }

  /** By which it is known again if nobody changes it; undefined when it is not open or not as it should be. */
  mark(): { readonly bytes: number; readonly modified: string } | undefined {
    const opened = this.#files.peek(this);
    if (opened === undefined) return undefined;
    const stat = fstatSync(opened.descriptor, { bigint: true });
    const bytes = Number(stat.size);
    return bytes === this.#written - this.#base ? { bytes, modified: String(stat.mtimeNs) } : undefined;
  }

  close(): void {
    this.#files.close(this);
  }

  resting(): void {
    this.#rested();
  }

  get #foreignStem(): string {
    return this.path.replace(/ndjson$/, "foreign");
  }

  #bytesAt(position: number, length: number): Buffer | undefined {
    try {
      const { descriptor } = this.#reading();
      const bytes = Buffer.allocUnsafe(length);
      for (let done = 0; done < length;) {
        const count = readSync(descriptor, bytes, done, length - done, position - this.#base + done);
        if (count === 0) return undefined;
        done += count;
      }
      return bytes;
    } catch {
      return undefined; // the caller tells of it; the file itself is looked at again with the next writing
    }
  }

  #reading(): OpenedFile {
    const opened = this.#files.reading(this);
    if (this.#identity !== undefined && !this.isSame(opened.stat)) {
      this.#files.close(this);
      throw new InTheWayError(`${this.path} is another file`);
    }
    this.#identity ??= identityOf(opened.stat);
    return opened;
  }
}

function identityOf({ dev, ino }: Stats): Identity {
  return { dev, ino };
}

/** What is left of the pieces behind their first `count` bytes. */
function behind(pieces: readonly Buffer[], count: number): readonly Buffer[] {
  let done = count;
  for (const [index, piece] of pieces.entries()) {
    if (done < piece.length) return [piece.subarray(done), ...pieces.slice(index + 1)];
    done -= piece.length;
  }
  return [];
}
