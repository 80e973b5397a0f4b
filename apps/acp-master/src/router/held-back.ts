// What waits because its Helper does not read fast enough, in order for each Helper session. It is tried again when some
// Helper reads, or is gone, and after a while in any case. The lanes in which the frames stand bound it.

const TRY_AGAIN_MS = 1000;

interface Held {
  readonly key: string;
  readonly bytes: number;
  readonly go: () => void;
}

export class HeldBack {
  readonly #canTake: (key: string, bytes: number) => boolean;
  #held: Held[] = [];
  /** For whom something waits: what comes later waits behind it. */
  readonly #keys = new Set<string>();
  #tryAgain: NodeJS.Timeout | undefined;

  /** `canTake`: whether the Helper session under this key takes a message of this size now. */
  constructor(canTake: (key: string, bytes: number) => boolean) {
    this.#canTake = canTake;
  }

  /** Nothing waits for this key, and its Helper takes a message of this size. */
  takes(key: string, bytes: number): boolean {
    return !this.#keys.has(key) && this.#canTake(key, bytes);
  }

  /** Runs `go` at once, or as soon as the Helper takes what it hands over. */
  hand(key: string, bytes: number, go: () => void): void {
    if (this.takes(key, bytes)) go();
    else this.#hold({ key, bytes, go });
  }

  release(): void {
    clearTimeout(this.#tryAgain);
    this.#tryAgain = undefined;
    const held = this.#held;
    this.#held = [];
    this.#keys.clear();
    for (const each of held) this.hand(each.key, each.bytes, each.go);
  }

  #hold(held: Held): void {
    this.#held.push(held);
    this.#keys.add(held.key);
    this.#tryAgain ??= setTimeout(() => this.release(), TRY_AGAIN_MS).unref();
  }
}
