// The deadlines of all open tickets behind one timer. After the clock jumped (sleep, a stopped process, a changed wall clock) nothing ends for a minute.

/** The part of the clock that wakes us; tests bring their own. */
export interface Timers {
  /** Calls `wake` once after `ms`; the returned function cancels that. */
  start(ms: number, wake: () => void): () => void;
}

export type DeadlineKind = "time_over" | "no_client";

const graceMs = 60_000;
/** The timer wakes at least this often while something is pending, so that a jump is seen for what it is. */
const longestWaitMs = 5_000;
/** Being this much later (or earlier) than expected is no mere delay. */
const jumpMs = 4_000;

export const processTimers: Timers = {
  start(ms, wake) {
    const timer = setTimeout(wake, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

interface Pending {
  readonly approvalId: string;
  readonly kind: DeadlineKind;
  dueAt: number;
}

export class Deadlines implements Disposable {
  readonly #now: () => number;
  readonly #timers: Timers;
  readonly #expired: (approvalId: string, kind: DeadlineKind) => void;
  readonly #pending = new Map<string, Map<DeadlineKind, Pending>>();
  #cancel: (() => void) | undefined;
  #wakeAt = 0;
  #seenAt = 0;

  /** `expired` is called once for each deadline that passes and was not cleared. */
  constructor(now: () => number, timers: Timers, expired: (approvalId: string, kind: DeadlineKind) => void) {
    this.#now = now;
    this.#timers = timers;
    this.#expired = expired;
  }

  /** Starts a deadline, or starts it anew. */
  start(approvalId: string, kind: DeadlineKind, ms: number): void {
    const now = this.#notice();
    let ofTicket = this.#pending.get(approvalId);
    if (ofTicket === undefined) this.#pending.set(approvalId, (ofTicket = new Map<DeadlineKind, Pending>()));
    ofTicket.set(kind, { approvalId, kind, dueAt: now + ms });
    this.#arm(now);
  }

  stop(approvalId: string, kind: DeadlineKind): void {
    const ofTicket = this.#pending.get(approvalId);
    ofTicket?.delete(kind);
    if (ofTicket?.size === 0) this.clear(approvalId);
  }

  clear(approvalId: string): void {
    this.#pending.delete(approvalId);
    if (this.#pending.size === 0) this.#disarm();
  }

  /** The earliest deadline of a ticket. */
  dueAt(approvalId: string): number | undefined {
    const ofTicket = this.#pending.get(approvalId);
    return ofTicket === undefined ? undefined : Math.min(...[...ofTicket.values()].map((pending) => pending.dueAt));
  }

  [Symbol.dispose](): void {
    this.#pending.clear();
    this.#disarm();
  }

  #wake(): void {
    this.#cancel = undefined;
    const now = this.#notice();
    for (const due of this.#all().filter((pending) => pending.dueAt <= now)) {
      // An earlier one of this round may have settled this ticket or started its deadline anew.
      if (this.#pending.get(due.approvalId)?.get(due.kind) !== due) continue;
      this.stop(due.approvalId, due.kind);
      this.#expired(due.approvalId, due.kind);
    }
    this.#arm(this.#now());
  }

  /** Reads the clock; when it jumped, gives every pending deadline its grace. */
  #notice(): number {
    const now = this.#now();
    const pending = this.#all();
    if (pending.length > 0) {
      const back = now < this.#seenAt - jumpMs ? this.#seenAt - now : 0;
      if (back > 0 || now > this.#wakeAt + jumpMs) {
        for (const each of pending) each.dueAt = Math.max(each.dueAt - back, now + graceMs);
        this.#disarm();
        this.#arm(now);
      }
    }
    this.#seenAt = now;
    return now;
  }

  #arm(now: number): void {
    const pending = this.#all();
    if (pending.length === 0) return;
    const next = Math.min(...pending.map((each) => each.dueAt));
    const ms = Math.max(0, Math.min(next - now, longestWaitMs));
    if (this.#cancel !== undefined && this.#wakeAt <= now + ms) return;
    this.#disarm();
    this.#seenAt = now;
    this.#wakeAt = now + ms;
    this.#cancel = this.#timers.start(ms, () => this.#wake());
  }

  #disarm(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #all(): Pending[] {
    return [...this.#pending.values()].flatMap((ofTicket) => [...ofTicket.values()]);
  }
}
