// Counts the lines of an agent's stdout that are no messages and says so now and then. It logs counts and lengths, never a line.
const warnEveryMs = 10_000;

export interface NoiseWarning {
  /** Since the last warning. */
  readonly lines: number;
  readonly bytes: number;
  /** Since the process started. */
  readonly total: number;
}

export class StdoutNoise {
  #total = 0;
  #lines = 0;
  #bytes = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#total;
  }

  /** Returns what to warn about, at most every 10 s. */
  add(length: number, now: number): NoiseWarning | undefined {
    this.#total++;
    this.#lines++;
    this.#bytes += length;
    if (now - this.#warnedAt < warnEveryMs) return undefined;
    const warning = { lines: this.#lines, bytes: this.#bytes, total: this.#total };
    this.#warnedAt = now;
    this.#lines = 0;
    this.#bytes = 0;
    return warning;
  }
}
