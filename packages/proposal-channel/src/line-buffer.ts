// Cuts one direction of a connection into lines of bounded size. It decodes nothing.
import { maxFrameBytes } from "./limits.ts";

export type LineEvent = { readonly event: "line"; readonly line: Buffer } | { readonly event: "too_long" };

/**
 * A line ends with LF; one CR before it is dropped and neither counts for the limit. After `too_long` nothing more comes.
 *
 *     new LineBuffer().push(Buffer.from("a\r\nb"))  // [{ event: "line", line: <61> }]
 */
export class LineBuffer {
  readonly #maxBytes: number;
  #rest = Buffer.alloc(0);
  #isOver = false;

  constructor(maxBytes: number = maxFrameBytes) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): LineEvent[] {
    const events: LineEvent[] = [];
    let from = 0;
    while (!this.#isOver) {
      const at = chunk.indexOf(0x0a, from);
      const part = chunk.subarray(from, at < 0 ? undefined : at);
      if (at < 0) {
        // With room for a CR that the limit does not count.
        if (this.#rest.length + part.length > this.#maxBytes + 1) this.#overflow(events);
        else if (part.length > 0) this.#rest = Buffer.concat([this.#rest, part]);
        break;
      }
      const line = withoutCr(this.#rest.length === 0 ? Buffer.from(part) : Buffer.concat([this.#rest, part]));
      this.#rest = Buffer.alloc(0);
      from = at + 1;
      if (line.length > this.#maxBytes) this.#overflow(events);
      else events.push({ event: "line", line });
    }
    return events;
  }

  /** Bytes of a line that has no end yet. */
  get pendingBytes(): number {
    return this.#rest.length;
  }

  #overflow(events: LineEvent[]): void {
    this.#isOver = true;
    this.#rest = Buffer.alloc(0);
    events.push({ event: "too_long" });
  }
}

function withoutCr(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}
