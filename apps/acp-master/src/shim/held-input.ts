// What the editor sends while no daemon can take it, in order and within a bound.
import type { Envelope } from "@acp-master/wire";

const mostFrames = 1000;
const mostBytes = 8 * 1024 * 1024;

export class HeldInput {
  #frames: Buffer[] = [];
  #bytes = 0;
  #requests = 0;

  /** No more of the editor's input should be read. What was read already is held all the same. */
  get full(): boolean {
    return this.#frames.length >= mostFrames || this.#bytes >= mostBytes;
  }

  /** Answers will be due. */
  get hasRequests(): boolean {
    return this.#requests > 0;
  }

  hold({ bytes, start, end, kind }: Envelope): void {
    const frame = Buffer.from(bytes.subarray(start, end + 1));
    this.#frames.push(frame);
    this.#bytes += frame.length;
    if (kind === "request") this.#requests += 1;
  }

  /** Requests that were handed on to a daemon that is gone. */
  holdFirst(requests: readonly Buffer[]): void {
    this.#frames.unshift(...requests);
    for (const { length } of requests) this.#bytes += length;
    this.#requests += requests.length;
  }

  /** All of it; each frame ends with its line feed. */
  take(): readonly Buffer[] {
    const frames = this.#frames;
    this.#frames = [];
    this.#bytes = 0;
    this.#requests = 0;
    return frames;
  }
}
