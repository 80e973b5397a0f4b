// When an agent that failed may be started again. It holds no timer and no clock; times are arguments.
const waitsMs = [0, 1000, 2000, 5000, 10_000, 30_000];
const openAfter = 5;
const windowMs = 5 * 60_000;

export type Attempt =
  | { readonly state: "ready" }
  /** Worth waiting for: a few seconds. */
  | { readonly state: "waiting"; readonly allowedAt: number; readonly reason: string }
  /** Refused: it failed too often. `allowedAt` is when the first failure falls out of the window. */
  | { readonly state: "open"; readonly allowedAt: number; readonly reason: string };

/**
 * Waits grow with each failure in a row: 0, 1, 2, 5, 10, 30 s. Five failures within five minutes open it, until one of them is older
 * than that or somebody resets it. `reason` is what the last failure said, with the last lines of stderr.
 */
export class BackOff {
  #inARow = 0;
  #failedAt: number[] = [];
  #reason = "";

  failed(now: number, failure: { readonly message: string; readonly stderrTail: string }): void {
    this.#inARow++;
    this.#failedAt = [...this.#failedAt, now].slice(-openAfter);
    const lines = failure.stderrTail === "" ? "" : `\nIts last lines on stderr:\n${failure.stderrTail}`;
    this.#reason = failure.message + lines;
  }

  /** The agent did what it was started for, for example answered a prompt. */
  succeeded(): void {
    this.reset();
  }

  /** By hand: forgets all failures. */
  reset(): void {
    this.#inARow = 0;
    this.#failedAt = [];
    this.#reason = "";
  }

  attempt(now: number): Attempt {
    const last = this.#failedAt.at(-1);
    const first = this.#failedAt[0];
    if (last === undefined || first === undefined) return { state: "ready" };
    if (this.#failedAt.length === openAfter && now < first + windowMs) {
      return { state: "open", allowedAt: first + windowMs, reason: this.#reason };
    }
    const wait = waitsMs[Math.min(this.#inARow - 1, waitsMs.length - 1)] ?? 0;
    if (now < last + wait) return { state: "waiting", allowedAt: last + wait, reason: this.#reason };
    return { state: "ready" };
  }
}
