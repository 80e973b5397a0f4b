// The master's one door to its Helpers: the router says what happens in a session and asks for decisions; processes,
// restarts, deadlines and the bound on processes are dealt with behind it. A question that no Helper answers in time
// ends as a fault, never as an allow.
import type { Preset } from "@acp-master/permission-core";
import { HelperPool } from "./helper-pool.ts";
import { noHooks, type HelperHooks } from "./helper-answers.ts";
import { helperDeadlines, type HelperDeadlines, type HelperLog } from "./helper-process.ts";
import { isSameProgram, type HelperSpec } from "./helper-spec.ts";
import {
  SessionHelper,
  type DecisionEnd,
  type SessionFacts,
  type SessionHelperPorts,
  type SessionHelperState,
  type ToolCallVerdict,
} from "./session-helper.ts";
import { HelperVoice } from "./helper-voice.ts";
import { wait } from "../wait.ts";

export interface HelpersOptions {
  /** The Helper that is configured for a session; read again at `respec()`. */
  spec(facts: SessionFacts): HelperSpec;
  readonly reaper: { add(pgid: number): void; remove(pgid: number): void };
  readonly environment: Readonly<Record<string, string>>;
  /** Told to each Helper: a folder of the owner's for sockets of its own. */
  /** Asked at each start of a Helper. */
  readonly socketDir: () => string;
  readonly version: string;
  readonly maxFrameBytes: number;
  /** At most this many processes. */
  readonly limit: number;
  readonly log: HelperLog;
  readonly deadlines?: Partial<HelperDeadlines>;
  /** Another program decides for the session: every open ticket is to be asked once more. */
  onReask(session: string): void;
  /** After each start; empty when the Helper declares none. */
  onPresets(session: string, presets: readonly Preset[]): void;
  onReview?(session: string, path: string | undefined): void;
  onBusy?(session: string, busy: boolean): void;
  /** There is room for frames again after `canTake` said no. */
  onDrain?(session: string): void;
}

export interface ResolvedNotice {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly outcome: object;
  readonly by: object;
}

export interface HelperRow {
  readonly session: string;
  readonly state: SessionHelperState;
  readonly pid: number | undefined;
  readonly unavailableSince: number | undefined;
  readonly faults: Readonly<Record<string, number>>;
  readonly impaired: string | undefined;
}

const longestReason = 500;

export class Helpers implements AsyncDisposable {
  readonly #options: HelpersOptions;
  readonly #pool: HelperPool;
  readonly #sessions = new Map<string, SessionHelper>();
  readonly #presets = new Map<string, (presets: readonly Preset[] | undefined) => void>();
  readonly #ports: SessionHelperPorts;
  readonly #voice: HelperVoice;

  constructor(options: HelpersOptions) {
    this.#options = options;
    const { reaper, environment, socketDir, version, maxFrameBytes, log } = options;
    const deadlines = { ...helperDeadlines, ...options.deadlines };
    this.#voice = new HelperVoice(log);
    this.#ports = {
      deadlines,
      log,
      started: (session, presets, review) => this.#started(session, presets, review),
      drained: (session) => options.onDrain?.(session.facts.session),
      left: (session) => options.onReview?.(session.facts.session, undefined),
    };
    const terms = {
      master: { name: "acp-master", version },
      reaper,
      environment,
      socketDir,
      maxFrameBytes,
      log,
      deadlines,
    };
    this.#pool = new HelperPool(terms, options.limit, {
      notification: (session, method, params) => this.#heard(session, method, params),
      drained: (session) => options.onDrain?.(session.facts.session),
      unavailable: (session) => this.#presets.get(session.facts.session)?.(undefined),
    });
  }

  /** A session exists, or is attached to again: its Helper starts if it does not run. */
  ensure(facts: SessionFacts): void {
    let session = this.#sessions.get(facts.session);
    if (session === undefined) {
      session = new SessionHelper(facts, this.#options.spec(facts), this.#ports);
      this.#sessions.set(facts.session, session);
    }
    session.facts = facts;
    this.#pool.wake(session);
    this.#touch(session);
  }

  /** Resolves with the declared presets once the Helper is ready; `undefined` when it is not ready in time or fails. */
  async presets(session: string): Promise<readonly Preset[] | undefined> {
    const found = this.#sessions.get(session);
    if (found === undefined) return undefined;
    if (found.presets !== undefined || !found.isComing) return found.presets;
    const { startMs, sessionStartMs } = this.#ports.deadlines;
    return new Promise((resolve) => {
      const previous = this.#presets.get(session);
      const stopWaiting = wait(startMs + sessionStartMs, () => settle(undefined));
      const settle = (presets: readonly Preset[] | undefined) => {
        stopWaiting();
        if (this.#presets.get(session) === settle) this.#presets.delete(session);
        previous?.(presets);
        resolve(presets);
      };
      this.#presets.set(session, settle);
    });
  }

  /**
   * Puts a permission to the session's Helper. `params` are the request's params as bytes, with our `_meta` in. `done`
   * is called once, never within this call; not after `cancel()`, and not when the same approval is asked again. Dying
   * Helpers are started again and asked once more in here.
   */
  decide(session: string, approvalId: string, params: Buffer, done: (end: DecisionEnd) => void): { cancel(): void } {
    const found = this.#sessions.get(session);
    if (found === undefined) {
      let isOpen = true;
      queueMicrotask(() => isOpen && done({ ok: false, fault: "no_helper" }));
      return { cancel: () => void (isOpen = false) };
    }
    const ask = found.ask(approvalId, params, done);
    this.#pool.wake(found);
    if (found.state === "unavailable") queueMicrotask(() => found.failWaiting("unavailable"));
    if (found.state === "waiting") found.limitWaiting();
    this.#touch(found);
    return {
      cancel: () => {
        ask.cancel();
        this.#touch(found);
      },
    };
  }

  /** A prompt is about to be handed on. Without the hook `done` is called within this call. */
  turnStart(session: string, turnId: string, done: (append: Buffer | undefined) => void): void {
    const found = this.#sessions.get(session);
    if (found === undefined) return done(undefined);
    this.reset(session);
    this.#pool.wake(found);
    found.turnStart(turnId, done);
    this.#touch(found);
  }

  turnEnd(session: string, turnId: string, stopReason: string): void {
    this.#with(session, (found) => found.turnEnd(turnId, stopReason));
  }

  /** `false`: there is no such hook and nothing to wait for. `final`: no more frames of this call need a verdict. */
  toolCall(session: string, params: Buffer, done: (verdict: ToolCallVerdict, final: boolean) => void): boolean {
    return this.#sessions.get(session)?.toolCall(params, done) ?? false;
  }

  toolSeen(session: string, params: Buffer): void {
    this.#sessions.get(session)?.toolSeen(params);
  }

  /** Whether a lane may hand over another frame; `onDrain` follows a `false`. */
  canTake(session: string, bytes = 0): boolean {
    return this.#sessions.get(session)?.canTake(bytes) ?? true;
  }

  /** What the Helper wants to be told of. Until its first start says so, announcements are kept for it. */
  hooks(session: string): HelperHooks {
    const found = this.#sessions.get(session);
    return found?.hooks ?? { ...noHooks, toolSeen: found?.state === "starting" };
  }

  sessionChanged(
    session: string,
    change: "replaced" | "closed" | "cancelled" | "agent_exited" | "transport_lost",
  ): void {
    this.#sessions.get(session)?.notify("helper/session_changed", { change });
  }

  preset(session: string, preset: string): void {
    this.#with(session, (found) => {
      found.facts = { ...found.facts, preset };
      found.notify("helper/preset", { preset });
    });
  }

  /** Must follow every settled ticket that was put to `decide`: until then the Helper is kept. */
  permissionResolved(session: string, notice: ResolvedNotice): void {
    this.#with(session, (found) => found.permissionResolved(notice));
  }

  /** The session is gone or parked. */
  sessionEnd(session: string): void {
    const found = this.#sessions.get(session);
    if (found === undefined) return;
    this.#sessions.delete(session);
    this.#presets.get(session)?.(undefined);
    this.#pool.release(found);
    this.#pool.forgetSession(found);
    found.clear();
    this.#pool.makeRoomIfWanted();
  }

  /** An attached client keeps the Helper running; turns, tickets and cards are known here. */
  pin(session: string, pinned: boolean): void {
    this.#with(session, (found) => {
      found.pinned = pinned;
      if (pinned) this.#pool.wake(found);
    });
  }

  /** The configuration changed: sessions with another program are swapped to it, and `unavailable` ends everywhere. */
  respec(): void {
    this.#pool.forgetFailures();
    for (const found of this.#sessions.values()) {
      const spec = this.#options.spec(found.facts);
      const isSwap = !isSameProgram(spec, found.spec);
      const ran = found.state !== "off";
      found.unavailableSince = undefined;
      if (isSwap) {
        this.#pool.release(found);
        found.forget();
        this.#options.log("helper.swap", { session: found.facts.session, kind: spec.kind });
      }
      found.spec = spec;
      // Another time may be set now.
      clearTimeout(found.idleTimer);
      found.idleTimer = undefined;
      if (found.state === "unavailable") found.state = "off";
      if (ran || found.isNeeded) this.#pool.wake(found);
      this.#touch(found);
      if (isSwap) this.#options.onReask(found.facts.session);
    }
  }

  /** A prompt arrived: `unavailable` ends if it has lasted long enough. */
  reset(session: string): void {
    const found = this.#sessions.get(session);
    if (found !== undefined) this.#pool.retry(found);
  }

  status(): { readonly running: number; readonly limit: number; readonly sessions: readonly HelperRow[] } {
    const sessions = [...this.#sessions.values()].map((found) => ({
      session: found.facts.session,
      state: found.state,
      pid: this.#pool.pidOf(found),
      unavailableSince: this.#pool.unavailableSince(found),
      faults: found.faults,
      impaired: found.impaired,
    }));
    return { running: this.#pool.running, limit: this.#options.limit, sessions };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = this.#pool[Symbol.asyncDispose]();
    for (const session of this.#sessions.values()) session.clear();
    for (const settle of this.#presets.values()) settle(undefined);
    this.#sessions.clear();
    await gone;
  }

  #with(session: string, change: (found: SessionHelper) => void): void {
    const found = this.#sessions.get(session);
    if (found === undefined) return;
    change(found);
    this.#touch(found);
  }

  /** After each change: a Helper that nobody needs ends after its idle time. */
  #touch(session: SessionHelper): void {
    if (!session.isEngaged) {
      session.idleSince = Date.now();
      this.#pool.makeRoomIfWanted();
    }
    // A Helper that is not there yet is not idle; the time begins when it has started.
    const isUnneeded = session.state === "ready" && !session.isNeeded;
    session.unneededSince = isUnneeded ? performance.now() : undefined;
    if (isUnneeded) session.idleTimer ??= this.#idleTimer(session, session.spec.idleSeconds * 1000);
  }

  /** One for many short turns: when it is over it is looked at how long nobody has needed the Helper. */
  #idleTimer(session: SessionHelper, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      session.idleTimer = undefined;
      if (session.unneededSince === undefined) return;
      const leftMs = session.unneededSince + session.spec.idleSeconds * 1000 - performance.now();
      if (leftMs > 0) {
        session.idleTimer = this.#idleTimer(session, Math.ceil(leftMs));
        return;
      }
      this.#options.log("helper.idle", { session: session.facts.session });
      this.#pool.release(session);
    }, ms).unref();
  }

  #started(session: SessionHelper, presets: readonly Preset[] | undefined, review: string | undefined): void {
    const key = session.facts.session;
    session.presets = presets;
    this.#presets.get(key)?.(presets);
    if (presets !== undefined) this.#options.onPresets(key, presets);
    this.#options.onReview?.(key, review);
    this.#touch(session);
  }

  #heard(session: SessionHelper | undefined, method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === "helper/log") return this.#voice.log(session?.facts.session, params);
    if (session === undefined) return;
    if (method === "helper/busy") {
      session.busy = params["busy"] === true;
      this.#options.onBusy?.(session.facts.session, session.busy);
      this.#touch(session);
    } else if (method === "helper/unavailable") {
      session.fault("given_up");
      this.#pool.giveUp(session);
    } else if (method === "helper/impaired" && typeof params["reason"] === "string") {
      session.impaired = params["reason"].slice(0, longestReason);
    }
  }
}
