// The open tickets and where to find them: by id and by session. It changes no state and performs nothing.
import type { TicketOption } from "./choice.ts";
import { openDialogs } from "./dialogs.ts";
import type { TicketState } from "./ticket-state.ts";
import type { TicketOpening, TicketView } from "./ticket.ts";

export interface TicketBirth {
  readonly opening: TicketOpening;
  readonly options: readonly TicketOption[];
  readonly approvalId: string;
  readonly openedAt: number;
  readonly state: TicketState;
}

/** One ticket with what its owner has done about it so far. */
export class OpenTicket {
  readonly opening: TicketOpening;
  readonly options: readonly TicketOption[];
  readonly approvalId: string;
  readonly openedAt: number;
  state: TicketState;
  askedAt: number | undefined;
  /** The question that the Helper got and has not answered. */
  askSent: number | undefined;
  agentGone = false;
  readonly #shownTo = new Set<string>();
  readonly #showing = new Set<string>();

  constructor(birth: TicketBirth) {
    this.opening = birth.opening;
    this.options = birth.options;
    this.approvalId = birth.approvalId;
    this.openedAt = birth.openedAt;
    this.state = birth.state;
  }

  /** Takes the answer to a question, which the Helper can give once. */
  takeAsk(ask: number): boolean {
    if (this.askSent !== ask) return false;
    this.askSent = undefined;
    return true;
  }

  awaits(ask: number): boolean {
    return this.state.state !== "settled" && this.state.ask?.number === ask;
  }

  hasOpenOffer(clientId: string, offer: number): boolean {
    if (this.state.state !== "offered") return false;
    return this.state.dialogs.some(
      (dialog) => dialog.clientId === clientId && dialog.state === "open" && dialog.offer === offer,
    );
  }

  isUnwatched(): boolean {
    return this.state.state === "offered" && openDialogs(this.state).length === 0;
  }

  showTo(clientId: string): void {
    this.#shownTo.add(clientId);
    this.#showing.add(clientId);
  }

  /** Whether there was a dialog to take back. */
  takeBack(clientId: string): boolean {
    return this.#showing.delete(clientId);
  }

  // Field by field: this runs for every port call, and a spread costs ten times as much.
  view(expiresAt: number | undefined): TicketView {
    const { opening } = this;
    return {
      session: opening.session,
      sessionId: opening.sessionId,
      agent: opening.agent,
      process: opening.process,
      toolCallId: opening.toolCallId,
      child: opening.child,
      options: opening.options,
      paramsDigest: opening.paramsDigest,
      turn: opening.turn,
      turnCancelling: opening.turnCancelling,
      knownSession: opening.knownSession,
      approvalId: this.approvalId,
      state: this.state.state,
      openedAt: this.openedAt,
      askedAt: this.askedAt,
      expiresAt,
      shownTo: [...this.#shownTo],
      offers: openDialogs(this.state),
    };
  }
}

export class OpenTickets {
  readonly #byId = new Map<string, OpenTicket>();
  readonly #bySession = new Map<string, Set<OpenTicket>>();

  add(ticket: OpenTicket): void {
    const { session } = ticket.opening;
    this.#byId.set(ticket.approvalId, ticket);
    const ofSession = this.#bySession.get(session);
    if (ofSession === undefined) this.#bySession.set(session, new Set([ticket]));
    else ofSession.add(ticket);
  }

  /** Whether it was there: only one caller can remove a ticket. */
  remove(ticket: OpenTicket): boolean {
    const ofSession = this.#bySession.get(ticket.opening.session);
    ofSession?.delete(ticket);
    if (ofSession?.size === 0) this.#bySession.delete(ticket.opening.session);
    return this.#byId.delete(ticket.approvalId);
  }

  get(approvalId: string): OpenTicket | undefined {
    return this.#byId.get(approvalId);
  }

  /** A copy, in the order of opening, so that it can be walked while tickets come and go. */
  all(): OpenTicket[] {
    return [...this.#byId.values()];
  }

  of(session: string): OpenTicket[] {
    return [...(this.#bySession.get(session) ?? [])];
  }

  countOf(session: string): number {
    return this.#bySession.get(session)?.size ?? 0;
  }

  /** Asked for every tool call frame, so it copies nothing. */
  names(session: string, toolCallId: string, child: string | undefined): boolean {
    for (const { opening } of this.#bySession.get(session) ?? []) {
      if (opening.toolCallId === toolCallId && opening.child === child) return true;
    }
    return false;
  }
}
