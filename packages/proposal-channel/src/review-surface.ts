// What a Helper's user interface has to be for proposals to reach a person. Nothing here decides or shows anything.
import type { Binding, FinalStatus, ProposalRef } from "./book.ts";
import type { Refusal } from "./responses.ts";

/** A payload on an armed channel that waits for the decision whether a person sees it. */
export interface OpenProposal extends ProposalRef {
  readonly binding: Binding;
  readonly payload: Uint8Array;
}

/** What a person looks at. It may fail in any way: whatever is not said in time was not said. */
export interface ReviewSurface {
  isUp(): boolean;
  /** `accept`, or the refusal; `undefined` when the surface has dropped it. The signal aborts when nobody waits any more. */
  decide(proposal: OpenProposal, signal: AbortSignal): Promise<"accept" | Refusal | undefined>;
  /** Shows the card of an accepted proposal; true once it is really there. */
  showCard(proposal: ProposalRef, signal: AbortSignal): Promise<boolean>;
  /** The card that was shown may be decided from now on. */
  decidable(proposal: ProposalRef): void;
  /** The proposal is over: remove its card, if it has one. Called exactly once for each proposal that `decide` got. */
  over(proposal: ProposalRef, status: FinalStatus | "refused"): void;
  /** Whoever proposed is gone; the card stays and may still be decided. */
  detached(proposal: ProposalRef): void;
}
