// Everything that one Helper process has of direct proposals: the channel's socket, the review endpoint, the cards, what is
// known of each session. The master's news and a person's answers come in here and go to whom they concern.
import {
  type Clock,
  Proposals,
  ProposalServer,
  type ProposingAgent,
  judgePermission,
  judgeRow,
  newInstance,
  systemClock,
  terminalAgentPolicy,
} from "@acp-master/proposal-channel";
import type { SessionChangedParams, ToolCallParams } from "@acp-master/permission-core";
import { AnnouncedCalls } from "../announced-calls.ts";
import type { ToolCallVerdict } from "../define-helper.ts";
import type { HelperSession } from "../helper-session.ts";
import { type PermissionRequest, type Verdict, ask, reject } from "../verdict.ts";
import { type SessionFacts, Cards } from "./cards.ts";
import { decide } from "./decisions.ts";
import { promptBlock } from "./prompt-block.ts";
import type { ProposalOptions } from "./proposal-options.ts";
import { type RefusedWhy, Refusals, isMismatch } from "./refusals.ts";
import type { Card, DecisionEnd, DecisionRequest } from "./review-messages.ts";
import { type ReviewDesk, ReviewServer } from "./review-server.ts";
import { bindTurn } from "./turn-place.ts";

type Fields = Readonly<Record<string, string | number>>;

interface KnownSession {
  readonly session: HelperSession;
  readonly agent: ProposingAgent;
  readonly rows: AnnouncedCalls;
}

/** What is open while proposals are possible. */
interface Open {
  readonly proposals: Proposals;
  readonly server: ProposalServer;
  readonly review: ReviewServer;
}

export class ProposalDesk implements ReviewDesk, AsyncDisposable {
  readonly #options: ProposalOptions;
  readonly #program: string;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, KnownSession>();
  readonly #refusals = new Refusals();
  readonly #cards: Cards;
  #open: Open | undefined;
  /** Why there are no proposals, for people. */
  #off: string | undefined = "Nothing is open yet.";

  constructor(options: ProposalOptions, clock: Clock = systemClock) {
    this.#options = options;
    this.#clock = clock;
    this.#program = options.program ?? process.env["ACP_PROPOSE"] ?? "";
    this.#cards = new Cards({
      executor: options.executor,
      policies: [terminalAgentPolicy, ...(options.origins ?? []).map(({ policy }) => policy)],
      session: (sessionId, origin) => this.#facts(sessionId, origin),
      isUp: () => this.#off === undefined,
      places: () => this.#open?.review.places ?? [],
      tell: (event) => this.#open?.review.tell(event),
      present: (card) => void this.#present(card),
      busy: (sessionId, busy) => this.#sessions.get(sessionId)?.session.voice.busy(busy),
    });
  }

  /** Never throws: without a private place for both sockets there are no proposals, and everything else works. */
  async open(folders: { readonly socketDir: string; readonly reviewDir: string }, helper: string): Promise<void> {
    const { socketDir, reviewDir } = folders;
    if (socketDir === "") return this.#turnOff("The master has no place for their socket.");
    const clock = this.#clock;
    const log = (event: string, fields: Fields) => this.#log("debug", event, fields);
    const onLost = () => this.#turnOff("Their socket was lost. `acp-master restart` brings them back.");
    const instance = newInstance();
    const proposals = new Proposals({
      instance,
      surface: this.#cards,
      log,
      clock,
      onRefused: (sessionId, status) => {
        if (isMismatch(status)) this.#count(sessionId, status);
      },
    });
    const place = { folder: socketDir, instance };
    const server = await ProposalServer.open({ ...place, serve: proposals.serve, onLost, log, clock });
    if (!server.ok) return this.#turnOff(server.message);
    // Named apart: whoever knows a channel does not know this place.
    const apart = { folder: reviewDir, instance: newInstance() };
    const review = await ReviewServer.open({ ...apart, helper, desk: this, onLost, log });
    if (!review.ok) {
      await server.server[Symbol.asyncDispose]();
      return this.#turnOff(review.message);
    }
    this.#open = { proposals, server: server.server, review: review.server };
    this.#off = undefined;
  }

  get reviewPath(): string | undefined {
    return this.#off === undefined ? this.#open?.review.path : undefined;
  }

  sessionStarted(session: HelperSession): void {
    const { name, shell = "sh" } = session.agent;
    const agent = { name, shell, arming: session.arming, program: this.#program };
    this.#sessions.set(session.sessionId, { session, agent, rows: new AnnouncedCalls() });
    if (this.#off !== undefined) this.#tellOff(session, this.#off);
  }

  /** The blocks for the prompt; none when the turn gets no channel. */
  async turnStarted(
    { session, turnId, mayPropose }: { session: HelperSession; turnId: string; mayPropose: boolean },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { sessionId } = session;
    const known = this.#sessions.get(sessionId);
    const proposals = this.#open?.proposals;
    if (known === undefined || proposals === undefined) return [];
    const { executor, origins = [] } = this.#options;
    const { arming, shell } = known.agent;
    const unbound = { sessionId, turnId, origin: "", target: undefined, trigger: undefined, arming };
    // Whatever the session had is superseded now, not when the executor has found its place.
    this.#cards.forgetShown(sessionId);
    proposals.startTurn(unbound, false);
    if (!mayPropose) return this.#noChannel(sessionId, "preset");
    if (this.#off !== undefined) return this.#noChannel(sessionId, "off");
    if (shell === "argv" && this.#program === "") return this.#noChannel(sessionId, "program");
    const place = await bindTurn({ session, turnId }, { executor, origins }, signal);
    if (!place.isThere) return this.#noChannel(sessionId, "executor");
    if (proposals.runningTurn(sessionId) !== turnId) return this.#noChannel(sessionId, "over");
    const { origin, target, trigger, context } = place;
    const channel = proposals.startTurn({ ...unbound, origin, target, trigger }, true);
    if (channel === undefined) return this.#noChannel(sessionId, "off");
    const { actionTypes, profiles = [], hasDelegate: delegate = false } = executor;
    const facts = { channel, shell, program: this.#program, origin, actionTypes, offered: { delegate, profiles } };
    return [...(context === undefined ? [] : [context]), promptBlock(facts)];
  }

  turnEnded(sessionId: string, turnId: string): void {
    this.#open?.proposals.endTurn(sessionId, turnId);
    this.#cards.forgetShown(sessionId);
    this.#sessions.get(sessionId)?.rows.clear();
  }

  sessionChanged(sessionId: string, change: SessionChangedParams["change"]): void {
    this.#open?.proposals.sessionChanged(sessionId, change);
    this.#cards.forgetShown(sessionId);
  }

  sessionEnded(sessionId: string): void {
    this.#open?.proposals.endSession(sessionId);
    this.#cards.forgetShown(sessionId);
    this.#refusals.forget(sessionId);
    this.#sessions.delete(sessionId);
  }

  /** The answer to a request that proposes, or looks like it; `undefined` leaves it to presets and people. */
  permission(request: PermissionRequest, { sessionId }: HelperSession): Verdict | undefined {
    const known = this.#sessions.get(sessionId);
    if (known === undefined) return undefined;
    const { toolCall, options } = request;
    const announcedKind = known.rows.get(toolCall.toolCallId)?.kind;
    const judged = judgePermission(known.agent, toolCall, { options, announcedKind });
    switch (judged.judge) {
      case "ordinary":
        return undefined;
      case "ask":
        this.#count(sessionId, judged.why);
        return ask();
      case "refuse":
        this.#count(sessionId, judged.why);
        return reject(request);
      case "arm": {
        const armed = this.#open?.proposals.arm(sessionId, judged.invocation);
        if (armed?.ok === true) return { outcome: "selected", optionId: judged.optionId };
        this.#count(sessionId, "arming");
        return reject(request);
      }
    }
    return judged satisfies never;
  }

  row({ update }: ToolCallParams, { sessionId }: HelperSession): ToolCallVerdict {
    const known = this.#sessions.get(sessionId);
    if (known === undefined) return { verdict: "pass", final: true };
    const { rows, agent } = known;
    const former = update.sessionUpdate === "tool_call" ? undefined : rows.get(update.toolCallId);
    rows.see(update);
    const kind = update.kind ?? former?.kind;
    const rawInput = update.rawInput ?? former?.rawInput;
    return judgeRow(agent, { kind, rawInput, status: update.status });
  }

  // -- what user interfaces ask

  state(): ReturnType<ReviewDesk["state"]> {
    return { cards: this.#cards.all, notices: this.#refusals.notices, turns: this.#cards.turns };
  }

  seen(proposalId: string): void {
    this.#cards.seen(proposalId);
  }

  async decide(request: DecisionRequest, by: string): Promise<DecisionEnd> {
    const proposals = this.#open?.proposals;
    if (proposals === undefined) return "lost";
    return await decide(request, by, { cards: this.#cards, proposals, executor: this.#options.executor });
  }

  /** Everything that waits is told `unavailable`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#off ??= "This Helper stops.";
    const open = this.#open;
    if (open === undefined) return;
    await open.proposals[Symbol.asyncDispose]();
    await Promise.all([open.server[Symbol.asyncDispose](), open.review[Symbol.asyncDispose]()]);
  }

  async #present(card: Card): Promise<void> {
    const review = this.reviewPath;
    if (review === undefined) return;
    try {
      await this.#options.present?.(card, review);
    } catch (error) {
      const kind = error instanceof Error ? error.name : typeof error;
      this.#log("warn", "proposal_present_failed", { kind }, card.sessionId);
    }
  }

  #facts(sessionId: string, origin: string): SessionFacts | undefined {
    const known = this.#sessions.get(sessionId);
    if (known === undefined) return undefined;
    const { session } = known;
    const registered = this.#options.origins?.find(({ policy }) => policy.name === origin);
    return {
      agent: session.agent.name,
      cwd: session.cwd,
      runningTurn: this.#open?.proposals.runningTurn(sessionId),
      trigger: registered?.trigger?.(session),
    };
  }

  #count(sessionId: string, why: RefusedWhy): void {
    const notice = this.#refusals.count(sessionId, why);
    this.#log("warn", "proposal_mismatch", { why, count: notice.count }, sessionId);
    this.#open?.review.tell({ type: "notice", notice });
  }

  #noChannel(sessionId: string, why: string): readonly string[] {
    this.#log("info", "proposal_no_channel", { why }, sessionId);
    return [];
  }

  #turnOff(why: string): void {
    if (this.#off !== undefined && this.#open !== undefined) return;
    this.#off = why;
    for (const { session } of this.#sessions.values()) this.#tellOff(session, why);
    this.#open?.proposals.lose();
  }

  #tellOff({ voice }: HelperSession, why: string): void {
    voice.log("warn", "proposals_off");
    voice.impaired(`Agents cannot propose: ${why}`);
  }

  /** A Helper speaks for a session: the one it is about, else any; with none there is nobody to tell. */
  #log(level: "debug" | "info" | "warn", event: string, fields: Fields, sessionId?: string): void {
    const [any] = this.#sessions.values();
    const known = sessionId === undefined ? any : this.#sessions.get(sessionId);
    known?.session.voice.log(level, event, fields);
  }
}
