// The states of one ticket, what can happen to it and what then has to be done. Ids, kinds and numbers only: no field can hold content.
import type { AgentAnswer, TicketOption } from "./choice.ts";
import type { Decision, EndCause } from "./decision.ts";

/** A question that the Helper has not answered. `again`: a swapped Helper; `narrow`: the preset became narrower. */
export interface HelperAsk<Purpose extends "decide" | "again" | "narrow"> {
  readonly number: number;
  readonly purpose: Purpose;
}

/** One client's view of the ticket. `closed` was shut by its person or by too many faults; `gone` left with its client. */
export interface Dialog {
  readonly clientId: string;
  readonly state: "open" | "closed" | "gone";
  /** Which offer of this ticket it is; every new offer has a new number. */
  readonly offer: number;
  readonly faults: number;
}

interface OpenTicket {
  readonly options: readonly TicketOption[];
  /** How often the Helper was asked, which is also the number of the latest question. */
  readonly asks: number;
  readonly offersMade: number;
}

export interface Deciding extends OpenTicket {
  readonly state: "deciding";
  readonly ask: HelperAsk<"decide" | "narrow">;
}

export interface Offered extends OpenTicket {
  readonly state: "offered";
  readonly ask: HelperAsk<"again" | "narrow"> | undefined;
  readonly dialogs: readonly Dialog[];
}

export interface Settled {
  readonly state: "settled";
  readonly decision: Decision;
}

export type TicketState = Deciding | Offered | Settled;

export type HelperVerdict =
  | { readonly outcome: "selected"; readonly optionId: string }
  | { readonly outcome: "cancelled" }
  | { readonly outcome: "ask" };

/** `fault` is the kind of the slip (for the log), never text of the answer. */
export type ClientAnswer =
  | { readonly kind: "selected"; readonly optionId: string }
  | { readonly kind: "cancelled" }
  | { readonly kind: "fault"; readonly fault: string };

export type TicketEvent =
  | {
      readonly event: "helper_answered";
      readonly ask: number;
      readonly verdict: HelperVerdict;
      /** Who is attached at this moment, for the case that people have to decide. */
      readonly controllers: readonly string[];
      readonly refusesAll: boolean;
    }
  | { readonly event: "helper_failed"; readonly ask: number; readonly fault: string }
  /** Another Helper took over: the question is put again in any case. */
  | { readonly event: "helper_swapped" }
  /** The same Helper was started again: only a question that got no answer is put again. */
  | { readonly event: "helper_restarted" }
  | { readonly event: "narrowed" }
  | {
      readonly event: "client_answered";
      readonly clientId: string;
      readonly name: string;
      readonly answer: ClientAnswer;
      readonly refusesAll: boolean;
    }
  /** A person answered by approval id instead of in a dialog. */
  | {
      readonly event: "answered_by_id";
      readonly name: string;
      readonly answer: ClientAnswer;
      readonly refusesAll: boolean;
    }
  | { readonly event: "client_attached"; readonly clientId: string }
  | { readonly event: "client_detached"; readonly clientId: string }
  | { readonly event: "ended"; readonly cause: EndCause };

export type TicketEffect =
  /** Puts a question; whatever the Helper still had is cancelled before. */
  | { readonly effect: "ask_helper"; readonly ask: number }
  /** The ticket is put to people for the first time: its time counts from here. */
  | { readonly effect: "first_offer" }
  | { readonly effect: "offer"; readonly clientId: string; readonly offer: number }
  | { readonly effect: "withdraw"; readonly clientId: string }
  | { readonly effect: "start_no_client" }
  | { readonly effect: "stop_no_client" }
  | {
      readonly effect: "settle";
      readonly decision: Decision;
      readonly answer: AgentAnswer | undefined;
      /** Clients whose dialog has to close: all open ones but the one that was answered. */
      readonly withdraw: readonly string[];
    }
  | { readonly effect: "note_fault"; readonly by: "helper" | "client"; readonly name: string; readonly fault: string };

export interface Transition {
  readonly state: TicketState;
  readonly effects: readonly TicketEffect[];
}
