// One session's dealings with its Helper: what it asks, what waits for the Helper to be ready, what keeps it running. It
// starts and stops no process; the pool does that.
import type { HelperVerdict, Preset } from "@acp-master/permission-core";
import { readSessionStarted, readToolCallVerdict, readVerdict, type HelperHooks } from "./helper-answers.ts";
import type { HelperLink, RequestEnd } from "./helper-link.ts";
import type { HelperDeadlines, HelperLog } from "./helper-process.ts";
import type { HelperSpec } from "./helper-spec.ts";
import { wait } from "../wait.ts";

export interface SessionFacts {
  /** The master's key of the session. */
  readonly session: string;
  /** The id that clients and Helpers see. */
  readonly sessionId: string;
  readonly agent: { readonly name: string; readonly shell?: string };
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly preset: string;
  readonly arming: string;
  /** The key of the session in whose process this one is decided, though each process carries one session. */
  readonly parent?: string;
}

export type DecisionEnd =
  { readonly ok: true; readonly verdict: HelperVerdict } | { readonly ok: false; readonly fault: string };
export type ToolCallVerdict = "pass" | "hide" | "reduced";
export type SessionHelperState = "off" | "waiting" | "starting" | "ready" | "unavailable";

export interface SessionHelperPorts {
  readonly deadlines: HelperDeadlines;
  readonly log: HelperLog;
  started(session: SessionHelper, presets: readonly Preset[] | undefined, review: string | undefined): void;
  /** It takes more than it did. */
  drained(session: SessionHelper): void;
  /** Its process has no part in the session any more, nor has what it listens on. */
  left(session: SessionHelper): void;
}

interface Ask {
  readonly approvalId: string;
  params: Buffer;
  readonly done: (end: DecisionEnd) => void;
  /** How often it was put to a Helper that died over it, this time included. */
  times: number;
  request: { cancel(): void } | undefined;
  stopWaiting: (() => void) | undefined;
}

/** What is put to the Helper as soon as it is ready, or given up. */
interface Waiting {
  readonly turnId: string | undefined;
  readonly go: (link: HelperLink) => void;
  readonly giveUp: () => void;
  readonly stopWaiting: () => void;
}

const maxAsks = 2;
const maxBacklogMessages = 64;
/** Far below what a Helper that has just started is at fault for not reading. */
const maxWaiting = 64;
const maxBacklogBytes = 1024 * 1024;

export class SessionHelper {
  facts: SessionFacts;
  spec: HelperSpec;
  state: SessionHelperState = "off";
  pinned = false;
  busy = false;
  idleSince = 0;
  idleTimer: NodeJS.Timeout | undefined;
  /** Since when nobody has needed it, by the monotonic clock in milliseconds; undefined: somebody does. */
  unneededSince: number | undefined;
  hooks: HelperHooks | undefined;
  /** As declared at the last start. */
  presets: readonly Preset[] | undefined;
  /** Set by the Helper itself: it cannot decide for this session any more. */
  unavailableSince: number | undefined;
  /** What its process, as long as it runs, cannot do though it would, and why. */
  impaired: string | undefined;
  readonly faults: Record<string, number> = {};
  readonly #ports: SessionHelperPorts;
  readonly #asks = new Map<string, Ask>();
  readonly #tickets = new Set<string>();
  readonly #turns = new Set<string>();
  readonly #waiting = new Set<Waiting>();
  #link: HelperLink | undefined;
  #backlog: Buffer[] = [];
  #backlogBytes = 0;
  /** Raised whenever the link changes, so that an answer of an earlier one is nobody's. */
  #generation = 0;

  constructor(facts: SessionFacts, spec: HelperSpec, ports: SessionHelperPorts) {
    this.facts = facts;
    this.spec = spec;
    this.#ports = ports;
  }

  /** A turn, a ticket or a card: nothing may end the Helper now. */
  get isEngaged(): boolean {
    return this.#turns.size > 0 || this.#tickets.size > 0 || this.#asks.size > 0 || this.busy;
  }

  get isNeeded(): boolean {
    return this.isEngaged || this.pinned;
  }

  get link(): HelperLink | undefined {
    return this.state === "ready" ? this.#link : undefined;
  }

  get isComing(): boolean {
    return this.state === "starting" || this.state === "waiting";
  }

  /** Whether a lane may hand over a message of this size, or one more that waits for the start. */
  canTake(bytes: number): boolean {
    return this.isComing ? this.#waiting.size < maxWaiting : (this.link?.canTake(bytes) ?? true);
  }

  /** The Helper is there: introduce the session, then send what waited. */
  start(link: HelperLink, hooks: HelperHooks): void {
    const generation = ++this.#generation;
    this.#link = link;
    this.hooks = hooks;
    const { sessionId, agent, cwd, roots, preset, arming } = this.facts;
    const params = { sessionId, agent, cwd, roots, preset, arming };
    link.request("helper/session_start", params, this.#ports.deadlines.sessionStartMs, (end) => {
      if (generation !== this.#generation || (!end.ok && end.fault.kind === "gone")) return;
      const answer = end.ok ? readSessionStarted(end.result) : undefined;
      if (answer === undefined) this.fault(end.ok ? "wrong_shape" : end.fault.kind, { method: "helper/session_start" });
      this.state = "ready";
      this.#ports.started(this, answer?.presets, answer?.review);
      if (generation !== this.#generation) return;
      this.flush();
      this.#ports.drained(this);
    });
  }

  /** Sends what can be sent; the rest follows when the link drains. */
  flush(): void {
    const link = this.link;
    if (link === undefined) return;
    for (const each of this.#waiting) {
      this.#waiting.delete(each);
      each.stopWaiting();
      each.go(link);
    }
    if (this.hooks?.toolSeen === true) for (const params of this.#backlog) link.notify("helper/tool_seen", params);
    this.#clearBacklog();
    for (const ask of this.#asks.values()) {
      if (ask.request !== undefined) continue;
      if (!link.canTake(ask.params.length)) return;
      this.#send(link, ask);
    }
  }

  /** The link is over or given up. Requests in flight are forgotten; asks wait for the next link. */
  detach(): void {
    this.#generation++;
    this.#link = undefined;
    this.busy = false;
    this.impaired = undefined;
    this.#clearBacklog();
    for (const ask of this.#asks.values()) {
      ask.request?.cancel();
      ask.request = undefined;
    }
    this.state = "off";
    this.#ports.left(this);
  }

  /** Another program decides from now on: nothing known of the former one holds. */
  forget(): void {
    this.presets = undefined;
    this.hooks = undefined;
    this.unavailableSince = undefined;
    for (const ask of this.#asks.values()) ask.times = 0;
  }

  /** Asks that have had their second chance fail. */
  failSpent(): void {
    for (const ask of this.#asks.values()) if (ask.times >= maxAsks) this.#finish(ask, { ok: false, fault: "died" });
  }

  failWaiting(fault: string): void {
    for (const ask of this.#asks.values()) this.#finish(ask, { ok: false, fault });
    for (const each of this.#waiting) this.#giveUp(each);
  }

  /** There is no room for another process: each ask waits for it no longer than for an answer. */
  limitWaiting(): void {
    for (const ask of this.#asks.values()) {
      ask.stopWaiting ??= wait(this.spec.decideSeconds * 1000, () => {
        this.fault("limit", { approvalId: ask.approvalId });
        this.#finish(ask, { ok: false, fault: "limit" });
      });
    }
  }

  ask(approvalId: string, params: Buffer, done: (end: DecisionEnd) => void): { cancel(): void } {
    this.#drop(this.#asks.get(approvalId));
    const ask: Ask = { approvalId, params, done, times: 0, request: undefined, stopWaiting: undefined };
    this.#asks.set(approvalId, ask);
    this.#tickets.add(approvalId);
    this.flush();
    return { cancel: () => this.#drop(ask) };
  }

  turnStart(turnId: string, done: (append: Buffer | undefined) => void): void {
    this.#turns.add(turnId);
    const link = this.link;
    // A first turn waits also for the presets: what they forbid holds from its beginning.
    const isKnown = this.hooks?.turn === false && this.presets !== undefined;
    if (this.state === "unavailable" || isKnown) return done(undefined);
    if (link !== undefined) return this.#askForTurn(link, turnId, done);
    this.#waitFor("helper/turn_start", this.#ports.deadlines.startMs, {
      turnId,
      go: (ready) => this.#askForTurn(ready, turnId, done),
      giveUp: () => done(undefined),
    });
  }

  turnEnd(turnId: string, stopReason: string): void {
    this.#turns.delete(turnId);
    for (const each of this.#waiting) if (each.turnId === turnId) this.#giveUp(each);
    this.link?.mention("helper/turn_end", { sessionId: this.facts.sessionId, turnId, stopReason });
  }

  toolCall(params: Buffer, done: (verdict: ToolCallVerdict, final: boolean) => void): boolean {
    const { isComing } = this;
    // A session below another one is introduced when it is first named; what it does next is judged as well.
    if (this.hooks?.toolCall !== true && !(isComing && this.hooks === undefined)) return false;
    const reduced = (kind: string) => {
      this.fault(kind, { method: "helper/tool_call" });
      done("reduced", false);
    };
    const { hookMs } = this.#ports.deadlines;
    const go = (link: HelperLink): void => {
      if (this.hooks?.toolCall !== true) return done("pass", false);
      link.request("helper/tool_call", params, hookMs, (end) => {
        const answer = end.ok ? readToolCallVerdict(end.result) : undefined;
        if (answer === undefined) reduced(end.ok ? "wrong_shape" : end.fault.kind);
        else done(answer.verdict, answer.final);
      });
    };
    const link = this.link;
    if (link !== undefined) go(link);
    else if (isComing) {
      this.#waitFor("helper/tool_call", hookMs, { turnId: undefined, go, giveUp: () => done("reduced", false) });
    } else queueMicrotask(() => reduced(this.state === "unavailable" ? "unavailable" : "gone"));
    return true;
  }

  toolSeen(params: Buffer): void {
    if (this.hooks?.toolSeen === false) return;
    const link = this.link;
    if (link !== undefined) return link.notify("helper/tool_seen", params);
    if (this.state !== "starting") return;
    if (this.#backlog.length === maxBacklogMessages || this.#backlogBytes + params.length > maxBacklogBytes) return;
    this.#backlog.push(params);
    this.#backlogBytes += params.length;
  }

  permissionResolved(notice: { readonly approvalId: string }): void {
    this.#tickets.delete(notice.approvalId);
    this.#drop(this.#asks.get(notice.approvalId));
    this.notify("helper/permission_resolved", notice);
  }

  notify(method: string, fields: object): void {
    this.link?.notify(method, { sessionId: this.facts.sessionId, ...fields });
  }

  fault(kind: string, fields: object = {}): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    this.#ports.log("helper.fault", { session: this.facts.session, kind, ...fields });
  }

  /** Forgets everything without an answer to anybody. */
  clear(): void {
    this.detach();
    clearTimeout(this.idleTimer);
    this.idleTimer = undefined;
    for (const ask of this.#asks.values()) this.#drop(ask);
    for (const each of this.#waiting) this.#giveUp(each);
    this.#tickets.clear();
    this.#turns.clear();
    this.pinned = false;
  }

  #askForTurn(link: HelperLink, turnId: string, done: (append: Buffer | undefined) => void): void {
    if (this.hooks?.turn !== true) return done(undefined);
    const params = { sessionId: this.facts.sessionId, turnId };
    link.request("helper/turn_start", params, this.#ports.deadlines.hookMs, (end) => {
      if (!end.ok || end.result === null) {
        this.fault(end.ok ? "wrong_shape" : end.fault.kind, { method: "helper/turn_start" });
      }
      done(end.ok ? end.result?.append : undefined);
    });
  }

  #send(link: HelperLink, ask: Ask): void {
    ask.times++;
    ask.stopWaiting?.();
    ask.stopWaiting = undefined;
    const deadlineMs = this.spec.decideSeconds * 1000;
    ask.request = link.request("session/request_permission", ask.params, deadlineMs, (end) => this.#answered(ask, end));
    link.flush();
  }

  #answered(ask: Ask, end: RequestEnd): void {
    ask.request = undefined;
    if (!end.ok && end.fault.kind === "gone") return; // the pool starts the Helper again
    const verdict = end.ok ? readVerdict(end.result) : undefined;
    if (verdict !== undefined) return this.#finish(ask, { ok: true, verdict });
    const fault = end.ok ? "wrong_shape" : end.fault.kind;
    const code = !end.ok && end.fault.kind === "error" ? { code: end.fault.code } : {};
    this.fault(fault, { approvalId: ask.approvalId, ...code });
    this.#finish(ask, { ok: false, fault });
  }

  #finish(ask: Ask, end: DecisionEnd): void {
    if (this.#asks.get(ask.approvalId) !== ask) return;
    this.#drop(ask);
    ask.done(end);
  }

  #drop(ask: Ask | undefined): void {
    if (ask === undefined) return;
    ask.request?.cancel();
    ask.request = undefined;
    ask.stopWaiting?.();
    ask.params = Buffer.alloc(0); // whoever can still cancel it need not hold the request
    if (this.#asks.get(ask.approvalId) === ask) this.#asks.delete(ask.approvalId);
  }

  #waitFor(method: string, ms: number, what: Omit<Waiting, "stopWaiting">): void {
    const late = (): void => {
      this.fault("deadline", { method });
      this.#giveUp(waiting);
    };
    const waiting = { ...what, stopWaiting: wait(ms, late) };
    this.#waiting.add(waiting);
  }

  #giveUp(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting)) return;
    waiting.stopWaiting();
    waiting.giveUp();
  }

  #clearBacklog(): void {
    this.#backlog = [];
    this.#backlogBytes = 0;
  }
}
