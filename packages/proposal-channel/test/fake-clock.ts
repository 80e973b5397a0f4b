// A clock that moves only when a test says so.
import type { Clock } from "../src/clock.ts";

export class FakeClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ readonly due: number; readonly wake: () => void }>();

  readonly now = (): number => this.#now;

  readonly after = (ms: number, wake: () => void): (() => void) => {
    const timer = { due: this.#now + ms, wake };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Time passes and every timer fires when it is due. */
  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].toSorted((a, b) => a.due - b.due)[0];
      if (next === undefined || next.due > until) break;
      this.#timers.delete(next);
      this.#now = next.due;
      next.wake();
    }
    this.#now = until;
  }

  /** Time passes but no timer gets to run: they are late. */
  passLate(ms: number): void {
    this.#now += ms;
  }
}
