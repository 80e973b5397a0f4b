// A ticket as the rest of the master sees it: what it was opened with and a read-only view. No field can hold content.
import type { TicketOption } from "./choice.ts";
import type { TicketState } from "./ticket-state.ts";

/** What the master knows of an agent's `session/request_permission` without reading it. */
export interface TicketOpening {
  /** The master's key of the session. */
  readonly session: string;
  /** The id that clients know the session by. */
  readonly sessionId: string;
  readonly agent: string;
  /** The agent process instance that waits for the answer. */
  readonly process: string;
  /** May be empty, and several tickets may share it: it is no identity. */
  readonly toolCallId: string;
  /** The session below that the tool call is of, which has ids of its own; undefined: the session itself. */
  readonly child?: string | undefined;
  /** Undefined when the agent sent none, or no list. */
  readonly options: readonly TicketOption[] | undefined;
  readonly paramsDigest: string;
  /** The turn that it belongs to; undefined when no turn was open. */
  readonly turn: number | undefined;
  readonly turnCancelling: boolean;
  readonly knownSession: boolean;
}

export interface TicketView extends TicketOpening {
  readonly approvalId: string;
  readonly state: TicketState["state"];
  readonly openedAt: number;
  /** When people were asked first; undefined before that. */
  readonly askedAt: number | undefined;
  /** The next moment at which it would end by itself, if there is one. */
  readonly expiresAt: number | undefined;
  /** Every client that was ever shown it. */
  readonly shownTo: readonly string[];
  /** The clients that can answer in a dialog at this moment. */
  readonly offers: readonly string[];
}

/** Copies the known fields and nothing else, so that whatever a caller's object carries besides is not kept. */
export function copyOpening(opening: TicketOpening): TicketOpening {
  const { session, sessionId, agent, process, toolCallId, child } = opening;
  const { paramsDigest, turn, turnCancelling, knownSession } = opening;
  const options = opening.options?.map(({ optionId, kind }) => ({ optionId, kind }));
  const call = { toolCallId, child, options, paramsDigest };
  return { session, sessionId, agent, process, ...call, turn, turnCancelling, knownSession };
}
