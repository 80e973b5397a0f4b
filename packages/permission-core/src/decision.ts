// How a ticket can end and who ended it. Words and ids only.
import { refuse } from "./choice.ts";
import type { AgentAnswer, TicketOption } from "./choice.ts";

export type OutcomeResult = "selected" | "refused" | "cancelled" | "expired" | "unavailable" | "superseded";

export interface Outcome {
  readonly result: OutcomeResult;
  readonly optionId?: string;
}

export type ByKind =
  "client" | "helper" | "preset" | "cancel" | "expiry" | "no_client" | "agent_exit" | "superseded" | "master";

export interface Decision {
  readonly outcome: Outcome;
  /** `name` is the client's name for `client`; else what the port `deciderName` says, or the kind again. */
  readonly by: { readonly kind: ByKind; readonly name: string };
}

/** A decision and what the agent hears of it; no answer means that the agent is gone. */
export interface Verdict {
  readonly decision: Decision;
  readonly answer: AgentAnswer | undefined;
}

/** What ends a ticket though neither the Helper nor a person decided it. */
export type EndCause =
  | "turn_cancelled"
  | "agent_cancelled"
  | "session_closed"
  | "turn_ended"
  | "terminal_status"
  | "agent_exited"
  | "preset_refuses_all"
  | "time_over"
  | "no_client"
  | "stopping"
  | "unknown_session"
  | "bad_options";

interface Ending {
  readonly result: OutcomeResult;
  readonly by: ByKind;
  readonly agentGets: "refusal" | "cancelled" | "nothing";
}

const endings: Readonly<Record<EndCause, Ending>> = {
  turn_cancelled: { result: "cancelled", by: "cancel", agentGets: "cancelled" },
  agent_cancelled: { result: "cancelled", by: "cancel", agentGets: "cancelled" },
  session_closed: { result: "cancelled", by: "cancel", agentGets: "cancelled" },
  turn_ended: { result: "superseded", by: "superseded", agentGets: "cancelled" },
  terminal_status: { result: "superseded", by: "superseded", agentGets: "refusal" },
  agent_exited: { result: "cancelled", by: "agent_exit", agentGets: "nothing" },
  preset_refuses_all: { result: "refused", by: "preset", agentGets: "refusal" },
  time_over: { result: "expired", by: "expiry", agentGets: "refusal" },
  no_client: { result: "expired", by: "no_client", agentGets: "refusal" },
  stopping: { result: "cancelled", by: "master", agentGets: "cancelled" },
  unknown_session: { result: "refused", by: "master", agentGets: "refusal" },
  bad_options: { result: "refused", by: "master", agentGets: "refusal" },
};

export function ending(cause: EndCause, options: readonly TicketOption[]): Verdict {
  const { result, by, agentGets } = endings[cause];
  return { decision: decided({ result }, by), answer: answerFor(agentGets, options) };
}

function answerFor(agentGets: Ending["agentGets"], options: readonly TicketOption[]): AgentAnswer | undefined {
  if (agentGets === "nothing") return undefined;
  return agentGets === "cancelled" ? { outcome: "cancelled" } : refuse(options);
}

export function decided(outcome: Outcome, kind: ByKind, name: string = kind): Decision {
  return { outcome, by: { kind, name } };
}

/** The decision for a ticket that a former run of the master left open: its agent ended with that run. */
export function decisionAfterRestart(): Decision {
  return ending("agent_exited", []).decision;
}
