// An answer that names its approval: does it fit the ticket, and was it the one that decided? It settles nothing.
import { isOffered } from "./choice.ts";
import type { OpenTicket } from "./open-tickets.ts";
import type { ClientAnswer } from "./ticket-state.ts";

export type Receipt = { readonly status: "accepted" } | { readonly status: "not_pending" } | { readonly error: string };

/** Ids that the sender thinks the approval has; what is given has to fit. */
export interface AnswerCheck {
  readonly sessionId?: string | undefined;
  readonly toolCallId?: string | undefined;
}

/** The sender's mistake, said with what to do about it, or undefined. */
export function misfit(ticket: OpenTicket, answer: ClientAnswer, check: AnswerCheck): string | undefined {
  const { sessionId, toolCallId } = ticket.opening;
  if (check.sessionId !== undefined && check.sessionId !== sessionId) {
    return "This approval belongs to another session. Leave sessionId out, or take it from the approval's row.";
  }
  if (check.toolCallId !== undefined && check.toolCallId !== toolCallId) {
    return "This approval is for another tool call. Leave toolCallId out, or take it from the approval's row.";
  }
  if (answer.kind === "fault") {
    return 'This is no outcome. Send {"outcome":"selected","optionId":…} or {"outcome":"cancelled"}.';
  }
  if (answer.kind === "selected" && !isOffered(ticket.options, answer.optionId)) {
    return "This option was not offered. Take one of the option ids in the approval's row.";
  }
  return undefined;
}

/** Whether this very answer is what the ticket ended with. */
export function decidedBy(ticket: OpenTicket, name: string, answer: ClientAnswer): boolean {
  if (ticket.state.state !== "settled") return false;
  const { outcome, by } = ticket.state.decision;
  if (by.kind !== "client" || by.name !== name) return false;
  return answer.kind === "selected" ? outcome.optionId === answer.optionId : outcome.result === "refused";
}
