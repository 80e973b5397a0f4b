// Owns the channels of one Helper process: the book, the waiting connections and every timer. Each of the master's news and
// each answer of a person is one synchronous step on the book; only then is anything performed. It never decides for a person.
import { randomUUID } from "node:crypto";
import { type ArmRequest, type Armed, arm, beginValidation, payloadDigest, refuseOversized, refusal } from "./begin.ts";
import {
  type Binding,
  type Book,
  type Ended,
  type FinalStatus,
  type ProposalRef,
  type Step,
  emptyBook,
  liveChannel,
  sessionOf,
} from "./book.ts";
import { type Channel, type HelperInstance, channelLabel, newChannel } from "./channel.ts";
import { type Clock, systemClock } from "./clock.ts";
import {
  type Claim,
  acceptProposal,
  claim,
  endProposal,
  finishClaim,
  loseProposal,
  refuseProposal,
} from "./deciding.ts";
import type { Invocation } from "./invocation.ts";
import { cardMs, decisionMs, dispatchMs, personMs } from "./limits.ts";
import type { Responder } from "./proposal-server.ts";
import { readRequest } from "./request.ts";
import { type Refusal, type RefusalStatus, encodeFinal, encodeValidation } from "./responses.ts";
import type { OpenProposal, ReviewSurface } from "./review-surface.ts";
import { type StartedTurn, endAll, endSession, endTurn, forgetSession, replaceSession, startTurn } from "./turns.ts";
import { within } from "./within.ts";

export interface ProposalsOptions {
  readonly instance: HelperInstance;
  readonly surface: ReviewSurface;
  /** Statuses, labels and counts only. */
  readonly log: (event: string, fields: Readonly<Record<string, string | number>>) => void;
  /** A frame on this session's channel was refused. */
  readonly onRefused?: (sessionId: string, status: RefusalStatus) => void;
  readonly clock?: Clock;
  readonly newProposalId?: () => string;
  readonly newChannel?: (instance: HelperInstance) => Channel;
}

/** What a person's yes came to. `lost`: somebody or something was earlier and nothing was dispatched. */
export type Confirmed = "confirmed" | "unavailable" | "lost";

interface Waiter extends ProposalRef {
  readonly responder: Responder;
  readonly accepted: Promise<boolean>;
  readonly stopTimer: () => void;
}

export class Proposals implements AsyncDisposable {
  readonly instance: HelperInstance;
  readonly #surface: ReviewSurface;
  readonly #log: ProposalsOptions["log"];
  readonly #onRefused: NonNullable<ProposalsOptions["onRefused"]>;
  readonly #clock: Clock;
  readonly #newProposalId: () => string;
  readonly #newChannel: (instance: HelperInstance) => Channel;
  readonly #validating = new Map<string, { readonly stop: AbortController }>();
  readonly #waiting = new Map<string, Waiter>();
  readonly #work = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #book: Book;
  #isUp = true;

  constructor(options: ProposalsOptions) {
    this.instance = options.instance;
    this.#surface = options.surface;
    this.#log = options.log;
    this.#onRefused = options.onRefused ?? (() => {});
    this.#clock = options.clock ?? systemClock;
    this.#newProposalId = options.newProposalId ?? randomUUID;
    this.#newChannel = options.newChannel ?? newChannel;
    this.#book = emptyBook(options.instance);
  }

  /** Whether channels can be issued: the socket is there and this is not stopping. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /**
   * A turn starts. `mayPropose` says whether everything a channel needs is there; else the turn gets none. Whatever the
   * session had before is superseded either way.
   */
  startTurn(turn: Omit<StartedTurn, "channel">, mayPropose: boolean): Channel | undefined {
    const channel = this.#isUp && mayPropose ? this.#newChannel(this.instance) : undefined;
    return this.#take(startTurn(this.#book, { ...turn, channel }, this.#now()))?.channel;
  }

  /** A turn is over: an unused channel is stale, a card that is up stays. */
  endTurn(sessionId: string, turnId: string): void {
    this.#book = endTurn(this.#book, sessionId, turnId);
  }

  /** The master's `helper/session_changed`. */
  sessionChanged(sessionId: string, change: SessionChange): void {
    const now = this.#now();
    switch (change) {
      case "replaced":
      case "closed":
        this.#take(replaceSession(this.#book, sessionId, now));
        return;
      case "cancelled":
        this.#take(endSession(this.#book, sessionId, "cancelled", now));
        return;
      case "agent_exited":
      case "transport_lost":
        this.#take(endSession(this.#book, sessionId, "unavailable", now));
    }
  }

  /** The master's `helper/session_end`. */
  endSession(sessionId: string): void {
    this.#take(forgetSession(this.#book, sessionId, this.#now()));
  }

  /** The agent of this session was asked for and recognised as a proposal; on success answer the permission with its option. */
  arm(sessionId: string, { channel, payload }: Invocation): Armed {
    const request: ArmRequest = { channel, sessionId, digest: payloadDigest(payload), isUp: this.#isUp };
    const armed = this.#take(arm(this.#book, request, this.#now()));
    this.#log("proposal_armed", { channel: channelLabel(channel), status: armed.ok ? "armed" : armed.refusal.status });
    return armed;
  }

  /** What the turn of this session is bound to, and whether a channel of it lives. */
  bindingOf(sessionId: string): Binding | undefined {
    return sessionOf(this.#book, sessionId).live?.binding;
  }

  runningTurn(sessionId: string): string | undefined {
    return sessionOf(this.#book, sessionId).runningTurn;
  }

  /** Whether this proposal waits for the person: its card may be decided. */
  isWaiting({ sessionId, proposalId }: ProposalRef): boolean {
    const state = sessionOf(this.#book, sessionId).live?.state;
    return state?.state === "awaiting_user" && state.proposalId === proposalId;
  }

  /**
   * The person said yes. `dispatch` is called by the one winner only; true means that the executor took it. Its signal
   * aborts when this stops or it takes too long.
   */
  async confirm(proposal: ProposalRef, dispatch: (signal: AbortSignal) => Promise<boolean>): Promise<Confirmed> {
    const won = this.#take(claim(this.#book, proposal, this.#now()));
    if (won === undefined) return "lost";
    const status = this.#dispatch(won, dispatch);
    this.#track(status.then(() => undefined));
    return await status;
  }

  async #dispatch(won: Claim, dispatch: (signal: AbortSignal) => Promise<boolean>): Promise<Confirmed> {
    this.#waiting.get(won.proposalId)?.stopTimer();
    const stop = new AbortController();
    const onStop = () => stop.abort();
    this.#stopping.signal.addEventListener("abort", onStop);
    const isTaken = await within(this.#clock, dispatchMs, stop, async () => await dispatch(stop.signal));
    this.#stopping.signal.removeEventListener("abort", onStop);
    const status = isTaken === true ? "confirmed" : "unavailable";
    this.#book = finishClaim(this.#book, won, status, this.#now());
    this.#finish(won, status);
    return status;
  }

  /** The person said no. False when it was over already. */
  reject(proposal: ProposalRef): boolean {
    return this.#take(endProposal(this.#book, proposal, "cancelled", this.#now()));
  }

  /** The proposal socket, the executor or the surface is gone for good: nothing is issued or taken from now on. */
  lose(): void {
    this.#isUp = false;
    this.#take(endAll(this.#book, "unavailable", this.#now()));
  }

  /** For the socket server: one request of one connection, up to its close. */
  readonly serve = (line: Buffer, responder: Responder): void => {
    const work = this.#serve(line, responder).catch((error: unknown) => {
      this.#log("proposal_fault", { kind: error instanceof Error ? error.name : typeof error });
      responder.close();
    });
    this.#track(work);
  };

  /** Ends every proposal `unavailable` and waits until each connection was told. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.lose();
    this.#stopping.abort();
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #serve(line: Buffer, responder: Responder): Promise<void> {
    const request = readRequest(line);
    if (!request.ok && request.problem === "refused") {
      return await this.#refuse(responder, refusal(request.status, false, request.reason), {});
    }
    const { channel } = request;
    const of = { channel, sessionId: liveChannel(this.#book, channel)?.binding.sessionId };
    if (!request.ok) {
      const begun = this.#take(refuseOversized(this.#book, { channel, isUp: this.#canShow() }, this.#now()));
      return await this.#refuse(responder, begun.refusal, of);
    }
    const { payload } = request;
    const frame = { channel, digest: payloadDigest(payload), isUp: this.#canShow(), proposalId: this.#newProposalId() };
    const begun = this.#take(beginValidation(this.#book, frame, this.#now()));
    if (!begun.ok) return await this.#refuse(responder, begun.refusal, of);
    const { proposalId, binding } = begun;
    const { sessionId } = binding;
    const proposal = { sessionId, proposalId, channel, binding, payload };
    const refused = await this.#validate(proposal, responder);
    if (refused === undefined) return;
    this.#surface.over({ sessionId, proposalId }, "refused");
    await this.#refuse(responder, refused, of);
  }

  /** Asks the surface for its decision and its card, then waits for the person. The result is why none of it came to be. */
  async #validate(
    proposal: OpenProposal & { readonly channel: Channel },
    responder: Responder,
  ): Promise<Refusal | undefined> {
    const stop = new AbortController();
    this.#validating.set(proposal.proposalId, { stop });
    try {
      const { sessionId, proposalId, binding, payload } = proposal;
      const decision = await within(this.#clock, decisionMs, stop, async () =>
        this.#surface.decide({ sessionId, proposalId, binding, payload }, stop.signal),
      );
      if (decision === undefined) return this.#take(loseProposal(this.#book, proposal, this.#now()));
      if (decision !== "accept") return this.#take(refuseProposal(this.#book, proposal, decision, this.#now()));
      const isShown = await within(this.#clock, cardMs, stop, async () =>
        this.#surface.showCard({ sessionId, proposalId }, stop.signal),
      );
      if (isShown !== true) return this.#take(loseProposal(this.#book, proposal, this.#now()));
      const accepted = this.#take(acceptProposal(this.#book, proposal, this.#now()));
      if (!accepted.ok) return accepted.refusal;
    } finally {
      this.#validating.delete(proposal.proposalId);
    }
    // In the same step as the acceptance: whatever ends the proposal from now on finds somebody to tell.
    await this.#awaitUser(proposal, responder);
    return undefined;
  }

  /** From the accepted line to the final one. */
  async #awaitUser(
    { sessionId, proposalId, channel }: ProposalRef & { readonly channel: Channel },
    responder: Responder,
  ): Promise<void> {
    const ref = { sessionId, proposalId };
    const accepted = responder.send(encodeValidation({ status: "accepted", proposalId }));
    const stopTimer = this.#clock.after(personMs, () => {
      this.#take(endProposal(this.#book, ref, "timed_out", this.#now()));
    });
    this.#waiting.set(proposalId, { ...ref, responder, accepted, stopTimer });
    this.#log("proposal_shown", { channel: channelLabel(channel) });
    this.#surface.decidable(ref);
    if (!(await accepted)) {
      this.#take(endProposal(this.#book, ref, "unavailable", this.#now()));
      return;
    }
    responder.onGone(() => {
      if (this.isWaiting(ref)) this.#surface.detached(ref);
    });
  }

  /** Tells a waiting connection the end, removes the card. Only ever called once for a proposal. */
  #finish({ sessionId, proposalId }: ProposalRef, status: FinalStatus): void {
    const waiter = this.#waiting.get(proposalId);
    if (waiter === undefined) return;
    this.#waiting.delete(proposalId);
    waiter.stopTimer();
    this.#log("proposal_over", { status });
    this.#surface.over({ sessionId, proposalId }, status);
    const { accepted, responder } = waiter;
    const told = accepted
      .then(async (wasSent) => (wasSent ? await responder.send(encodeFinal({ status, proposalId })) : false))
      .then(() => responder.close());
    this.#track(told);
  }

  async #refuse(
    responder: Responder,
    refused: Refusal,
    of: { readonly channel?: Channel; readonly sessionId?: string | undefined },
  ): Promise<void> {
    const { channel, sessionId } = of;
    const label = channel === undefined ? {} : { channel: channelLabel(channel) };
    this.#log("proposal_refused", { ...label, status: refused.status });
    if (sessionId !== undefined) this.#onRefused(sessionId, refused.status);
    await responder.send(encodeValidation(refused));
    responder.close();
  }

  /** Takes over what a step made of the book, then performs what it ended. */
  #take<Result>({ book, ended, result }: Step<Result>): Result {
    this.#book = book;
    for (const each of ended) this.#perform(each);
    return result;
  }

  #perform({ live, status }: Ended): void {
    this.#log("proposal_channel_ended", { channel: channelLabel(live.channel), status });
    const { state, binding } = live;
    if (state.state === "validating") this.#validating.get(state.proposalId)?.stop.abort();
    if (state.state === "awaiting_user") {
      this.#finish({ sessionId: binding.sessionId, proposalId: state.proposalId }, status);
    }
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  #canShow(): boolean {
    return this.#isUp && this.#surface.isUp();
  }

  #now(): number {
    return this.#clock.now();
  }
}

export type SessionChange = "replaced" | "closed" | "cancelled" | "agent_exited" | "transport_lost";
