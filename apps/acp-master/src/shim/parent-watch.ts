// Notices that the process which started this one is gone. A process whose parent died gets another one; no event tells of it.
const lookEveryMs = 1000;

export class ParentWatch implements Disposable {
  readonly #parent = process.ppid;
  readonly #timer: NodeJS.Timeout;

  constructor(gone: () => void) {
    this.#timer = setInterval(() => {
      if (this.isGone) gone();
    }, lookEveryMs);
    this.#timer.unref();
  }

  get isGone(): boolean {
    return process.ppid !== this.#parent;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
