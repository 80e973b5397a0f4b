// The requests of one agent process that wait for their answers, by the exact text of the agent's id. It answers nothing.

/** So many may wait, and so many bytes of them. */
const MAX_OPEN = 1000;
const MAX_OPEN_BYTES = 64 * 1024 * 1024;

export interface IncomingRequest {
  readonly bytes: number;
  /** The agent itself takes it back. */
  cancelled(): void;
  /** The process has ended: nobody waits for the answer. */
  abandoned(): void;
}

export class IncomingRequests {
  readonly #open = new Map<string, IncomingRequest>();
  /** Those that wait in their session's lane: whether the agent has taken them back meanwhile. */
  readonly #inLane = new Map<string, boolean>();

  /** It is put to somebody. */
  opened(id: string, request: IncomingRequest): void {
    this.#open.set(id, request);
  }

  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  /** Whether another one of this size may wait; one always may. */
  hasRoomFor(bytes: number): boolean {
    let waiting = 0;
    for (const request of this.#open.values()) waiting += request.bytes;
    return waiting === 0 || (this.#open.size < MAX_OPEN && waiting + bytes <= MAX_OPEN_BYTES);
  }

  /** Whether it still waited: only one answer can end it. */
  ended(id: string): boolean {
    return this.#open.delete(id);
  }

  waitsInLane(id: string): void {
    this.#inLane.set(id, false);
  }

  /** Its turn in the lane has come, or never will. True: the agent has taken it back meanwhile. */
  leftLane(id: string): boolean {
    const takenBack = this.#inLane.get(id) === true;
    this.#inLane.delete(id);
    return takenBack;
  }

  /** The agent takes it back. */
  cancel(id: string): void {
    if (this.#inLane.has(id)) this.#inLane.set(id, true);
    else this.#open.get(id)?.cancelled();
  }

  /** The process has ended. */
  abandonAll(): void {
    const requests = [...this.#open.values()];
    this.#open.clear();
    for (const request of requests) request.abandoned();
  }
}
