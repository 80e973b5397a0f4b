// The rules of one ticket as a pure function. It knows no clock, no connection and no content, and performs nothing.
// The compiler checks that each switch below is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import { checkHelperChoice, grants, isOffered, refuse } from "./choice.ts";
import type { AgentAnswer, TicketOption } from "./choice.ts";
import { decided, ending } from "./decision.ts";
import type { ByKind, EndCause, Outcome, Verdict } from "./decision.ts";
import { attach, closeDialog, detach, firstOffers, openDialogs, showAgain } from "./dialogs.ts";
import type { Deciding, Offered, TicketEffect, TicketEvent, TicketState, Transition } from "./ticket-state.ts";

type Open = Deciding | Offered;
type EventOf<Kind extends TicketEvent["event"]> = Extract<TicketEvent, { event: Kind }>;

/**
 * A new ticket. `endsAtOnce` names why nobody is to be asked, if so.
 *
 *     open([{ optionId: "a", kind: "allow_once" }], undefined).effects  // [{ effect: "ask_helper", ask: 1 }]
 */
export function open(options: readonly TicketOption[], endsAtOnce: EndCause | undefined): Transition {
  if (endsAtOnce !== undefined) return settled(ending(endsAtOnce, options), []);
  return {
    state: { state: "deciding", options, asks: 1, offersMade: 0, ask: { number: 1, purpose: "decide" } },
    effects: [{ effect: "ask_helper", ask: 1 }],
  };
}

/**
 * What an event does to a ticket. An event that means nothing in this state (a stale question's answer, an answer of a
 * client without an open dialog, anything at all once settled) gives the same state and no effects.
 *
 *     transition(state, { event: "ended", cause: "turn_cancelled" })
 */
export function transition(state: TicketState, event: TicketEvent): Transition {
  if (state.state === "settled") return unchanged(state);
  switch (event.event) {
    case "helper_answered":
      return state.ask?.number === event.ask ? helperAnswered(state, event) : unchanged(state);
    case "helper_failed":
      return state.ask?.number === event.ask ? helperFailed(state, event.fault) : unchanged(state);
    case "helper_swapped":
      return askAgain(state, state.ask?.purpose ?? "again");
    case "helper_restarted":
      return state.ask === undefined ? unchanged(state) : askAgain(state, state.ask.purpose);
    case "narrowed":
      return askAgain(state, "narrow");
    case "client_answered":
      return clientAnswered(state, event);
    case "answered_by_id":
      return answeredById(state, event);
    case "client_attached":
      return state.state === "offered" ? attach(state, event.clientId) : unchanged(state);
    case "client_detached":
      return state.state === "offered" ? detach(state, event.clientId) : unchanged(state);
    case "ended":
      return settled(ending(event.cause, state.options), openDialogs(state));
  }
}

/** What is left of a verdict whose record could not be written: whatever might grant something is refused instead. */
export function withoutRecord(verdict: Verdict, options: readonly TicketOption[]): Verdict {
  const { answer } = verdict;
  if (answer?.outcome !== "selected" || !grants(options, answer.optionId)) return verdict;
  return { decision: decided({ result: "refused" }, "master"), answer: refuse(options) };
}

function helperAnswered(state: Open, event: EventOf<"helper_answered">): Transition {
  const { verdict } = event;
  const narrowing = state.ask?.purpose === "narrow";
  switch (verdict.outcome) {
    case "ask":
      return leaveToPeople(state, event.controllers);
    case "cancelled":
      if (narrowing) return presetRefuses(state, refuse(state.options));
      return settle(state, { result: "cancelled" }, "helper", { outcome: "cancelled" });
    case "selected": {
      const { optionId } = verdict;
      const choice = checkHelperChoice(state.options, optionId);
      if (!choice.ok) return helperFailed(state, choice.fault);
      if (narrowing && choice.grants) return leaveToPeople(state, event.controllers);
      if (narrowing) return presetRefuses(state, { outcome: "selected", optionId });
      if (choice.grants && event.refusesAll) return presetRefuses(state, refuse(state.options));
      return settle(state, { result: "selected", optionId }, "helper", { outcome: "selected", optionId });
    }
  }
}

function helperFailed(state: Open, fault: string): Transition {
  const noted: TicketEffect = { effect: "note_fault", by: "helper", name: "helper", fault };
  // After a narrowing people already have the question and it stays theirs; a Helper that never passed it on fails closed.
  const result: Transition =
    state.state === "offered" && state.ask?.purpose === "narrow"
      ? leaveToPeople(state, [])
      : settle(state, { result: "unavailable" }, "helper", refuse(state.options));
  return { state: result.state, effects: [...result.effects, noted] };
}

function leaveToPeople(state: Open, controllers: readonly string[]): Transition {
  if (state.state === "offered") return { state: { ...state, ask: undefined }, effects: [] };
  return firstOffers(state, controllers);
}

function askAgain(state: Open, purpose: "decide" | "again" | "narrow"): Transition {
  const number = state.asks + 1;
  const effects: readonly TicketEffect[] = [{ effect: "ask_helper", ask: number }];
  if (state.state === "deciding") {
    const ask = { number, purpose: purpose === "again" ? "decide" : purpose };
    return { state: { ...state, asks: number, ask }, effects };
  }
  const ask = { number, purpose: purpose === "decide" ? "again" : purpose };
  return { state: { ...state, asks: number, ask }, effects };
}

function clientAnswered(state: Open, event: EventOf<"client_answered">): Transition {
  const { answer, clientId, name } = event;
  if (!openDialogs(state).includes(clientId) || state.state !== "offered") return unchanged(state);
  const others = openDialogs(state).filter((open) => open !== clientId);
  const refusedBy = (): Transition =>
    settled({ decision: decided({ result: "refused" }, "client", name), answer: refuse(state.options) }, others);
  switch (answer.kind) {
    case "selected":
      if (isOffered(state.options, answer.optionId)) return chosen(state, answer.optionId, { ...event, others });
      return faulted(state, { clientId, fault: "option_not_offered", last: refusedBy });
    case "cancelled":
      return others.length === 0 ? refusedBy() : closeDialog(state, clientId);
    case "fault":
      return faulted(state, { clientId, fault: answer.fault, last: refusedBy });
  }
}

function faulted(
  state: Offered,
  slip: { readonly clientId: string; readonly fault: string; readonly last: () => Transition },
): Transition {
  const { clientId, fault, last } = slip;
  const result = showAgain(state, clientId);
  const noted: TicketEffect = { effect: "note_fault", by: "client", name: clientId, fault };
  const { state: next, effects } = openDialogs(result.state).length === 0 ? last() : result;
  return { state: next, effects: [...effects, noted] };
}

function answeredById(state: Open, event: EventOf<"answered_by_id">): Transition {
  if (state.state !== "offered") return unchanged(state);
  const { answer, name } = event;
  const others = openDialogs(state);
  switch (answer.kind) {
    case "selected":
      return isOffered(state.options, answer.optionId)
        ? chosen(state, answer.optionId, { ...event, others })
        : unchanged(state);
    case "cancelled":
      // Said about this approval by its id, so it is a "no" and not one of several dialogs that closed.
      return settled(
        { decision: decided({ result: "refused" }, "client", name), answer: refuse(state.options) },
        others,
      );
    case "fault":
      return unchanged(state);
  }
}

function chosen(
  state: Offered,
  optionId: string,
  by: { readonly name: string; readonly refusesAll: boolean; readonly others: readonly string[] },
): Transition {
  const overruled = by.refusesAll || state.ask?.purpose === "narrow";
  if (overruled && grants(state.options, optionId)) {
    return settled({ decision: decided({ result: "refused" }, "preset"), answer: refuse(state.options) }, by.others);
  }
  const decision = decided({ result: "selected", optionId }, "client", by.name);
  return settled({ decision, answer: { outcome: "selected", optionId } }, by.others);
}

function presetRefuses(state: Open, answer: AgentAnswer): Transition {
  return settle(state, { result: "refused" }, "preset", answer);
}

function settle(state: Open, outcome: Outcome, by: ByKind, answer: AgentAnswer): Transition {
  return settled({ decision: decided(outcome, by), answer }, openDialogs(state));
}

function settled(verdict: Verdict, withdraw: readonly string[]): Transition {
  return {
    state: { state: "settled", decision: verdict.decision },
    effects: [{ effect: "settle", ...verdict, withdraw }],
  };
}

function unchanged(state: TicketState): Transition {
  return { state, effects: [] };
}
