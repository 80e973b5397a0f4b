// Splits a stream of bytes at its line feeds. It decodes nothing.

const lineFeed = 0x0a;

export class Lines {
  readonly #longest: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  /** A line of more than `longest` bytes is an error of whoever sends it. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that this chunk completes, without their ends. Throws at a line that is too long. */
  *push(chunk: Uint8Array): Generator<Buffer> {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#parts, this.#length);
      this.#parts = [];
      this.#length = 0;
      if (line.length > 0) yield line;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#longest) throw new Error(`a line is longer than ${this.#longest} bytes`);
    if (part.length > 0) this.#parts.push(part);
  }
}
