// Memory into which a stream is read piece by piece. What it hands on lies there as it came: the lines of several pieces side by side, and
// a line that comes in two pieces in one. It reads nothing itself, and never writes to what it handed on.

const LF = 0x0a;
const NOTHING = Buffer.alloc(0);
const SIZE = 192 * 1024;
/** Least that may be read at once. */
const ROOM = 64 * 1024;
/** So much of a line may wait here for its end; who cuts the stream into frames waits for that of a longer one. */
const MOST_HELD = 96 * 1024;
/** Up to here a copy costs less than new memory. */
const COPIED_BYTES = 16 * 1024;

export class LineMemory {
  private memory = Buffer.alloc(SIZE);
  /** Where the line begins whose end has not come. */
  private start = 0;
  private end = 0;

  /** Where the next bytes go: 64 KiB or more. */
  room(): Buffer {
    return this.memory.subarray(this.end);
  }

  /**
   * `count` bytes came to the beginning of the last room. Returns what is to be passed on: whole lines, behind them a piece of a
   * very long one, or nothing.
   */
  took(count: number): Buffer {
    const came = this.memory.subarray(this.end, this.end + count);
    const lineEnd = this.end + came.lastIndexOf(LF) + 1;
    const { start } = this;
    if (lineEnd > this.end) this.start = lineEnd;
    this.end += count;
    if (this.end - this.start > MOST_HELD) this.start = this.end;
    const ready = this.start === start ? NOTHING : this.passOn(start);
    if (SIZE - this.end < ROOM) this.renew();
    return ready;
  }

  /** The stream is over: the line that did not end. Nothing can be read any more. */
  rest(): Buffer {
    const rest = this.memory.subarray(this.start, this.end);
    this.memory = NOTHING;
    this.start = 0;
    this.end = 0;
    return rest;
  }

  /**
   * [from, start). What is moved or wiped here was never handed on itself: where a long piece was, a short one follows only in new memory.
   * Of it nothing stays here between two lines: an agent may say nothing more for hours. Only what came before the
   * beginning of a long line may stay until that has ended and the memory is full.
   */
  private passOn(from: number): Buffer {
    const lines = this.memory.subarray(from, this.start);
    const held = this.end - this.start;
    if (lines.length > COPIED_BYTES) {
      if (held <= COPIED_BYTES) this.renew();
      return lines;
    }
    const copy = Buffer.allocUnsafeSlow(lines.length);
    lines.copy(copy);
    if (held > COPIED_BYTES) {
      lines.fill(0);
      return copy;
    }
    this.memory.copyWithin(0, this.start, this.end);
    this.memory.fill(0, held, this.end);
    this.start = 0;
    this.end = held;
    return copy;
  }

  private renew(): void {
    const memory = Buffer.alloc(SIZE);
    this.memory.copy(memory, 0, this.start, this.end);
    this.memory = memory;
    this.end -= this.start;
    this.start = 0;
  }
}
