// The user interface's end of a review endpoint. It loads no library, so that a console or a command can carry it.
import type { DecisionEnd, DecisionRequest, ReviewEvent } from "./review-messages.ts";

export interface ReviewClientOptions {
  /** The `review` of a session row. */
  readonly path: string;
  /** Who decides, as others are told. */
  readonly name: string;
  /** The executor's name of the place in which the cards are shown, if they are in one. */
  readonly place?: string;
  /** Every event but `decided`, in order; the first is `welcome`. */
  readonly onEvent: (event: Exclude<ReviewEvent, { type: "decided" }>) => void;
  /** Exactly once, when nothing more comes. */
  readonly onClose: (reason: string | undefined) => void;
}

export interface ReviewClient {
  /** A person can see this card now. The first such word commits it. */
  shown(proposalId: string): void;
  /** `lost` also when the connection goes before an answer: look at the next welcome. */
  decide(request: DecisionRequest): Promise<DecisionEnd>;
  close(): void;
}

/** Connects once. A path that is not there, or no review endpoint, ends in `onClose` with a reason for people. */
export declare function openReview(options: ReviewClientOptions): ReviewClient;

export { maxReviewBytes, reviewVersion } from "./review-messages.ts";
export type {
  Card,
  CardAction,
  CardChoice,
  DecisionEnd,
  DecisionRequest,
  Notice,
  ReviewEvent,
  ShownProposal,
} from "./review-messages.ts";
export type { Mode } from "./executor.ts";
