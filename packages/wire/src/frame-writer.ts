// Writes whole frames to one stream, those of one tick together. Never throws on a dead stream, and never queues for one: what cannot
// leave any more is dropped and counted.
import type { Writable } from "node:stream";

export interface FrameWriterOptions {
  /** The stream takes more again. Not called when it dies; `onError` or the reader's `ended` tell that. */
  onDrain?: () => void;
  /** The first error of the stream. */
  onError?: (error: Error) => void;
}

export class FrameWriter {
  private readonly stream: Writable;
  private readonly options: FrameWriterOptions;
  private corked = false;
  private done = false;
  private failed = false;
  private dropped = 0;

  constructor(stream: Writable, options: FrameWriterOptions) {
    this.stream = stream;
    this.options = options;
    this.done = !stream.writable;
    stream.on("drain", () => {
      if (!this.done) this.options.onDrain?.();
    });
    stream.on("close", () => {
      this.done = true;
    });
    // Stays for the stream's life: a second error of a dead stream must not end the process.
    stream.on("error", (error: Error) => {
      this.done = true;
      if (this.failed) return;
      this.failed = true;
      this.options.onError?.(error);
    });
  }

  /** One or more whole frames with their line feeds. The bytes must not change until they have left. */
  write(bytes: Buffer): void {
    if (this.ended) {
      this.dropped += 1;
      return;
    }
    if (!this.corked) {
      this.corked = true;
      this.stream.cork();
      process.nextTick(() => {
        this.corked = false;
        this.stream.uncork();
      });
    }
    this.stream.write(bytes);
  }

  /** Bytes handed over that have not left yet; none once the stream is dead. */
  get pendingBytes(): number {
    return this.stream.destroyed ? 0 : this.stream.writableLength;
  }

  /** More is waiting than the stream likes; it will call `onDrain`. */
  get congested(): boolean {
    return this.stream.writableNeedDrain;
  }

  /** Writes that came after the end or the death of the stream. */
  get droppedWrites(): number {
    return this.dropped;
  }

  /** Lets what was written leave, then closes the writing side. */
  end(): void {
    if (this.ended) return;
    this.done = true;
    this.stream.end();
  }

  /** Nothing can be written any more: ended, failed or closed. */
  get ended(): boolean {
    return this.done || !this.stream.writable;
  }
}
