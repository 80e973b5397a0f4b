// A clock that moves only when a test says so: time passes, the process sleeps through it, or the wall clock is set.
import type { Timers } from "../src/deadlines.ts";

interface Timer {
  dueIn: number;
  readonly wake: () => void;
}

export class VirtualClock {
  #wall = 1_000_000_000;
  readonly #pending = new Set<Timer>();

  readonly now = (): number => this.#wall;

  readonly timers: Timers = {
    start: (ms, wake) => {
      const timer = { dueIn: ms, wake };
      this.#pending.add(timer);
      return () => this.#pending.delete(timer);
    },
  };

  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Time passes and every timer fires when it is due. */
  pass(ms: number): void {
    let left = ms;
    for (;;) {
      const next = [...this.#pending].toSorted((a, b) => a.dueIn - b.dueIn)[0];
      if (next === undefined || next.dueIn > left) break;
      left -= next.dueIn;
      this.#move(next.dueIn);
      this.#pending.delete(next);
      next.wake();
    }
    this.#move(left);
  }

  /** The process does not run for this long; what became due meanwhile fires at once when it runs again. */
  sleep(ms: number): void {
    this.#move(ms);
    this.pass(0);
  }

  /** Somebody sets the wall clock; timers do not notice. */
  setWall(byMs: number): void {
    this.#wall += byMs;
  }

  /** The process is gone and its timers with it. */
  crash(): void {
    this.#pending.clear();
  }

  #move(ms: number): void {
    this.#wall += ms;
    for (const timer of this.#pending) timer.dueIn = Math.max(0, timer.dueIn - ms);
  }
}
