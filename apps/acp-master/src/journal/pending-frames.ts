// The end of a journal that is not in its file yet: whole frames in memory, in a few large pieces. It writes nothing.

const LF = 0x0a;
const FIRST_PIECE_BYTES = 4 * 1024;
const MAX_PIECE_BYTES = 256 * 1024;
/** Frames of so many bytes are a piece as they are: to copy them costs more than a piece. */
const OWN_PIECE_BYTES = 16 * 1024;

interface Piece {
  /** Copied into it, with room for more. */
  readonly copied: boolean;
  /** Position of its first byte. */
  start: number;
  bytes: Buffer;
  used: number;
}

export class PendingFrames {
  #pieces: Piece[] = [];
  #stays = false;
  #start: number;
  #end: number;

  constructor(position: number) {
    this.#start = position;
    this.#end = position;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** They cannot be written for now: from here on until all are gone none keeps much more memory alive than it has bytes. */
  stay(): void {
    this.#stays = true;
    for (const piece of this.#pieces) if (!isMostOfItsBuffer(piece.bytes)) piece.bytes = Buffer.from(piece.bytes);
  }

  /** Takes a copy of what is short, or keeps a larger buffer alive for long. The bytes of the rest must not change any more. */
  append(frames: Buffer): void {
    if (frames.length >= OWN_PIECE_BYTES && (!this.#stays || isMostOfItsBuffer(frames))) {
      this.#pieces.push({ copied: false, start: this.#end, bytes: frames, used: frames.length });
      this.#end += frames.length;
      return;
    }
    let piece = this.#pieces.at(-1);
    if (piece === undefined || piece.bytes.length - piece.used < frames.length) {
      // As much again as there is: one frame costs little, many cost few pieces. Between large ones there are few.
      const wanted = piece?.copied === false ? 0 : this.length;
      const room = Math.min(MAX_PIECE_BYTES, Math.max(FIRST_PIECE_BYTES, wanted));
      piece = { copied: true, start: this.#end, bytes: Buffer.allocUnsafe(Math.max(room, frames.length)), used: 0 };
      this.#pieces.push(piece);
    }
    piece.bytes.set(frames, piece.used);
    piece.used += frames.length;
    this.#end += frames.length;
  }

  /** Whole frames of [from, to), at least one and then up to `maxBytes`. `from` and `to` are frame boundaries. */
  read(from: number, to: number, maxBytes: number): Buffer[] {
    const found: Buffer[] = [];
    let room = maxBytes;
    for (const piece of this.#pieces) {
      if (piece.start >= to) break;
      if (piece.start + piece.used <= from) continue;
      const bytes = piece.bytes.subarray(Math.max(0, from - piece.start), Math.min(piece.used, to - piece.start));
      const part = bytes.length <= room ? bytes : wholeFrames(bytes, room, found.length === 0);
      if (part.length > 0) found.push(part);
      room -= part.length;
      if (part.length < bytes.length) break;
    }
    return found;
  }

  /** All of it, each piece beginning and ending with a frame's end. */
  get pieces(): readonly Buffer[] {
    return this.#pieces.map((piece) => piece.bytes.subarray(0, piece.used));
  }

  /** Forgets the pieces that lie before `position` as a whole; the first that does not stays from there on. */
  forget(position: number): void {
    let gone = 0;
    for (const piece of this.#pieces) {
      if (piece.start + piece.used > position) break;
      gone++;
    }
    this.#pieces.splice(0, gone);
    if (this.#pieces.length === 0) this.#stays = false;
    const first = this.#pieces[0];
    if (first !== undefined && first.start < position) {
      first.bytes = first.bytes.subarray(position - first.start);
      first.used -= position - first.start;
      first.start = position;
    }
    this.#start = Math.min(Math.max(this.#start, position), this.#end);
  }

  /** Goes on at a position further on, with nothing before it. */
  skipTo(position: number): void {
    this.#pieces = [];
    this.#stays = false;
    this.#start = position;
    this.#end = position;
  }

  /** The first end of a frame at or after `position`. */
  boundaryFrom(position: number): number {
    if (position <= this.#start) return this.#start;
    for (const piece of this.#pieces) {
      if (position > piece.start + piece.used) continue;
      const lineFeed = piece.bytes.indexOf(LF, position - piece.start - 1);
      return piece.start + lineFeed + 1;
    }
    return this.#end;
  }
}

function isMostOfItsBuffer(bytes: Buffer): boolean {
  return bytes.length * 4 >= bytes.buffer.byteLength * 3;
}

/** Frames at the beginning of `bytes` that fit in `room`; the first one also when it does not, if `atLeastOne`. */
function wholeFrames(bytes: Buffer, room: number, atLeastOne: boolean): Buffer {
  const last = room > 0 ? bytes.lastIndexOf(LF, room - 1) : -1;
  if (last >= 0) return bytes.subarray(0, last + 1);
  return bytes.subarray(0, atLeastOne ? bytes.indexOf(LF) + 1 : 0);
}
