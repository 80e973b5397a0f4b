// The owner of all open tickets: finds them, lets transition() decide and performs what follows. It holds no rule about who may decide what, and no content.
import { decidedBy, misfit } from "./answer-by-id.ts";
import type { AnswerCheck, Receipt } from "./answer-by-id.ts";
import { CarefulPorts } from "./careful-ports.ts";
import type { TicketOption } from "./choice.ts";
import { Deadlines, processTimers } from "./deadlines.ts";
import type { EndCause } from "./decision.ts";
import { OpenTicket, OpenTickets } from "./open-tickets.ts";
import { Performer } from "./performer.ts";
import { SessionPeople } from "./session-people.ts";
import type { TicketPolicies, TicketPorts } from "./ticket-ports.ts";
import type { ClientAnswer, HelperVerdict, TicketEffect, TicketEvent } from "./ticket-state.ts";
import { copyOpening } from "./ticket.ts";
import type { TicketOpening, TicketView } from "./ticket.ts";
import { open, transition } from "./transition.ts";

/**
 * Every permission request that waits for a decision. All calls are synchronous and may be made from inside a port.
 * Unknown, settled and stale things are ignored, so callers need not ask first.
 *
 *     const tickets = new Tickets(ports, { timeoutSeconds: 0, noClientSeconds: 600 });
 *     tickets.controllerAttached(session, "client-1", "editor");
 *     const approvalId = tickets.open(opening);                    // ports.askHelper(ticket, 1)
 *     tickets.helperAnswered(approvalId, 1, { outcome: "ask" });   // ports.offer(ticket, "client-1")
 *     tickets.clientAnswered(approvalId, "client-1", { kind: "selected", optionId: "allow" });
 */
export class Tickets implements Disposable {
  readonly #now: () => number;
  readonly #mintId: () => string;
  readonly #ports: CarefulPorts;
  readonly #tickets = new OpenTickets();
  readonly #people = new SessionPeople();
  readonly #deadlines: Deadlines;
  readonly #performer: Performer;
  #stopping = false;

  constructor(ports: TicketPorts, policies: TicketPolicies) {
    this.#now = () => ports.now();
    this.#mintId = () => ports.mintId();
    this.#ports = new CarefulPorts(ports);
    this.#deadlines = new Deadlines(this.#now, ports.timers ?? processTimers, (approvalId, kind) =>
      this.#send(approvalId, { event: "ended", cause: kind }),
    );
    this.#performer = new Performer({
      now: this.#now,
      ports: this.#ports,
      policyOf: typeof policies === "function" ? policies : () => policies,
      tickets: this.#tickets,
      deadlines: this.#deadlines,
      notAsked: (ticket, ask) => this.helperFailed(ticket.approvalId, ask, "not_asked"),
    });
  }

  /** Opens a ticket for an agent's request and returns its approval id. It may be settled already when this returns. */
  open(opening: TicketOpening): string {
    const copy = copyOpening(opening);
    const options = copy.options ?? [];
    const { state, effects } = open(options, this.#endsAtOnce(copy, options));
    const approvalId = this.#mintId();
    const ticket = new OpenTicket({ opening: copy, options, approvalId, openedAt: this.#now(), state });
    this.#tickets.add(ticket);
    const { agent, sessionId, toolCallId } = copy;
    this.#ports.recordOpening(this.#performer.view(ticket));
    this.#ports.log("approval.requested", { approvalId, agent, sessionId, toolCallId, options: options.length });
    // A port may have ended the ticket in the meantime.
    if (this.#tickets.get(approvalId) === ticket) this.#performer.perform(ticket, effects);
    return approvalId;
  }

  /** Counts only for the question that the Helper has: not for an earlier one, nor for one that was never put. */
  helperAnswered(approvalId: string, ask: number, verdict: HelperVerdict): void {
    const ticket = this.#tickets.get(approvalId);
    if (ticket?.takeAsk(ask) !== true) return this.#stale("helper_answer", approvalId);
    const controllers = this.#people.ids(ticket.opening.session);
    const refusesAll = this.#ports.refusesAll(this.#performer.view(ticket));
    this.#apply(ticket, { event: "helper_answered", ask, verdict, controllers, refusesAll });
  }

  /** The Helper cannot answer this question and will not be asked it again. `fault` is a kind, never a text of the Helper's. */
  helperFailed(approvalId: string, ask: number, fault: string): void {
    const ticket = this.#tickets.get(approvalId);
    if (ticket?.takeAsk(ask) !== true) return this.#stale("helper_failed", approvalId);
    this.#apply(ticket, { event: "helper_failed", ask, fault });
  }

  /** Another Helper took over the session: it is asked about each open ticket, once. */
  reaskHelper(session: string): void {
    this.#sendAll(this.#tickets.of(session), { event: "helper_swapped" });
  }

  /** The session's Helper was started again: the questions that it took with it are put again, with new numbers. */
  helperRestarted(session: string): void {
    this.#sendAll(this.#tickets.of(session), { event: "helper_restarted" });
  }

  /** The session's preset became narrower: each open ticket is put to the Helper once more and its dialogs stay. */
  narrow(session: string): void {
    this.#sendAll(this.#tickets.of(session), { event: "narrowed" });
  }

  /** An answer in a dialog. It counts once for each offer that was made, and only while that dialog is open. */
  clientAnswered(approvalId: string, clientId: string, answer: ClientAnswer): void {
    const ticket = this.#tickets.get(approvalId);
    if (ticket?.takeBack(clientId) !== true) return this.#stale("client_answer", approvalId);
    const name = this.#people.nameOf(ticket.opening.session, clientId);
    const refusesAll = this.#ports.refusesAll(this.#performer.view(ticket));
    this.#apply(ticket, { event: "client_answered", clientId, name, answer, refusesAll });
  }

  /**
   * An answer by approval id, from a controller attached or not. `accepted` says that this very answer decided. An
   * `error` is the sender's mistake and the ticket stays open; its text says what to do and names no content.
   */
  answerById(
    approvalId: string,
    by: { readonly clientId: string; readonly name: string },
    answer: ClientAnswer,
    check: AnswerCheck,
  ): Receipt {
    const ticket = this.#tickets.get(approvalId);
    // Before people are asked nobody but the Helper can know of it.
    if (ticket?.state.state !== "offered") return { status: "not_pending" };
    const error = misfit(ticket, answer, check);
    if (error !== undefined) return { error };
    this.#apply(ticket, {
      event: "answered_by_id",
      name: by.name,
      answer,
      refusesAll: this.#ports.refusesAll(this.#performer.view(ticket)),
    });
    return { status: decidedBy(ticket, by.name, answer) ? "accepted" : "not_pending" };
  }

  /** Shows the client every open question of the session that this attachment does not have, by `askedAt`. */
  controllerAttached(session: string, clientId: string, name: string): void {
    this.#people.add(session, clientId, name);
    const offered = this.#tickets.of(session).filter((ticket) => ticket.askedAt !== undefined);
    const byAskedAt = offered.toSorted((a, b) => (a.askedAt ?? 0) - (b.askedAt ?? 0));
    this.#sendAll(byAskedAt, { event: "client_attached", clientId });
  }

  controllerDetached(session: string, clientId: string): void {
    this.#people.remove(session, clientId);
    this.#sendAll(this.#tickets.of(session), { event: "client_detached", clientId });
  }

  turnCancelled(session: string): void {
    this.#end(this.#tickets.of(session), "turn_cancelled");
  }

  /** The prompt of this turn was answered. Tickets of no turn or of another one stay. */
  turnEnded(session: string, turn: number): void {
    if (this.#tickets.countOf(session) === 0) return;
    const ofTurn = this.#tickets.of(session).filter((ticket) => ticket.opening.turn === turn);
    this.#end(ofTurn, "turn_ended");
  }

  /** The session was closed, deleted or given up. Attached controllers stay known until they detach. */
  sessionClosed(session: string): void {
    this.#end(this.#tickets.of(session), "session_closed");
  }

  /** The tool call is over; `child` is the session below that it is of. */
  terminalStatus(session: string, toolCallId: string, child?: string): void {
    if (!this.guarded(session, toolCallId, child)) return;
    const ofCall = this.#tickets
      .of(session)
      .filter(({ opening }) => opening.toolCallId === toolCallId && opening.child === child);
    this.#end(ofCall, "terminal_status");
  }

  /** The agent withdrew its own request. */
  agentCancelled(approvalId: string): void {
    this.#send(approvalId, { event: "ended", cause: "agent_cancelled" });
  }

  /** This process instance is gone: its tickets end and nothing is sent to it. */
  processExited(process: string): void {
    this.#performer.processExited(process);
    const ofProcess = this.#tickets.all().filter((ticket) => ticket.opening.process === process);
    for (const ticket of ofProcess) ticket.agentGone = true;
    this.#end(ofProcess, "agent_exited");
  }

  presetRefusesAll(session: string): void {
    this.#end(this.#tickets.of(session), "preset_refuses_all");
  }

  /** The daemon stops: everything open ends, and whatever is opened after this ends at once. */
  stopping(): void {
    this.#stopping = true;
    this.#end(this.#tickets.all(), "stopping");
  }

  /** Whether an open ticket of the session names this tool call; never for an empty id. */
  guarded(session: string, toolCallId: string, child?: string): boolean {
    return toolCallId !== "" && this.#tickets.names(session, toolCallId, child);
  }

  openCount(session: string): number {
    return this.#tickets.countOf(session);
  }

  get(approvalId: string): TicketView | undefined {
    const ticket = this.#tickets.get(approvalId);
    return ticket && this.#performer.view(ticket);
  }

  /** The open tickets, in the order in which they were opened. */
  tickets(session?: string): TicketView[] {
    const tickets = session === undefined ? this.#tickets.all() : this.#tickets.of(session);
    return tickets.map((ticket) => this.#performer.view(ticket));
  }

  /** Stops and releases the timer. */
  [Symbol.dispose](): void {
    this.stopping();
    this.#deadlines[Symbol.dispose]();
  }

  #endsAtOnce(opening: TicketOpening, options: readonly TicketOption[]): EndCause | undefined {
    if (this.#stopping) return "stopping";
    if (opening.turnCancelling) return "turn_cancelled";
    if (!opening.knownSession) return "unknown_session";
    return options.length === 0 ? "bad_options" : undefined;
  }

  #end(tickets: readonly OpenTicket[], cause: EndCause): void {
    this.#sendAll(tickets, { event: "ended", cause });
  }

  // Every ticket moves before a port is called for the first: nothing that a port brings can slip in between.
  #sendAll(tickets: readonly OpenTicket[], event: TicketEvent): void {
    const moved = tickets.map((ticket) => ({ ticket, effects: move(ticket, event) }));
    for (const { ticket, effects } of moved) this.#performer.perform(ticket, effects);
  }

  #send(approvalId: string, event: TicketEvent): void {
    const ticket = this.#tickets.get(approvalId);
    if (ticket === undefined) this.#stale(event.event, approvalId);
    else this.#apply(ticket, event);
  }

  #apply(ticket: OpenTicket, event: TicketEvent): void {
    this.#performer.perform(ticket, move(ticket, event));
  }

  #stale(what: string, approvalId: string): void {
    this.#ports.log("ticket.not_pending", { approvalId, what });
  }
}

function move(ticket: OpenTicket, event: TicketEvent): readonly TicketEffect[] {
  const { state, effects } = transition(ticket.state, event);
  ticket.state = state;
  return effects;
}
