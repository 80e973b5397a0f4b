// What the clients of one session saw, in order: whole frames, each with its LF. Positions are byte offsets that only
// grow; clients are cursors on them. This one keeps a bounded tail in memory.

/** Where a session's frames are kept. Append is synchronous and returns the position behind the frames. */
export interface SessionLog {
  /** First position that can still be read. */
  readonly start: number;
  /** Position behind the last frame. */
  readonly end: number;
  /** Takes a copy. `frames` is one or more whole frames, LF included. Returns the new end. */
  append(frames: Buffer): number;
  /** The frames from `from` (a frame boundary) on: at least one append, then whole appends up to `maxBytes` or `to`. */
  read(from: number, to: number, maxBytes: number): Buffer[];
  /** Marks the current end as a turn boundary; only whole turns are forgotten, never past `keepFrom`. */
  trim(keepFrom: number): void;
  turnBoundary(): void;
}

interface Entry {
  readonly position: number;
  readonly bytes: Buffer;
}

export class MemoryLog implements SessionLog {
  #entries: Entry[] = [];
  #boundaries: number[] = [];
  #start = 0;
  #end = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  append(frames: Buffer): number {
    this.#entries.push({ position: this.#end, bytes: Buffer.from(frames) });
    this.#end += frames.length;
    return this.#end;
  }

  read(from: number, to: number, maxBytes: number): Buffer[] {
    const found: Buffer[] = [];
    let bytes = 0;
    for (let i = this.#indexOf(from); i < this.#entries.length; i++) {
      const entry = this.#entries[i]!;
      if (entry.position >= to || (bytes > 0 && bytes + entry.bytes.length > maxBytes)) break;
      // A run of frames may have been appended as one; a cursor can stand inside it, at a frame boundary.
      const slice = entry.bytes.subarray(
        Math.max(0, from - entry.position),
        Math.min(entry.bytes.length, to - entry.position),
      );
      found.push(slice);
      bytes += slice.length;
    }
    return found;
  }

  turnBoundary(): void {
    if (this.#boundaries.at(-1) !== this.#end) this.#boundaries.push(this.#end);
  }

  trim(keepFrom: number): void {
    if (this.#end - this.#start <= this.#maxBytes) return;
    const excess = this.#end - this.#maxBytes;
    // The first boundary that frees enough, or the last one that may go.
    let cut = this.#start;
    for (const boundary of this.#boundaries) {
      if (boundary > keepFrom) break;
      cut = boundary;
      if (boundary >= excess) break;
    }
    // One endless turn must not hold everything: far over the bound, frames go without waiting for its end.
    if (this.#end - cut > 4 * this.#maxBytes) cut = Math.max(cut, this.#appendBefore(Math.min(keepFrom, excess)));
    if (cut === this.#start) return;
    this.#entries.splice(0, this.#indexOf(cut));
    this.#boundaries = this.#boundaries.filter((boundary) => boundary > cut);
    this.#start = cut;
  }

  #appendBefore(position: number): number {
    return this.#entries[this.#indexOf(position)]?.position ?? this.#start;
  }

  /** Index of the entry that holds `position`; the number of entries at the end. */
  #indexOf(position: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries[middle]!;
      if (entry.position + entry.bytes.length <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
