// Reads frames from one stream. Owns its listeners, says exactly once that the input is over, and judges no frame.
import type { Readable } from "node:stream";
import type { FrameReceiver } from "./frame-splitter.ts";
import { FrameSplitter } from "./frame-splitter.ts";
import { letGoOfPeeked } from "./peek.ts";

export interface FrameReaderReceiver extends FrameReceiver {
  /**
   * A chunk of input, ahead of its frames; `begins`: its first byte is a line's first. True: it was dealt with, and its frames are not
   * delivered. Only a chunk that begins and ends with a line can be.
   */
  arrives?(chunk: Buffer, begins: boolean): boolean;
  /** All frames of one chunk of input were delivered. */
  chunkEnd?(): void;
  /** The last call: the input is over, whatever was left of it was delivered. With a cause if the stream failed. */
  ended(cause?: Error): void;
}

export class FrameReader {
  private readonly stream: Readable;
  private readonly receiver: FrameReaderReceiver;
  private readonly splitter: FrameSplitter;
  private over = false;

  constructor(stream: Readable, maxFrameBytes: number, receiver: FrameReaderReceiver) {
    this.stream = stream;
    this.receiver = receiver;
    this.splitter = new FrameSplitter(maxFrameBytes, receiver);
    stream.on("end", () => this.finish());
    stream.on("close", () => this.finish(stream.errored ?? undefined));
    // Stays for the stream's life: a second error of a dead stream must not end the process.
    stream.on("error", (error: Error) => this.finish(error));
    stream.on("data", this.onData);
    if (stream.destroyed || stream.readableEnded) process.nextTick(() => this.finish(stream.errored ?? undefined));
  }

  /** No chunk is read until `resume`; frames of the chunk being delivered still come. Its last frame comes also when it is closed meanwhile. */
  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    if (!this.over) this.stream.resume();
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.receiver.arrives?.(chunk, this.splitter.bufferedBytes === 0) === true) {
      this.receiver.chunkEnd?.();
      return;
    }
    this.splitter.push(chunk);
    this.passed();
  };

  private passed(): void {
    this.receiver.chunkEnd?.();
    letGoOfPeeked();
  }

  private finish(cause?: Error): void {
    if (this.over) return;
    this.over = true;
    this.stream.off("data", this.onData);
    this.splitter.end();
    this.passed();
    this.receiver.ended(cause);
  }
}
