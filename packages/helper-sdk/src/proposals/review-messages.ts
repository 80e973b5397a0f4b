// What a user interface and a Helper say to each other about cards: one JSON object a line, over an owner-only socket.
import type { FinalStatus } from "@acp-master/proposal-channel";
import type { Mode } from "./executor.ts";

export const reviewVersion = 1;

/** Lines towards the Helper are short; the other way a welcome with the cards of many sessions is the longest. */
export const maxRequestBytes = 4 * 1024;
export const maxReviewBytes = 16 * 1024 * 1024;

/** What a person decides on. No text in it holds a character that a terminal would obey or hide: they are `\u{…}`. */
export interface Card {
  readonly proposalId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  readonly origin: string;
  /** The place it is bound to, in the executor's words. */
  readonly target: string | null;
  readonly choices: readonly CardChoice[];
  /** The number of the choice to highlight; always one of `choices`. */
  readonly recommended: number;
  /** Milliseconds of the wall clock. Then it is `timed_out`. */
  readonly deadline: number;
  /** Whoever proposed is gone; the card may still be decided. */
  readonly detached: boolean;
}

export interface CardChoice {
  readonly choice: number;
  readonly title: string;
  readonly rationale: string;
  readonly actions: readonly CardAction[];
  /** `insert` is left out where a line feed would execute, and where nothing is typed. */
  readonly modes: readonly Mode[];
}

export interface CardAction {
  readonly type: string;
  /** The exact text, cut at its line feeds. */
  readonly lines: readonly string[];
}

/** One for each session in which commands that looked like proposals were refused, or which cannot have proposals. */
export interface Notice {
  readonly sessionId: string;
  /** The class of the last refusal. */
  readonly why: string;
  readonly count: number;
  /** For people. It holds nothing of the refused command. */
  readonly text: string;
}

export type DecisionRequest =
  | { readonly proposalId: string; readonly decision: "confirm"; readonly choice: number; readonly mode: Mode }
  | { readonly proposalId: string; readonly decision: "cancel" };

/** A user interface's lines. The first is `hello`. */
export type ReviewRequest =
  | {
      readonly type: "hello";
      readonly version: number;
      readonly name: string;
      /** The executor's name of the place in which the cards are shown; nothing is ever sent there. */
      readonly place?: string;
    }
  /** A person can see this card. */
  | { readonly type: "shown"; readonly proposalId: string }
  /** `id` is the interface's own; exactly one `decided` answers it. */
  | ({ readonly type: "decide"; readonly id: number } & DecisionRequest);

/**
 * What became of a decision. `confirmed`: handed over. `cancelled`: the no was first. `unavailable`: it was first, but
 * nothing could be carried out. `lost`: somebody or something was earlier. `invalid`: no such card, choice or mode.
 */
export type DecisionEnd = "confirmed" | "cancelled" | "unavailable" | "lost" | "invalid";

/** The Helper's lines. */
export type ReviewEvent =
  | {
      readonly type: "welcome";
      readonly version: number;
      readonly helper: string;
      readonly cards: readonly Card[];
      readonly notices: readonly Notice[];
      readonly turns: readonly ShownProposal[];
    }
  /** A new card, or one that has changed. */
  | { readonly type: "card"; readonly card: Card }
  /** Remove the card. `by` is the name of the interface that decided, if one did. */
  | {
      readonly type: "over";
      readonly sessionId: string;
      readonly proposalId: string;
      readonly status: FinalStatus | "refused";
      readonly by?: string;
    }
  | { readonly type: "notice"; readonly notice: Notice }
  | ({ readonly type: "turn" } & ShownProposal)
  | { readonly type: "decided"; readonly id: number; readonly end: DecisionEnd }
  /** The last line before the connection is closed. */
  | { readonly type: "refused"; readonly reason: string };

/** The proposal that the running turn of a session has shown: kept over a decision until the turn ends, then null. */
export interface ShownProposal {
  readonly sessionId: string;
  readonly proposalId: string | null;
}
