// Questions that a former run of the daemon left open: whoever asked them is gone. Each gets its decision in the record and
// in the session's index, and grants nothing.

import { type Decision, decisionAfterRestart } from "@acp-master/permission-core";
import type { Decided } from "../audit/decided.ts";
import type { DecisionLine } from "../audit/record.ts";
import type { OpenedTicket } from "../journal/index-lines.ts";
import type { Journal } from "../journal/journal.ts";
import { readKeptTickets } from "../journal/kept-journal.ts";
import type { DecisionRecord } from "./router-settings.ts";
import type { Session } from "./session.ts";

/** The session's own note of how a ticket ended; the record has the whole of it. */
export function noteDecision(log: Journal, approvalId: string, { outcome, by }: Decided): void {
  const { result, optionId } = outcome;
  log.recordDecision({ approvalId, result, optionId, by: by.kind, settledAt: Date.now() });
}

interface FormerTicket {
  readonly session: Session;
  readonly ticket: OpenedTicket;
}

export async function settleFormerTickets(
  record: DecisionRecord,
  sessions: readonly Session[],
  startedAt: number,
): Promise<void> {
  const former: FormerTicket[] = [];
  for (const session of sessions) {
    // Other things may go on in between: there can be a thousand of them.
    await new Promise((resolve) => setImmediate(resolve));
    for (const ticket of readKeptTickets(session.log.folder.path)) {
      // Somebody may have woken the session already: what was opened since is no former ticket.
      if (ticket.openedAt < startedAt) former.push({ session, ticket });
    }
  }
  if (former.length === 0) return;
  // The record comes first: where the index could not be written after it, only the index has to be put right.
  const decided = await record.decided(new Set(former.map(({ ticket }) => ticket.approvalId)));
  for (const { session, ticket } of former) {
    const decision = decisionAfterRestart();
    const known = decided.get(ticket.approvalId);
    if (known === undefined) record.decision(decisionLine(session, ticket, decision));
    noteDecision(session.log, ticket.approvalId, known ?? decision);
  }
}

function decisionLine(session: Session, ticket: OpenedTicket, { outcome, by }: Decision): DecisionLine {
  const { approvalId, toolCallId, paramsDigest, options, openedAt } = ticket;
  return {
    approvalId,
    sessionId: session.sessionId,
    agent: session.agent,
    toolCallId,
    paramsDigest,
    options,
    shownTo: [],
    outcome,
    by,
    preset: session.preset,
    askedAt: undefined,
    latencyMs: Date.now() - openedAt,
  };
}
