// Frames that wait because their Helper does not read fast enough, each at the head of its session's lane. They are tried
// again when some Helper reads, or is gone, and after a while in any case.

const TRY_AGAIN_MS = 1000;

export class HeldBack implements Disposable {
  readonly #waiting = new Set<() => void>();
  #tryAgain: NodeJS.Timeout | undefined;

  /** `go` lets the frame come again. */
  add(go: () => void): void {
    this.#waiting.add(go);
    this.#tryAgain ??= setTimeout(() => this.release(), TRY_AGAIN_MS).unref();
  }

  release(): void {
    this[Symbol.dispose]();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#tryAgain);
    this.#tryAgain = undefined;
  }
}
