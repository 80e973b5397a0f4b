// The dialogs of one offered ticket: who is shown it, again after a slip, and who left. It decides nothing about the ticket.
import type { Deciding, Dialog, Offered, TicketEffect, TicketState, Transition } from "./ticket-state.ts";

/** How often one connection gets the same ticket again after an answer that was none. */
const reoffersAfterFault = 3;

/** The clients that can answer in a dialog at this moment. */
export function openDialogs(state: TicketState): readonly string[] {
  if (state.state !== "offered") return [];
  return state.dialogs.filter((dialog) => dialog.state === "open").map((dialog) => dialog.clientId);
}

/** The Helper passed the ticket on: every attached controller is asked at once. */
export function firstOffers(state: Deciding, controllers: readonly string[]): Transition {
  const offered: Offered = {
    state: "offered",
    options: state.options,
    asks: state.asks,
    offersMade: 0,
    ask: undefined,
    dialogs: [],
  };
  let current = offered;
  const offers: TicketEffect[] = [];
  for (const clientId of controllers) {
    const shown = show(current, clientId, 0);
    current = shown.state;
    offers.push(...shown.effects);
  }
  const unwatched: readonly TicketEffect[] = controllers.length === 0 ? [{ effect: "start_no_client" }] : [];
  return { state: current, effects: [{ effect: "first_offer" }, ...unwatched, ...offers] };
}

/** A controller attached: it is shown the ticket unless this attachment has it already. */
export function attach(state: Offered, clientId: string): Transition {
  const known = state.dialogs.find((dialog) => dialog.clientId === clientId);
  if (known !== undefined && known.state !== "gone") return { state, effects: [] };
  return watched(state, show(state, clientId, known?.faults ?? 0));
}

/** A controller left: its dialog goes with it, the ticket stays. */
export function detach(state: Offered, clientId: string): Transition {
  const known = state.dialogs.find((dialog) => dialog.clientId === clientId);
  if (known === undefined || known.state === "gone") return { state, effects: [] };
  const effects: readonly TicketEffect[] = known.state === "open" ? [{ effect: "withdraw", clientId }] : [];
  return watched(state, { state: put(state, { ...known, state: "gone" }), effects });
}

export function closeDialog(state: Offered, clientId: string): Transition {
  const known = state.dialogs.find((dialog) => dialog.clientId === clientId);
  if (known === undefined) return { state, effects: [] };
  return watched(state, { state: put(state, { ...known, state: "closed" }), effects: [] });
}

/** An answer that was none: the client learns of it by a new offer, or its dialog counts as closed. */
export function showAgain(state: Offered, clientId: string): Transition {
  const faults = state.dialogs.find((dialog) => dialog.clientId === clientId)?.faults ?? 0;
  return faults < reoffersAfterFault ? show(state, clientId, faults + 1) : closeDialog(state, clientId);
}

function show(state: Offered, clientId: string, faults: number): { state: Offered; effects: readonly TicketEffect[] } {
  const offer = state.offersMade + 1;
  const dialog: Dialog = { clientId, state: "open", offer, faults };
  return {
    state: put({ ...state, offersMade: offer }, dialog),
    effects: [{ effect: "offer", clientId, offer }],
  };
}

function put(state: Offered, dialog: Dialog): Offered {
  const others = state.dialogs.filter((other) => other.clientId !== dialog.clientId);
  return { ...state, dialogs: [...others, dialog] };
}

// A ticket that nobody has open must not wait for ever, also when somebody attached has closed it and the rest left.
function watched(before: Offered, after: { state: Offered; effects: readonly TicketEffect[] }): Transition {
  const was = openDialogs(before).length > 0;
  const is = openDialogs(after.state).length > 0;
  if (was === is) return after;
  const clock: TicketEffect = is ? { effect: "stop_no_client" } : { effect: "start_no_client" };
  return { state: after.state, effects: [clock, ...after.effects] };
}
