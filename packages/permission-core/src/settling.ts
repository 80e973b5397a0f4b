// The one synchronous step that ends a ticket towards the agent: the record first, then the answer. It chooses nothing.
import type { CarefulPorts } from "./careful-ports.ts";
import type { Decision, Verdict } from "./decision.ts";
import type { OpenTicket } from "./open-tickets.ts";
import { withoutRecord } from "./transition.ts";

export class Settling {
  readonly #ports: CarefulPorts;
  readonly #unanswered = new Set<OpenTicket>();

  constructor(ports: CarefulPorts) {
    this.#ports = ports;
  }

  /** Records and answers; returns the decision that came of it. The caller has claimed the ticket before. */
  answer(ticket: OpenTicket, verdict: Verdict): Decision {
    this.#unanswered.add(ticket);
    const view = ticket.view(undefined);
    const decision = this.#ports.named(view, verdict.decision);
    const final = this.#ports.recordDecision(view, decision)
      ? { decision, answer: verdict.answer }
      : withoutRecord({ decision, answer: verdict.answer }, ticket.options);
    this.#unanswered.delete(ticket);
    if (final.answer !== undefined && !ticket.agentGone) this.#ports.answerAgent(view, final.answer);
    return final.decision;
  }

  /** The process may exit while a record is being written: it gets no answer then. */
  processExited(process: string): void {
    for (const ticket of this.#unanswered) if (ticket.opening.process === process) ticket.agentGone = true;
  }
}
