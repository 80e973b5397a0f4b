// All sessions of this daemon: by agent and the agent's id, and by the id that clients see, which is chosen once.

import type { AgentLink } from "./agent-link.ts";
import { Session, sessionKey, type SessionOwner, type SessionPlace, type SessionStart } from "./session.ts";

/** So many ids are remembered as chosen; the oldest are free again. Those of known sessions are always taken. */
const MAX_CHOSEN = 16_384;

/** Where a session is made; its outward id where that is chosen already. */
export type NewPlace = Omit<SessionPlace, "sessionId" | "agent"> & Partial<Pick<SessionPlace, "sessionId">>;

export class SessionTable {
  readonly #byKey = new Map<string, Session>();
  readonly #bySessionId = new Map<string, Session>();
  /** Outward ids that were given out with `~n`, both ways; they stay chosen. */
  readonly #listed = new Map<string, string>();
  readonly #agentIds = new Map<string, { readonly agent: string; readonly agentId: string }>();

  get all(): IterableIterator<Session> {
    return this.#byKey.values();
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** By the id that clients use. */
  get(sessionId: string | undefined): Session | undefined {
    return sessionId === undefined ? undefined : this.#bySessionId.get(sessionId);
  }

  ofKey(key: string): Session | undefined {
    return this.#byKey.get(key);
  }

  of(agent: string, agentId: string): Session | undefined {
    return this.#byKey.get(sessionKey(agent, agentId));
  }

  /** A session of a run before: known, and running nowhere. Undefined when its outward id is taken. */
  adopt(place: SessionPlace, start: SessionStart, owner: SessionOwner): Session | undefined {
    if (this.#isTaken(place.sessionId) || this.of(place.agent, place.agentId)) return undefined;
    const session = new Session(place, start, owner);
    this.#byKey.set(session.key, session);
    this.#bySessionId.set(session.sessionId, session);
    if (session.renamed) this.#keep(session.agent, session.agentId, session.sessionId);
    return session;
  }

  /**
   * Makes a session that runs in `link`. Where no outward id is given it is the agent's own, or that with `~2` … when it is
   * taken.
   */
  open(link: AgentLink, place: NewPlace, start: SessionStart, owner: SessionOwner): Session {
    const sessionId =
      place.sessionId === undefined
        ? this.outwardId(link.agent, place.agentId)
        : this.#keep(link.agent, place.agentId, place.sessionId);
    const session = new Session({ ...place, agent: link.agent, sessionId }, start, owner);
    session.route = link;
    link.take(session);
    this.#byKey.set(session.key, session);
    this.#bySessionId.set(session.sessionId, session);
    return session;
  }

  remove(session: Session): void {
    if (this.#byKey.get(session.key) === session) this.#byKey.delete(session.key);
    if (this.#bySessionId.get(session.sessionId) === session) this.#bySessionId.delete(session.sessionId);
  }

  /** What clients see for an id that an agent lists and nobody opened here. Another agent's session may have that text. */
  outwardId(agent: string, agentId: string): string {
    const known = this.of(agent, agentId)?.sessionId ?? this.#listed.get(sessionKey(agent, agentId));
    if (known !== undefined) return known;
    return this.#isTaken(agentId) ? this.#keep(agent, agentId, this.#freeId(agentId)) : agentId;
  }

  /** As `outwardId`; no other session gets this text from now on. */
  reserve(agent: string, agentId: string): string {
    return this.#keep(agent, agentId, this.outwardId(agent, agentId));
  }

  #keep(agent: string, agentId: string, sessionId: string): string {
    this.#listed.set(sessionKey(agent, agentId), sessionId);
    this.#agentIds.set(sessionId, { agent, agentId });
    if (this.#listed.size > MAX_CHOSEN) {
      for (const [key, oldest] of this.#listed) {
        this.#listed.delete(key);
        this.#agentIds.delete(oldest);
        break;
      }
    }
    return sessionId;
  }

  /** The agent's own id for an outward id that is not open here. */
  agentIdOf(agent: string, sessionId: string): string {
    const listed = this.#agentIds.get(sessionId);
    return listed?.agent === agent ? listed.agentId : sessionId;
  }

  #isTaken(sessionId: string): boolean {
    return this.#bySessionId.has(sessionId) || this.#agentIds.has(sessionId);
  }

  #freeId(agentId: string): string {
    for (let n = 2; ; n++) {
      const candidate = `${agentId}~${n}`;
      if (!this.#isTaken(candidate)) return candidate;
    }
  }
}
