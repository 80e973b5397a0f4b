// The master's ports behind a fence: what a port throws is logged by the port's name and goes no further. It decides nothing but the closed side.
import type { AgentAnswer } from "./choice.ts";
import type { Decision } from "./decision.ts";
import type { TicketPorts } from "./ticket-ports.ts";
import type { TicketView } from "./ticket.ts";

type Named = Exclude<keyof TicketPorts, "now" | "mintId" | "timers">;

export class CarefulPorts {
  readonly #ports: TicketPorts;

  constructor(ports: TicketPorts) {
    this.#ports = ports;
  }

  recordOpening(ticket: TicketView): void {
    this.#run("recordOpening", ticket, () => this.#ports.recordOpening(ticket));
  }

  /** False also when the port throws: nothing is known to be written then. */
  recordDecision(ticket: TicketView, decision: Decision): boolean {
    let written = false;
    this.#run("recordDecision", ticket, () => {
      written = this.#ports.recordDecision(ticket, decision);
    });
    return written;
  }

  answerAgent(ticket: TicketView, answer: AgentAnswer): void {
    this.#run("answerAgent", ticket, () => this.#ports.answerAgent(ticket, answer));
  }

  /** False when the question did not go out. */
  askHelper(ticket: TicketView, ask: number): boolean {
    return this.#run("askHelper", ticket, () => this.#ports.askHelper(ticket, ask));
  }

  cancelHelper(ticket: TicketView, ask: number): void {
    this.#run("cancelHelper", ticket, () => this.#ports.cancelHelper(ticket, ask));
  }

  asked(ticket: TicketView): void {
    this.#run("asked", ticket, () => this.#ports.asked?.(ticket));
  }

  offer(ticket: TicketView, clientId: string): void {
    this.#run("offer", ticket, () => this.#ports.offer(ticket, clientId));
  }

  withdraw(ticket: TicketView, clientId: string): void {
    this.#run("withdraw", ticket, () => this.#ports.withdraw(ticket, clientId));
  }

  resolved(ticket: TicketView, decision: Decision): void {
    this.#run("resolved", ticket, () => this.#ports.resolved(ticket, decision));
  }

  /** True also when the port throws. */
  refusesAll(ticket: TicketView): boolean {
    let refuses = true;
    this.#run("refusesAll", ticket, () => {
      refuses = this.#ports.refusesAll?.(ticket) ?? false;
    });
    return refuses;
  }

  /** The decision with the name that the port gives its decider. */
  named(ticket: TicketView, decision: Decision): Decision {
    const { kind } = decision.by;
    let { name } = decision.by;
    if (kind === "client") return decision;
    this.#run("deciderName", ticket, () => {
      name = this.#ports.deciderName?.(kind, ticket) ?? name;
    });
    return { outcome: decision.outcome, by: { kind, name } };
  }

  log(event: string, fields: object): void {
    try {
      this.#ports.log(event, fields);
    } catch {
      // A log that cannot be written must not change what becomes of a ticket, and there is nowhere left to say so.
    }
  }

  #run(port: Named, ticket: TicketView, call: () => void): boolean {
    try {
      call();
      return true;
    } catch {
      // The error's text is the port's and could hold anything, so only the port's name is kept.
      this.log("ticket.port_failed", { approvalId: ticket.approvalId, port });
      return false;
    }
  }
}
