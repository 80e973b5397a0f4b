// A small seeded generator of numbers, so that a failing run can be repeated from its seed.

export class RandomSource {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** A whole number from 0 to below the bound. */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  shuffle<T>(list: T[]): T[] {
    for (let index = list.length - 1; index > 0; index -= 1) {
      const other = this.below(index + 1);
      const kept = list[index]!;
      list[index] = list[other]!;
      list[other] = kept;
    }
    return list;
  }
}

/** The seed of this run: a fresh one, or WIRE_TEST_SEED to repeat a failure. */
export const runSeed = Number(process.env["WIRE_TEST_SEED"] ?? Math.trunc(performance.timeOrigin) % 1_000_000_000);
