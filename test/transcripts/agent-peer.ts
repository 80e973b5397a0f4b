// What the test agent needs of an SDK, so that one agent runs on the present SDK and on the old one.
import type { Loose } from "../harness/lines.ts";

/** The client, as the agent asks it. */
export interface Peer {
  /** Aborting the signal sends `$/cancel_request`, where the SDK can. */
  request(method: string, params: object, signal?: AbortSignal): Promise<Loose>;
  notify(method: string, params: object): Promise<void>;
}

/** A request that is being answered. */
export interface Call {
  readonly peer: Peer;
  /** Absent where the SDK does not tell it. */
  readonly requestId?: string | number | null;
  /** Aborted by `$/cancel_request`, where the SDK knows it. */
  readonly signal: AbortSignal;
}

/** An error answer in no SDK's words. */
export class Fault extends Error {
  readonly code: number;
  readonly facts: unknown;

  constructor(code: number, message: string, facts?: unknown) {
    super(message);
    this.code = code;
    this.facts = facts;
  }
}
