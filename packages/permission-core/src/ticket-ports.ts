// What Tickets needs from the master. Every port may call Tickets again before it returns; a port that throws harms nothing but itself.
import type { AgentAnswer } from "./choice.ts";
import type { ByKind, Decision } from "./decision.ts";
import type { Timers } from "./deadlines.ts";
import type { TicketView } from "./ticket.ts";

export interface TicketPorts {
  /** Wall clock, milliseconds. */
  now(): number;
  /** A new approval id. `recordOpening` is the first call that carries it, and it may come before `open` returns. */
  mintId(): string;
  recordOpening(ticket: TicketView): void;
  /** Writes the decision record at once. False (or a throw) says that it is not written: an allow then becomes a refusal. */
  recordDecision(ticket: TicketView, decision: Decision): boolean;
  /** Called exactly once for each ticket, and never once the agent process has exited. */
  answerAgent(ticket: TicketView, answer: AgentAnswer): void;
  /** Leads to `helperAnswered` or `helperFailed` with the same number, at once or later. */
  askHelper(ticket: TicketView, ask: number): void;
  /** The answer to that question no longer matters. */
  cancelHelper(ticket: TicketView, ask: number): void;
  /** People are asked from now on, also when nobody is attached to be shown it. Once for each ticket. */
  asked?(ticket: TicketView): void;
  /** Shows the ticket to a client. It comes again for the same client after a faulty answer or a new attachment. */
  offer(ticket: TicketView, clientId: string): void;
  /** Closes a dialog; it also comes for a client that detached, whose connection may be gone already. */
  withdraw(ticket: TicketView, clientId: string): void;
  /** The last call for a ticket. */
  resolved(ticket: TicketView, decision: Decision): void;
  /** Ids, kinds and numbers only. */
  log(event: string, fields: object): void;
  /** Whether the session's preset refuses everything at this moment; asked in the step that would apply an allow. */
  refusesAll?(ticket: TicketView): boolean;
  /** The name to record beside a kind other than `client`, such as the Helper's. Default: the kind. */
  deciderName?(kind: ByKind, ticket: TicketView): string;
  /** Default: the process's own timers, which do not keep it alive. */
  readonly timers?: Timers;
}

/** 0: no limit. */
export interface TicketPolicy {
  readonly timeoutSeconds: number;
  readonly noClientSeconds: number;
}

/** For all agents, or for one by its name. Read at each use, so a changed configuration counts from the next ticket on. */
export type TicketPolicies = TicketPolicy | ((agent: string) => TicketPolicy);
