// Writes whole frames to one stream, those of one tick together unless somebody waits for them. Never throws on a dead stream, and
// never queues for one: what cannot leave any more is dropped and counted.
import type { Writable } from "node:stream";

export interface FrameWriterOptions {
  /** The stream takes more again. Not called when it dies; `onError` or the reader's `ended` tell that. */
  onDrain?: () => void;
  /** The first error of the stream. */
  onError?: (error: Error) => void;
}

/** Up to here a copy costs less than to hand over the pieces one by one. */
const JOINED_BYTES = 16 * 1024;
/** Copies of small buffers share memory of this size. */
const POOL_BYTES = 8 * 1024;

export class FrameWriter {
  private readonly stream: Writable;
  private readonly options: FrameWriterOptions;
  /** What was written in this tick and has not been handed over. */
  private batch: Buffer[] = [];
  private batchBytes = 0;
  private endsBatch = false;
  private done = false;
  private failed = false;
  private dropped = 0;

  constructor(stream: Writable, options: FrameWriterOptions) {
    this.stream = stream;
    this.options = options;
    this.done = !stream.writable;
    stream.on("drain", this.drained);
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
    this.batch.push(bytes);
    this.batchBytes += bytes.length;
    if (this.endsBatch) return;
    this.endsBatch = true;
    process.nextTick(this.endBatch);
  }

  /** As `write`, for what somebody waits for: it leaves at once, behind what was written before. */
  send(bytes: Buffer): void {
    if (this.batch.length === 0 && !this.ended) {
      this.handOver(bytes, this.stream.writableLength > 0);
    } else {
      this.write(bytes);
      this.flush();
    }
  }

  /** What was written leaves now, and does not wait for more of this tick. */
  flush(): void {
    const { batch, batchBytes, stream } = this;
    const [first] = batch;
    if (first === undefined) return;
    this.batch = [];
    this.batchBytes = 0;
    if (!stream.writable) return;
    if (batch.length === 1) {
      this.handOver(first, stream.writableLength > 0);
    } else if (batchBytes <= JOINED_BYTES) {
      stream.write(Buffer.concat(batch, batchBytes));
    } else {
      const waits = stream.writableLength > 0;
      stream.cork();
      for (const bytes of batch) this.handOver(bytes, waits);
      stream.uncork();
    }
    // Who found it congested waits for a drain, and of what left within the call the stream tells none.
    if (batchBytes >= stream.writableHighWaterMark && !stream.writableNeedDrain) process.nextTick(this.drained);
  }

  /** What has to wait in the stream must not keep much more memory alive than itself. */
  private handOver(bytes: Buffer, waits: boolean): void {
    const { byteLength } = bytes.buffer;
    const isSmallPart = byteLength > POOL_BYTES && bytes.length * 4 < byteLength;
    this.stream.write(waits && isSmallPart ? Buffer.from(bytes) : bytes);
  }

  private readonly drained = (): void => {
    if (!this.done) this.options.onDrain?.();
  };

  private readonly endBatch = (): void => {
    this.endsBatch = false;
    this.flush();
  };

  /** Bytes handed over that have not left yet; none once the stream is dead. */
  get pendingBytes(): number {
    return this.stream.destroyed ? 0 : this.stream.writableLength + this.batchBytes;
  }

  /** More is waiting than the stream likes; it will call `onDrain`. */
  get congested(): boolean {
    const { stream } = this;
    return (
      stream.writableNeedDrain ||
      (this.batchBytes > 0 && stream.writableLength + this.batchBytes >= stream.writableHighWaterMark)
    );
  }

  /** Writes that came after the end or the death of the stream. */
  get droppedWrites(): number {
    return this.dropped;
  }

  /** Lets what was written leave, then closes the writing side. */
  end(): void {
    if (this.ended) return;
    this.flush();
    this.done = true;
    this.stream.end();
  }

  /** Nothing can be written any more: ended, failed or closed. */
  get ended(): boolean {
    return this.done || !this.stream.writable;
  }
}
