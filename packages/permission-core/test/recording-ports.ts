// A master that only writes down what it is told to do, in order, one short line for each call.
import type { Decision } from "../src/decision.ts";
import type { TicketPolicies, TicketPolicy, TicketPorts } from "../src/ticket-ports.ts";
import type { TicketOpening, TicketView } from "../src/ticket.ts";
import { Tickets } from "../src/tickets.ts";
import { VirtualClock } from "./virtual-clock.ts";

export const threeOptions = [
  { optionId: "allow", kind: "allow_once" },
  { optionId: "always", kind: "allow_always" },
  { optionId: "deny", kind: "reject_once" },
];

export interface Recording {
  readonly tickets: Tickets;
  readonly clock: VirtualClock;
  /** Every call so far; `take` empties it. */
  readonly lines: string[];
  readonly decisions: Decision[];
  readonly views: TicketView[];
  readonly logged: { readonly event: string; readonly fields: object }[];
  /** The lines since the last call of this. */
  readonly take: () => string[];
  readonly opening: (changes?: Partial<TicketOpening>) => TicketOpening;
  /** Opens a ticket, passes it on to people and forgets the lines of that. */
  readonly offered: (changes?: Partial<TicketOpening>) => string;
}

const opening = (changes: Partial<TicketOpening> = {}): TicketOpening => ({
  session: "s1",
  sessionId: "outward-1",
  agent: "demo",
  process: "p1",
  toolCallId: "call-1",
  options: threeOptions,
  paramsDigest: "00",
  turn: 1,
  turnCancelling: false,
  knownSession: true,
  ...changes,
});

export function recording(
  options: {
    readonly policy?: Partial<TicketPolicy> | Extract<TicketPolicies, (agent: string) => TicketPolicy>;
    readonly ports?: Partial<TicketPorts>;
  } = {},
): Recording {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const decisions: Decision[] = [];
  const views: TicketView[] = [];
  const logged: { event: string; fields: object }[] = [];
  let minted = 0;
  const ports: TicketPorts = {
    now: clock.now,
    timers: clock.timers,
    mintId: () => `t${++minted}`,
    recordOpening: (ticket) => void lines.push(`opening ${ticket.approvalId}`),
    recordDecision: (ticket, decision) => {
      lines.push(`record ${ticket.approvalId} ${decision.outcome.result} by ${decision.by.kind}`);
      return true;
    },
    answerAgent: (ticket, answer) =>
      void lines.push(
        `answer ${ticket.approvalId} ${answer.outcome === "selected" ? answer.optionId : answer.outcome}`,
      ),
    askHelper: (ticket, ask) => void lines.push(`ask ${ticket.approvalId} ${ask}`),
    cancelHelper: (ticket, ask) => void lines.push(`unask ${ticket.approvalId} ${ask}`),
    offer: (ticket, clientId) => {
      views.push(ticket);
      lines.push(`offer ${ticket.approvalId} ${clientId}`);
    },
    withdraw: (ticket, clientId) => void lines.push(`withdraw ${ticket.approvalId} ${clientId}`),
    resolved: (ticket, decision) => {
      decisions.push(decision);
      lines.push(`resolved ${ticket.approvalId} ${decision.outcome.result} by ${decision.by.kind}`);
    },
    log: (event, fields) => void logged.push({ event, fields }),
    ...options.ports,
  };
  const { policy } = options;
  const general = { timeoutSeconds: 0, noClientSeconds: 600 };
  const tickets = new Tickets(ports, typeof policy === "function" ? policy : { ...general, ...policy });
  return {
    tickets,
    clock,
    lines,
    decisions,
    views,
    logged,
    take: () => lines.splice(0),
    opening,
    offered(changes) {
      const approvalId = tickets.open(opening(changes));
      tickets.helperAnswered(approvalId, 1, { outcome: "ask" });
      lines.splice(0);
      return approvalId;
    },
  };
}
