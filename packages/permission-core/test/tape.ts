// Bytes that decide what happens next; a shorter tape is a shorter story, which is what makes a failure small.
export class Tape {
  readonly #bytes: ArrayLike<number>;
  #at = 0;

  constructor(bytes: ArrayLike<number>) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** 0 … choices − 1; always 0 once the tape has ended. */
  next(choices: number): number {
    const byte = this.#bytes[this.#at] ?? 0;
    this.#at += 1;
    return byte % choices;
  }

  /** One of the values, of which there must be at least one. */
  pick<Value>(values: readonly Value[]): Value {
    return values[this.next(values.length)]!;
  }
}
