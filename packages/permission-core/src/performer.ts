// Does what a transition asks for: questions, offers, deadlines and the end of a ticket. It decides nothing.
import type { CarefulPorts } from "./careful-ports.ts";
import type { Deadlines } from "./deadlines.ts";
import type { OpenTicket, OpenTickets } from "./open-tickets.ts";
import { Settling } from "./settling.ts";
import type { TicketPolicy } from "./ticket-ports.ts";
import type { TicketEffect } from "./ticket-state.ts";
import type { TicketView } from "./ticket.ts";

interface PerformerParts {
  readonly now: () => number;
  readonly ports: CarefulPorts;
  readonly policyOf: (agent: string) => TicketPolicy;
  readonly tickets: OpenTickets;
  readonly deadlines: Deadlines;
  /** A question could not be put to the Helper. */
  readonly notAsked: (ticket: OpenTicket, ask: number) => void;
}

export class Performer {
  readonly #parts: PerformerParts;
  readonly #settling: Settling;

  constructor(parts: PerformerParts) {
    this.#parts = parts;
    this.#settling = new Settling(parts.ports);
  }

  /** Tickets that are being settled in this moment get no answer any more. */
  processExited(process: string): void {
    this.#settling.processExited(process);
  }

  // A port called for one effect may bring the next event. Each later effect is therefore performed only while it is
  // still what the state asks for.
  perform(ticket: OpenTicket, effects: readonly TicketEffect[]): void {
    for (const effect of effects) this.#performOne(ticket, effect);
  }

  #performOne(ticket: OpenTicket, effect: TicketEffect): void {
    const { ports, policyOf, deadlines } = this.#parts;
    const { approvalId } = ticket;
    switch (effect.effect) {
      case "ask_helper":
        if (ticket.awaits(effect.ask)) this.#ask(ticket, effect.ask);
        return;
      case "first_offer":
        if (ticket.state.state === "offered") this.#firstOffer(ticket);
        return;
      case "offer":
        if (!ticket.hasOpenOffer(effect.clientId, effect.offer)) return;
        ticket.showTo(effect.clientId);
        ports.offer(this.view(ticket), effect.clientId);
        return;
      case "withdraw":
        this.#withdraw(ticket, effect.clientId);
        return;
      case "start_no_client":
        if (ticket.isUnwatched()) {
          const { noClientSeconds } = policyOf(ticket.opening.agent);
          if (noClientSeconds > 0) deadlines.start(approvalId, "no_client", noClientSeconds * 1000);
        }
        return;
      case "stop_no_client":
        if (!ticket.isUnwatched()) deadlines.stop(approvalId, "no_client");
        return;
      case "note_fault":
        ports.log(`${effect.by}.fault`, { approvalId, name: effect.name, fault: effect.fault });
        return;
      case "settle":
        this.#settle(ticket, effect);
        return;
    }
  }

  #firstOffer(ticket: OpenTicket): void {
    ticket.askedAt = this.#parts.now();
    const { policyOf, deadlines } = this.#parts;
    const { timeoutSeconds } = policyOf(ticket.opening.agent);
    if (timeoutSeconds > 0) deadlines.start(ticket.approvalId, "time_over", timeoutSeconds * 1000);
    this.#parts.ports.asked(this.view(ticket));
  }

  // The claim is the removal: whoever comes after it finds no ticket.
  #settle(ticket: OpenTicket, effect: Extract<TicketEffect, { effect: "settle" }>): void {
    if (!this.#parts.tickets.remove(ticket)) return;
    const { approvalId } = ticket;
    this.#parts.deadlines.clear(approvalId);
    const decision = this.#settling.answer(ticket, effect);
    ticket.state = { state: "settled", decision };
    this.#cancelQuestion(ticket);
    for (const clientId of effect.withdraw) this.#withdraw(ticket, clientId);
    this.#parts.ports.resolved(this.view(ticket), decision);
    this.#parts.ports.log("approval.responded", { approvalId, result: decision.outcome.result, by: decision.by.kind });
  }

  #ask(ticket: OpenTicket, ask: number): void {
    this.#cancelQuestion(ticket);
    if (!ticket.awaits(ask)) return;
    ticket.askSent = ask;
    if (!this.#parts.ports.askHelper(this.view(ticket), ask)) this.#parts.notAsked(ticket, ask);
  }

  #cancelQuestion(ticket: OpenTicket): void {
    const ask = ticket.askSent;
    if (ask === undefined) return;
    ticket.askSent = undefined;
    this.#parts.ports.cancelHelper(this.view(ticket), ask);
  }

  #withdraw(ticket: OpenTicket, clientId: string): void {
    if (ticket.takeBack(clientId)) this.#parts.ports.withdraw(this.view(ticket), clientId);
  }

  /** The ticket as ports and callers see it. */
  view(ticket: OpenTicket): TicketView {
    return ticket.view(this.#parts.deadlines.dueAt(ticket.approvalId));
  }
}
