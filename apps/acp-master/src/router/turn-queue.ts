// The prompts of one session: one runs, a bounded number waits. Knows order and cancellation, sends nothing.

import type { ClientConnection } from "./client-connection.ts";

export interface Turn {
  readonly id: number;
  readonly client: ClientConnection;
  /** Exact text of the client's request id. */
  readonly requestId: string;
  /** The prompt's frame until it is handed on; whoever lets it wait gives it a copy. */
  frame: Buffer;
  /** `handed_on`: the agent has it, its answer ends the turn. */
  state: "queued" | "preparing" | "handed_on";
  cancelling: boolean;
  /** Id under which the agent has the prompt. */
  call: number | undefined;
  /** The client has its answer although the agent still owes one. */
  answered: boolean;
}

/** So much may wait in one session, whatever the number of prompts; one always may. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

export class TurnQueue {
  current: Turn | undefined;
  readonly #queued: Turn[] = [];
  #lastId = 0;

  get queued(): readonly Turn[] {
    return this.#queued;
  }

  get lastId(): number {
    return this.#lastId;
  }

  /** undefined: the queue is full. */
  add(client: ClientConnection, requestId: string, frame: Buffer, bound: number): Turn | undefined {
    if (this.#queued.length >= bound || !this.#hasRoom(frame)) return undefined;
    const turn: Turn = {
      id: ++this.#lastId,
      client,
      requestId,
      frame,
      state: "queued",
      cancelling: false,
      call: undefined,
      answered: false,
    };
    this.#queued.push(turn);
    return turn;
  }

  #hasRoom(frame: Buffer): boolean {
    const waiting = this.#queued.reduce((bytes, turn) => bytes + turn.frame.length, 0);
    return waiting === 0 || waiting + frame.length <= MAX_WAITING_BYTES;
  }

  /** Makes the next prompt the current one, when none runs. */
  advance(): Turn | undefined {
    if (this.current) return undefined;
    const next = this.#queued.shift();
    if (!next) return undefined;
    next.state = "preparing";
    this.current = next;
    return next;
  }

  end(turn: Turn): void {
    if (this.current === turn) this.current = undefined;
  }

  /** Takes back prompts that were not handed on. */
  remove(which: (turn: Turn) => boolean): Turn[] {
    const removed = this.#queued.filter(which);
    for (const turn of removed) this.#queued.splice(this.#queued.indexOf(turn), 1);
    return removed;
  }
}
