// Waiting with a deadline: for a promise, for something seen, for a state of the world. It never sleeps for luck:
// every wait ends with the event or fails, saying what was there instead.

export const defaultDeadlineMs = 10_000;

/** Settles as `promise` does; rejects when the deadline passes first, with `what` and with what was seen. */
export async function within<T>(
  promise: Promise<T>,
  what: string,
  deadlineMs: number = defaultDeadlineMs,
  seen: () => string = () => "",
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const tail = seen();
      reject(new Error(`${what}: not within ${deadlineMs} ms${tail === "" ? "" : `. Seen:\n${tail}`}`));
    }, deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until `check` gives something else than undefined or false. For states that send no event (a pid of somebody
 * else's child); whatever has an event is awaited with `within`.
 */
export async function eventually<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  deadlineMs: number = defaultDeadlineMs,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/**
 * The same promise, whose rejection is no unhandled one while the test is busy elsewhere (`const turn = …; await
 * somethingElse; await turn`). Whoever awaits it still gets it.
 */
export function patient<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** A promise with its two ends outside. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (cause: Error) => void;
  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    void patient(this.promise);
  }
}

interface Waiter<T> {
  readonly fits: (item: T) => boolean;
  readonly take: boolean;
  readonly found: Deferred<T>;
}

/** Everything that was seen, in order, and waits for one that fits. Each item is taken at most once. */
export class Seen<T> {
  readonly all: T[] = [];
  readonly #taken = new Set<T>();
  readonly #waiters = new Set<Waiter<T>>();
  readonly #name: string;
  readonly #show: (item: T) => string;
  #ended: string | undefined;

  constructor(name: string, show: (item: T) => string) {
    this.#name = name;
    this.#show = show;
  }

  add(item: T): void {
    this.all.push(item);
    for (const waiter of this.#waiters) {
      if (!waiter.fits(item) || (waiter.take && this.#taken.has(item))) continue;
      if (waiter.take) this.#taken.add(item);
      this.#waiters.delete(waiter);
      waiter.found.resolve(item);
    }
  }

  /** Nothing more will come: every wait fails now, later ones at once. */
  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    for (const waiter of this.#waiters) waiter.found.reject(this.#endError());
    this.#waiters.clear();
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** The first that fits, seen already or still to come. It can be found again. */
  waitFor(fits: (item: T) => boolean, what = "an item that fits", deadlineMs?: number): Promise<T> {
    const found = this.all.find((item) => fits(item));
    return found === undefined ? patient(this.#wait(fits, false, what, deadlineMs)) : Promise.resolve(found);
  }

  /** The first that fits and was not taken before. */
  take(fits: (item: T) => boolean = () => true, what = "a new item", deadlineMs?: number): Promise<T> {
    const found = this.all.find((item) => !this.#taken.has(item) && fits(item));
    if (found === undefined) return patient(this.#wait(fits, true, what, deadlineMs));
    this.#taken.add(found);
    return Promise.resolve(found);
  }

  tail(count = 20): string {
    return this.all
      .slice(-count)
      .map((item) => `  ${this.#show(item)}`)
      .join("\n");
  }

  async #wait(fits: (item: T) => boolean, take: boolean, what: string, deadlineMs?: number): Promise<T> {
    if (this.#ended !== undefined) throw this.#endError(what);
    const waiter: Waiter<T> = { fits, take, found: new Deferred<T>() };
    this.#waiters.add(waiter);
    try {
      return await within(waiter.found.promise, `${this.#name}: ${what}`, deadlineMs, () => this.tail());
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  #endError(what = "a waited for item"): Error {
    return new Error(`${this.#name}: ended (${this.#ended}) before ${what}. Seen:\n${this.tail()}`);
  }
}
