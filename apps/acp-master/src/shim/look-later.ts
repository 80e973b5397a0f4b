// Short chunks of whole lines leave at once, and are looked at later in the order in which they came from either side: who waits
// for them does not wait for the shim's bookkeeping.
import { FrameSplitter, type FrameWriter } from "@acp-master/wire";
import { notSoon, soon } from "../soon.ts";
import { longestFrame } from "./longest-frame.ts";

const LF = 0x0a;
/** What is longer is not waited for, and searching it costs what that would save. */
const mostBytes = 4096;
const mostChunks = 64;

/** `hasLeft`: the line was written on already. */
export type Look = (bytes: Buffer, start: number, end: number, hasLeft: boolean) => void;

interface Passed {
  readonly chunk: Buffer;
  /** Where what was written on begins. */
  readonly from: number;
  readonly look: Look;
}

export class LookLater implements Disposable {
  #passed: Passed[] = [];
  #current: Passed | undefined;
  readonly #looked: () => void;
  readonly #splitter = new FrameSplitter(longestFrame, {
    frame: (bytes, start, end) => this.#current?.look(bytes, start, end, start >= this.#current.from),
    tooLong: () => {},
  });

  /** `looked` is told when all that waited was looked at. */
  constructor(looked: () => void) {
    this.#looked = looked;
  }

  /** A chunk that `pass` may take. */
  static suits(chunk: Buffer): boolean {
    return chunk.length <= mostBytes && chunk[chunk.length - 1] === LF;
  }

  /** Writes on what the chunk holds from `from` on, which is the beginning of a line, and keeps the chunk. */
  pass(chunk: Buffer, from: number, writer: FrameWriter, look: Look): void {
    if (from < chunk.length) writer.send(from === 0 ? chunk : chunk.subarray(from));
    this.#passed.push({ chunk, from, look });
    if (this.#passed.length >= mostChunks) this.now();
    else soon(this.now);
  }

  /** Looks at what has not been looked at, before anything is done that may depend on it. */
  readonly now = (): void => {
    if (this.#passed.length === 0) return;
    const passed = this.#passed;
    this.#passed = [];
    for (const each of passed) {
      this.#current = each;
      this.#splitter.push(each.chunk);
    }
    this.#current = undefined;
    this.#looked();
  };

  [Symbol.dispose](): void {
    notSoon(this.now);
    this.#passed = [];
  }
}
