// The cards of one Helper: what waits to be seen, what waits for a person, what the user interfaces are told. It answers
// the channel's questions about cards; what a person's answer does is the desk's.
import {
  type Abilities,
  type Binding,
  type FinalStatus,
  type OpenProposal,
  type OriginPolicy,
  type ProposalRef,
  type Refusal,
  type ReviewSurface,
  type Staged,
  decideProposal,
  personMs,
} from "@acp-master/proposal-channel";
import { cardOf } from "./card.ts";
import type { Executor } from "./executor.ts";
import type { Card, ReviewEvent, ShownProposal } from "./review-messages.ts";

/** What the desk knows of a session at this moment. */
export interface SessionFacts {
  readonly agent: string;
  readonly cwd: string;
  readonly runningTurn: string | undefined;
  readonly trigger: number | undefined;
}

export interface CardsOptions {
  readonly executor: Executor;
  readonly policies: readonly OriginPolicy[];
  /** `undefined`: there is no such session. */
  readonly session: (sessionId: string, origin: string) => SessionFacts | undefined;
  readonly isUp: () => boolean;
  /** The places in which user interfaces show cards. */
  readonly places: () => readonly string[];
  readonly tell: (event: ReviewEvent) => void;
  /** A card came up. */
  readonly present: (card: Card) => void;
  /** The first card of a session is up, or its last one is gone. */
  readonly busy: (sessionId: string, busy: boolean) => void;
}

/** A proposal that passed the decision, from then to its end. */
export interface StagedProposal extends ProposalRef {
  readonly binding: Binding;
  readonly staged: Staged;
  readonly agent: string;
  readonly cwd: string;
  card: Card | undefined;
  /** The user interface whose answer was first. */
  by: string | undefined;
  readonly seen: Gate;
  /** Opens when it may be decided, or when it is over. */
  readonly decidable: Gate;
}

export class Cards implements ReviewSurface {
  readonly #options: CardsOptions;
  readonly #proposals = new Map<string, StagedProposal>();
  /** What the running turn of each session has shown, also after its end. */
  readonly #shown = new Map<string, string>();

  constructor(options: CardsOptions) {
    this.#options = options;
  }

  get all(): readonly Card[] {
    return [...this.#proposals.values()].flatMap(({ card }) => card ?? []);
  }

  get turns(): readonly ShownProposal[] {
    return [...this.#shown].map(([sessionId, proposalId]) => ({ sessionId, proposalId }));
  }

  get(proposalId: string): StagedProposal | undefined {
    return this.#proposals.get(proposalId);
  }

  isUp(): boolean {
    return this.#options.isUp();
  }

  async decide(proposal: OpenProposal, signal: AbortSignal): Promise<"accept" | Refusal | undefined> {
    const { executor, policies } = this.#options;
    const { sessionId, proposalId, payload } = proposal;
    if (!(await executor.isThere(undefined, signal))) return undefined;
    const { target } = proposal.binding;
    const isPlaced = target !== undefined && (await executor.isThere(target, signal));
    if (signal.aborted) return undefined;
    const binding = isPlaced ? proposal.binding : { ...proposal.binding, target: undefined };
    const session = this.#options.session(sessionId, binding.origin);
    const abilities: Abilities = {
      actionTypes: executor.actionTypes,
      origins: policies,
      hasDelegate: executor.hasDelegate === true,
      profiles: executor.profiles ?? [],
      ownTarget: isPlaced && this.#options.places().includes(target) ? target : undefined,
    };
    const isCardUp = this.#isCardUp(sessionId);
    const situation = session === undefined ? undefined : { ...session, isCardUp };
    const decision = decideProposal(payload, { binding, situation, abilities });
    if (!decision.ok) return decision.refusal;
    if (session === undefined) return undefined;
    const { agent, cwd } = session;
    const gates = { seen: new Gate(), decidable: new Gate() };
    const { staged } = decision;
    this.#proposals.set(proposalId, {
      sessionId,
      proposalId,
      binding,
      staged,
      agent,
      cwd,
      card: undefined,
      by: undefined,
      ...gates,
    });
    return "accept";
  }

  async showCard({ sessionId, proposalId }: ProposalRef): Promise<boolean> {
    const proposal = this.#proposals.get(proposalId);
    if (proposal === undefined) return false;
    const deadline = Date.now() + personMs;
    const card = cardOf({ ...proposal, deadline }, this.#options.executor.actionTypes);
    if (!this.#isCardUp(sessionId)) this.#options.busy(sessionId, true);
    proposal.card = card;
    this.#options.tell({ type: "card", card });
    this.#options.present(card);
    await proposal.seen.opened;
    return this.#proposals.get(proposalId) === proposal;
  }

  /** A person can see this card. */
  seen(proposalId: string): void {
    const proposal = this.#proposals.get(proposalId);
    if (proposal?.card === undefined || proposal.seen.isOpen) return;
    proposal.seen.open();
    const { sessionId, binding } = proposal;
    if (this.#options.session(sessionId, binding.origin)?.runningTurn !== binding.turnId) return;
    this.#shown.set(sessionId, proposalId);
    this.#options.tell({ type: "turn", sessionId, proposalId });
  }

  decidable({ proposalId }: ProposalRef): void {
    this.#proposals.get(proposalId)?.decidable.open();
  }

  detached({ proposalId }: ProposalRef): void {
    const proposal = this.#proposals.get(proposalId);
    if (proposal?.card === undefined) return;
    proposal.card = { ...proposal.card, detached: true };
    this.#options.tell({ type: "card", card: proposal.card });
  }

  over({ sessionId, proposalId }: ProposalRef, status: FinalStatus | "refused"): void {
    const proposal = this.#proposals.get(proposalId);
    if (proposal === undefined) return;
    this.#proposals.delete(proposalId);
    proposal.seen.open();
    proposal.decidable.open();
    if (proposal.card === undefined) return;
    const by = proposal.by === undefined ? {} : { by: proposal.by };
    this.#options.tell({ type: "over", sessionId, proposalId, status, ...by });
    if (status !== "confirmed" && this.#shown.get(sessionId) === proposalId) this.forgetShown(sessionId);
    if (!this.#isCardUp(sessionId)) this.#options.busy(sessionId, false);
  }

  /** The turn is over or invalid: what still comes belongs to no proposal any more. */
  forgetShown(sessionId: string): void {
    if (this.#shown.delete(sessionId)) this.#options.tell({ type: "turn", sessionId, proposalId: null });
  }

  #isCardUp(sessionId: string): boolean {
    return [...this.#proposals.values()].some((each) => each.sessionId === sessionId && each.card !== undefined);
  }
}

/** Closed until it is opened, once. */
class Gate {
  isOpen = false;
  readonly opened: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => (this.#resolve = resolve));
  }

  open(): void {
    this.isOpen = true;
    this.#resolve();
  }
}
