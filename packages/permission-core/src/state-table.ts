// The table of states and events as text, made by running transition() on one example of each. It holds no rule of its own.
import type { AgentAnswer, TicketOption } from "./choice.ts";
import type { Decision, EndCause } from "./decision.ts";
import type { Dialog, TicketEffect, TicketEvent, TicketState } from "./ticket-state.ts";
import { open, transition } from "./transition.ts";

const ignored = "ignored";

const options: readonly TicketOption[] = [
  { optionId: "allow", kind: "allow_once" },
  { optionId: "always", kind: "allow_always" },
  { optionId: "deny", kind: "reject_once" },
];

const dialog = (clientId: string, offer: number): Dialog => ({ clientId, state: "open", offer, faults: 0 });
const alone: readonly Dialog[] = [dialog("A", 1)];
const both: readonly Dialog[] = [dialog("A", 1), dialog("B", 2)];
const base = { options, asks: 1, offersMade: 2 };

const states: Readonly<Record<string, TicketState>> = {
  deciding: { ...base, state: "deciding", ask: { number: 1, purpose: "decide" } },
  "deciding, preset narrowed": { ...base, state: "deciding", ask: { number: 1, purpose: "narrow" } },
  "offered to A and B": { ...base, state: "offered", ask: undefined, dialogs: both },
  "offered to A alone": { ...base, state: "offered", ask: undefined, dialogs: alone },
  "offered, nobody attached": { ...base, state: "offered", ask: undefined, dialogs: [] },
  "offered, Helper asked again": { ...base, state: "offered", ask: { number: 1, purpose: "again" }, dialogs: both },
  "offered, preset narrowed": { ...base, state: "offered", ask: { number: 1, purpose: "narrow" }, dialogs: both },
};

const helper = { event: "helper_answered", ask: 1, controllers: ["A", "B"], refusesAll: false } as const;
const client = { event: "client_answered", clientId: "A", name: "A", refusesAll: false } as const;
const byId = { event: "answered_by_id", name: "C", refusesAll: false } as const;
const slip = { kind: "fault", fault: "not_an_outcome" } as const;

const causes: Readonly<Record<EndCause, string>> = {
  turn_cancelled: "the turn is cancelled",
  agent_cancelled: "the agent cancels its own request",
  session_closed: "the session is closed, deleted or given up",
  turn_ended: "the prompt of its turn is answered",
  terminal_status: "a terminal status for its tool call",
  agent_exited: "the agent process exits",
  preset_refuses_all: "a preset that refuses everything",
  time_over: "`timeoutSeconds` are over",
  no_client: "`noClientSeconds` are over",
  stopping: "the daemon stops",
  unknown_session: "the session is unknown",
  bad_options: "options missing, no list or empty",
};

const openingCauses: readonly EndCause[] = ["stopping", "turn_cancelled", "unknown_session", "bad_options"];
const peopleCauses: readonly EndCause[] = ["time_over", "no_client"];
const allCauses = Object.entries(causes).filter(([cause]) => cause !== "unknown_session" && cause !== "bad_options");

const events: Readonly<Record<string, TicketEvent>> = {
  "Helper: the only `allow_once`": { ...helper, verdict: { outcome: "selected", optionId: "allow" } },
  "Helper: a reject": { ...helper, verdict: { outcome: "selected", optionId: "deny" } },
  "Helper: another allow, or an option not offered": {
    ...helper,
    verdict: { outcome: "selected", optionId: "always" },
  },
  "Helper: `cancelled`": { ...helper, verdict: { outcome: "cancelled" } },
  "Helper: `ask`": { ...helper, verdict: { outcome: "ask" } },
  "Helper: the only `allow_once`, under a preset that refuses everything": {
    ...helper,
    refusesAll: true,
    verdict: { outcome: "selected", optionId: "allow" },
  },
  "Helper fails for good": { event: "helper_failed", ask: 1, fault: "died" },
  "an answer to an earlier question": { ...helper, ask: 0, verdict: { outcome: "selected", optionId: "allow" } },
  "the Helper is swapped": { event: "helper_swapped" },
  "the Helper is started again": { event: "helper_restarted" },
  "the preset becomes narrower": { event: "narrowed" },
  "client A: an allow": { ...client, answer: { kind: "selected", optionId: "allow" } },
  "client A: a reject": { ...client, answer: { kind: "selected", optionId: "deny" } },
  "client A: an option not offered": { ...client, answer: { kind: "selected", optionId: "other" } },
  "client A: no outcome at all": { ...client, answer: slip },
  "client A closes its dialog": { ...client, answer: { kind: "cancelled" } },
  "a client without a dialog answers": {
    ...client,
    clientId: "D",
    answer: { kind: "selected", optionId: "allow" },
  },
  "by id: an allow": { ...byId, answer: { kind: "selected", optionId: "allow" } },
  "by id: a reject": { ...byId, answer: { kind: "selected", optionId: "deny" } },
  "by id: `cancelled`": { ...byId, answer: { kind: "cancelled" } },
  "by id: an option not offered": { ...byId, answer: { kind: "selected", optionId: "other" } },
  "client C attaches": { event: "client_attached", clientId: "C" },
  "client A detaches": { event: "client_detached", clientId: "A" },
};

/** The whole page, in Markdown. */
export function ticketTable(): string {
  return [
    "# Tickets: states and events",
    "",
    "Generated by `scripts/generate-ticket-table.mjs` from `packages/permission-core/src/transition.ts`. Do not edit.",
    "",
    "What a table does not name is ignored in that state; a settled ticket ignores every event. The options of the",
    "examples are `allow` (`allow_once`), `always` (`allow_always`) and `deny` (`reject_once`); a refusal is therefore",
    "`deny`. The answer that the agent gets stands behind the arrow.",
    "",
    "## When it is opened",
    "",
    ...table(
      ["opened while", "what happens"],
      [
        ["nothing is in the way", describe(undefined, open(options, undefined))],
        ...openingCauses.map((cause) => [causes[cause], describe(undefined, open(options, cause))]),
      ],
    ),
    ...Object.entries(states).flatMap(([name, state]) => [
      "",
      `## ${name}`,
      "",
      ...table(
        ["event", "what happens"],
        Object.entries(events)
          .map(([event, example]) => [event, describe(state, transition(state, example))] as const)
          .filter(([, text]) => text !== ignored),
      ),
    ]),
    "",
    "## What ends it in every open state",
    "",
    ...table(
      ["event", "what happens"],
      allCauses.map(([cause, text]) => [text, endedBy(cause)]),
    ),
    "",
  ].join("\n");
}

function endedBy(name: string): string {
  const cause = endCause(name);
  const outcomes = Object.entries(states)
    .filter(([state]) => !peopleCauses.includes(cause) || state.startsWith("offered"))
    .map(([, state]) => describe(state, transition(state, { event: "ended", cause })).replace(/; close .*$/u, ""));
  return [...new Set(outcomes)].join(" or ");
}

function endCause(name: string): EndCause {
  const known = Object.keys(causes).find((cause): cause is EndCause => cause === name);
  if (known === undefined) throw new Error(`There is no end cause named ${name}.`);
  return known;
}

function describe(before: TicketState | undefined, after: ReturnType<typeof transition>): string {
  if (after.effects.length === 0) return after.state === before ? ignored : stateOf(after.state);
  return [...new Set([stateOf(after.state), ...after.effects.map(effectText)])]
    .filter((text) => text !== "")
    .join("; ");
}

function stateOf(state: TicketState): string {
  if (state.state === "settled") return "";
  if (state.ask === undefined) return `**${state.state}**`;
  return state.ask.purpose === "narrow" ? `**${state.state}**, preset narrowed` : `**${state.state}**`;
}

function effectText(effect: TicketEffect): string {
  switch (effect.effect) {
    case "ask_helper":
      return "ask the Helper";
    case "first_offer":
      return "start `timeoutSeconds`";
    case "offer":
      return `offer to ${effect.clientId}`;
    case "withdraw":
      return `close the dialog of ${effect.clientId}`;
    case "start_no_client":
      return "start `noClientSeconds`";
    case "stop_no_client":
      return "stop `noClientSeconds`";
    case "note_fault":
      return `note the ${effect.by}'s fault`;
    case "settle":
      return [
        decisionText(effect.decision, effect.answer),
        ...effect.withdraw.map((clientId) => `close the dialog of ${clientId}`),
      ].join("; ");
    default:
      return effect satisfies never;
  }
}

function decisionText({ outcome, by }: Decision, answer: AgentAnswer | undefined): string {
  const chosen = outcome.optionId === undefined ? "" : ` \`${outcome.optionId}\``;
  const told =
    answer === undefined ? "nothing" : answer.outcome === "selected" ? `\`${answer.optionId}\`` : "`cancelled`";
  return `**settled**: ${outcome.result}${chosen}, by ${by.kind} → ${told}`;
}

// Padded, as the formatter of this repository wants it.
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}
