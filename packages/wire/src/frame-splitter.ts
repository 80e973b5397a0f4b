// Cuts a byte stream into frames, one per line. Works on bytes alone: it decodes nothing and judges no content.
import { PartialLine } from "./partial-line.ts";
import { WireError } from "./wire-error.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const MARK_BYTES = 3;
const NOTHING = Buffer.alloc(0);

export interface FrameReceiver {
  /**
   * Called synchronously. The frame is `bytes[start, end)`; `bytes[end]` is always a line feed, so that
   * `bytes.subarray(start, end + 1)` can be written as it is. Consecutive frames of one chunk lie side by side in one
   * buffer unless a carriage return, a blank line or a byte order mark came between them.
   */
  frame(bytes: Buffer, start: number, end: number): void;
  /** A frame is longer than the limit. Nothing is delivered after it. */
  tooLong(limit: number): void;
}

export class FrameSplitter {
  private readonly limit: number;
  private readonly receiver: FrameReceiver;
  private readonly partial = new PartialLine();
  private stopped = false;

  constructor(maxFrameBytes: number, receiver: FrameReceiver) {
    if (!Number.isSafeInteger(maxFrameBytes) || maxFrameBytes < 1) {
      throw new WireError(
        "bad_limit",
        `The frame limit is ${maxFrameBytes}, it has to be a whole number of bytes above 0.`,
      );
    }
    this.limit = maxFrameBytes;
    this.receiver = receiver;
  }

  /** Bytes of a line whose end has not come yet. */
  get bufferedBytes(): number {
    return this.partial.length;
  }

  /** The chunk belongs to the splitter from here on: a carriage return at the end of a line is overwritten in place. */
  push(chunk: Buffer): void {
    let start = 0;
    while (!this.stopped) {
      const lineEnd = chunk.indexOf(LF, start);
      if (lineEnd === -1) {
        if (start < chunk.length) this.hold(start === 0 ? chunk : chunk.subarray(start));
        return;
      }
      if (this.partial.length === 0) {
        this.deliver(chunk, start, lineEnd);
      } else {
        const line = this.partial.join(chunk.subarray(start, lineEnd));
        this.deliver(line, 0, line.length - 1);
      }
      start = lineEnd + 1;
    }
  }

  /** End of input: what is left is one frame. */
  end(): void {
    if (this.partial.length > 0) {
      const line = this.partial.join(NOTHING);
      this.deliver(line, 0, line.length - 1);
    }
    this.stopped = true;
  }

  private hold(piece: Buffer): void {
    this.partial.add(piece);
    if (this.partial.length > this.limit && this.partial.length - this.uncountedBytes() > this.limit) this.stop();
  }

  /** A byte order mark and one carriage return belong to the line, not to the frame. */
  private uncountedBytes(): number {
    const line = this.partial;
    const mark = line.byteAt(0) === 0xef && line.byteAt(1) === 0xbb && line.byteAt(2) === 0xbf ? MARK_BYTES : 0;
    return mark + (line.byteAt(line.length - 1) === CR ? 1 : 0);
  }

  private deliver(bytes: Buffer, lineStart: number, lineEnd: number): void {
    let start = lineStart;
    let end = lineEnd;
    if (bytes[start] === 0xef && end - start >= MARK_BYTES && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) {
      start += MARK_BYTES;
    }
    if (end > start && bytes[end - 1] === CR) {
      end -= 1;
      bytes[end] = LF;
    }
    if (end - start > this.limit) this.stop();
    else if (!isBlank(bytes, start, end)) this.receiver.frame(bytes, start, end);
  }

  private stop(): void {
    this.stopped = true;
    this.partial.clear();
    this.receiver.tooLong(this.limit);
  }
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== TAB && byte !== CR) return false;
  }
  return true;
}
