// Time as this package uses it: monotonic, and replaceable in tests.

export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls `wake` once after `ms`; the returned function cancels that. */
  after(ms: number, wake: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};
