// Questions that a former run of the daemon left open: whoever asked them is gone. Each gets its decision in the record and
// in the session's index, and grants nothing.

import { type Decision, decisionAfterRestart } from "@acp-master/permission-core";
import { readKeptTickets } from "../journal/kept-journal.ts";
import type { Journal } from "../journal/journal.ts";
import type { DecisionRecord } from "./router-settings.ts";
import type { Session } from "./session.ts";

/** The session's own note of how a ticket ended; the record has the whole of it. */
export function noteDecision(log: Journal, approvalId: string, { outcome, by }: Decision): void {
  const { result, optionId } = outcome;
  log.recordDecision({ approvalId, result, optionId, by: by.kind, settledAt: Date.now() });
}

export function settleFormerTickets(record: DecisionRecord, session: Session, startedAt: number): void {
  for (const ticket of readKeptTickets(session.log.folder.path)) {
    // Somebody may have woken the session already: what was opened since is no former ticket.
    if (ticket.openedAt >= startedAt) continue;
    const decision = decisionAfterRestart();
    record.decision({
      approvalId: ticket.approvalId,
      sessionId: session.sessionId,
      agent: session.agent,
      toolCallId: ticket.toolCallId,
      paramsDigest: ticket.paramsDigest,
      options: ticket.options,
      shownTo: [],
      outcome: decision.outcome,
      by: decision.by,
      preset: session.preset,
      askedAt: undefined,
      latencyMs: Date.now() - ticket.openedAt,
    });
    noteDecision(session.log, ticket.approvalId, decision);
  }
}
