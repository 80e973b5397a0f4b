// Which Helper processes run, and for whom: lazy start, restart after a death, swap, idle end, and the bound on their
// number. It never decides anything itself: whoever cannot be asked is reported as a fault.
import { afterFailure, mayRetry, noFailures, type Failures } from "./helper-failures.ts";
import type { HelperHooks } from "./helper-answers.ts";
import { HelperProcess, type HelperEvents, type ProcessTerms, type StartFault } from "./helper-process.ts";
import type { HelperSpec } from "./helper-spec.ts";
import type { SessionHelper } from "./session-helper.ts";

/** One process and the sessions it carries. */
interface Host {
  readonly key: string;
  readonly process: HelperProcess;
  readonly sessions: Set<SessionHelper>;
  hooks: HelperHooks | undefined;
  isLeaving: boolean;
}

export interface PoolPorts {
  notification(session: SessionHelper | undefined, method: string, params: Readonly<Record<string, unknown>>): void;
  drained(session: SessionHelper): void;
  unavailable(session: SessionHelper): void;
}

export class HelperPool implements AsyncDisposable {
  readonly #terms: ProcessTerms;
  readonly #limit: number;
  readonly #ports: PoolPorts;
  readonly #hosts = new Set<Host>(); // until their process group is gone
  readonly #hostOf = new Map<SessionHelper, Host>();
  readonly #failures = new Map<string, Failures>();
  readonly #queue = new Set<SessionHelper>(); // waiting for room
  #disposed = false;

  constructor(terms: ProcessTerms, limit: number, ports: PoolPorts) {
    this.#terms = terms;
    this.#limit = limit;
    this.#ports = ports;
  }

  get running(): number {
    return this.#hosts.size;
  }

  pidOf(session: SessionHelper): number | undefined {
    return this.#hostOf.get(session)?.process.pid;
  }

  /** Makes sure that the session has a Helper, or will have one, or is known to have none. */
  wake(session: SessionHelper): void {
    if (this.#disposed || this.#hostOf.has(session) || session.state === "unavailable") return;
    if (this.unavailableSince(session) !== undefined) return this.#setUnavailable(session);
    const shared = this.#sharedHost(session);
    if (shared !== undefined) return this.#attach(session, shared);
    if (this.#hosts.size >= this.#limit) {
      session.state = "waiting";
      this.#queue.add(session);
      session.limitWaiting();
      this.#makeRoom();
      return;
    }
    this.#queue.delete(session);
    this.#attach(session, this.#startHost(session));
  }

  /** The session leaves its Helper, which ends when it carries no other. */
  release(session: SessionHelper): void {
    this.#queue.delete(session);
    const host = this.#hostOf.get(session);
    if (host === undefined) {
      if (session.state === "waiting") session.state = "off";
      return;
    }
    this.#hostOf.delete(session);
    host.sessions.delete(session);
    const link = session.link;
    session.detach();
    if (host.sessions.size === 0) this.#endHost(host);
    else link?.request("helper/session_end", { sessionId: session.facts.sessionId }, 5_000, () => {});
  }

  /** Called when a session became idle: another one may have its place. */
  makeRoomIfWanted(): void {
    if (this.#queue.size > 0) this.#makeRoom();
  }

  unavailableSince(session: SessionHelper): number | undefined {
    return session.unavailableSince ?? this.#failures.get(hostKey(session.spec, session))?.unavailableSince;
  }

  /** The Helper itself gave the session up. */
  giveUp(session: SessionHelper): void {
    session.unavailableSince = Date.now();
    this.release(session);
    this.#setUnavailable(session);
  }

  /** Ends `unavailable` if its time has come. */
  retry(session: SessionHelper): void {
    if (session.unavailableSince === undefined && session.state !== "unavailable" && this.#failures.size === 0) return;
    const key = hostKey(session.spec, session);
    const since = session.unavailableSince;
    if (since !== undefined && mayRetry({ times: [], unavailableSince: since }, Date.now())) {
      session.unavailableSince = undefined;
    }
    if (mayRetry(this.#failures.get(key) ?? noFailures, Date.now())) this.#failures.delete(key);
    if (session.state === "unavailable" && this.unavailableSince(session) === undefined) session.state = "off";
  }

  forgetFailures(): void {
    this.#failures.clear();
  }

  forgetSession(session: SessionHelper): void {
    const ownsProcess = session.spec.isolation === "session" && session.facts.parent === undefined;
    if (ownsProcess) this.#failures.delete(hostKey(session.spec, session));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#queue.clear();
    await Promise.all(
      [...this.#hosts].map((host) => {
        host.isLeaving = true;
        return host.process.stop();
      }),
    );
  }

  #sharedHost(session: SessionHelper): Host | undefined {
    const key = hostKey(session.spec, session);
    return [...this.#hosts].find((host) => host.key === key && !host.isLeaving);
  }

  #attach(session: SessionHelper, host: Host): void {
    this.#queue.delete(session);
    host.sessions.add(session);
    this.#hostOf.set(session, host);
    session.state = "starting";
    if (host.hooks !== undefined) session.start(host.process.link, host.hooks);
  }

  #startHost(session: SessionHelper): Host {
    const sessions = new Set<SessionHelper>();
    const events: HelperEvents = {
      ready: (hooks) => {
        host.hooks = hooks;
        for (const each of sessions) each.start(host.process.link, hooks);
      },
      notification: (method, params) => {
        const named = [...sessions].find((each) => each.facts.sessionId === params["sessionId"]);
        this.#ports.notification(named, method, params);
      },
      drained: () => {
        for (const each of sessions) {
          each.flush();
          this.#ports.drained(each);
        }
      },
      over: (cause) => this.#hostOver(host, cause),
      gone: () => {
        this.#hosts.delete(host);
        this.#serveQueue();
      },
    };
    const key = hostKey(session.spec, session);
    const process = new HelperProcess(session.spec, this.#terms, events);
    const host: Host = { key, process, sessions, hooks: undefined, isLeaving: false };
    this.#hosts.add(host);
    this.#terms.log("helper.start", { session: session.facts.session, pid: process.pid, kind: session.spec.kind });
    return host;
  }

  #endHost(host: Host): void {
    host.isLeaving = true;
    void host.process.stop();
  }

  #hostOver(host: Host, cause: StartFault): void {
    const wasLeaving = host.isLeaving;
    host.isLeaving = true;
    const sessions = [...host.sessions];
    host.sessions.clear();
    for (const session of sessions) {
      this.#hostOf.delete(session);
      session.detach();
    }
    if (wasLeaving || this.#disposed) return;
    const failures = afterFailure(this.#failures.get(host.key) ?? noFailures, Date.now(), cause === "version_mismatch");
    this.#failures.set(host.key, failures);
    for (const session of sessions) {
      session.fault("died", { cause });
      if (failures.unavailableSince !== undefined) {
        this.#setUnavailable(session);
      } else {
        session.failSpent();
        if (session.isNeeded) this.wake(session);
      }
    }
  }

  #setUnavailable(session: SessionHelper): void {
    session.state = "unavailable";
    this.#queue.delete(session);
    this.#terms.log("helper.unavailable", { session: session.facts.session });
    session.failWaiting("unavailable");
    this.#ports.unavailable(session);
  }

  /** Ends the process that has been idle longest, if there is one. */
  #makeRoom(): void {
    if ([...this.#hosts].some((host) => host.isLeaving)) return; // its place is free in a moment
    const idle = [...this.#hosts].filter((host) => [...host.sessions].every(isIdle));
    const [longest] = idle.sort((a, b) => idleSince(a) - idleSince(b));
    if (longest === undefined) return;
    this.#terms.log("helper.evicted", { pid: longest.process.pid });
    longest.isLeaving = true;
    for (const session of longest.sessions) this.release(session);
  }

  #serveQueue(): void {
    for (const session of this.#queue) {
      if (this.#hosts.size >= this.#limit) return this.#makeRoom();
      session.state = "off";
      this.wake(session);
    }
  }
}

function isIdle(session: SessionHelper): boolean {
  return session.state === "ready" && !session.isEngaged;
}

function idleSince(host: Host): number {
  return Math.max(...[...host.sessions].map((session) => session.idleSince));
}

function hostKey(spec: HelperSpec, session: SessionHelper): string {
  const program = JSON.stringify([spec.cwd ?? "", ...spec.argv]);
  return spec.isolation === "shared" ? `shared ${program}` : `session ${session.facts.parent ?? session.facts.session}`;
}
