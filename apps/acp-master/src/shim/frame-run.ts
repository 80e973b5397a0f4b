// Joins frames that lie side by side and go to the same place, so that they leave in one write. It copies nothing.
import type { FrameWriter } from "@acp-master/wire";

const nothing: Buffer = Buffer.alloc(0);

export class FrameRun {
  readonly #writer: FrameWriter;
  #bytes: Buffer = nothing;
  #start = 0;
  #end = 0;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  /** The frame is `bytes[start, end)` and `bytes[end]` its line feed. */
  add(bytes: Buffer, start: number, end: number): void {
    if (bytes !== this.#bytes || start !== this.#end) {
      this.flush();
      this.#bytes = bytes;
      this.#start = start;
    }
    this.#end = end + 1;
  }

  flush(): void {
    if (this.#bytes === nothing) return;
    this.#writer.write(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = nothing;
    this.#end = 0;
  }
}
