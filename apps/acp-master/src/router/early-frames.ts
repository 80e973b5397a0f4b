// Frames that name a session nobody knows. While one request that makes a session is pending on the process they belong to
// it; with several pending they wait until a result names the session; else they are refused.

import { type Envelope, readString } from "@acp-master/wire";
import type { AgentLink, Creation } from "./agent-link.ts";
import { keep } from "./kept-frame.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { wait } from "../wait.ts";

const HOLD_MS = 5000;
const MAX_FRAMES = 1000;
const MAX_BYTES = 8 * 1024 * 1024;

interface Held {
  readonly agentId: string;
  readonly frame: Buffer;
}

interface Waiting {
  readonly frames: Held[];
  bytes: number;
  readonly stopWaiting: () => void;
}

export class EarlyFrames {
  readonly #router: Router;
  readonly #waiting = new Map<AgentLink, Waiting>();

  constructor(router: Router) {
    this.#router = router;
  }

  unknownUpdate(link: AgentLink, envelope: Envelope): void {
    const found = this.sessionFor(link, envelope);
    if (found === "waits") return;
    if (found) this.#router.updates.update(link, envelope);
    else this.#router.counters.droppedUpdates++;
  }

  /** The session that the frame belongs to; "waits": it is kept and comes again; undefined: nobody's. */
  sessionFor(link: AgentLink, envelope: Envelope): Session | "waits" | undefined {
    const agentId = readString(envelope.bytes, envelope.sessionId);
    if (agentId === undefined || link.givenUp.has(agentId)) return undefined;
    const open = [...link.creations].filter((creation) => creation.session === undefined);
    const [only, second] = open;
    if (!only) return undefined;
    const waits = this.#waiting.get(link)?.frames.some((held) => held.agentId === agentId) === true;
    // The id of a session that is known, but not here, or that was: only a result can say that it is a new one's.
    const isKnown = link.departed.has(agentId) || this.#router.sessions.of(link.agent, agentId) !== undefined;
    if (!second && !waits && !isKnown) return this.#provisional(link, only, agentId);
    return this.#hold(link, agentId, envelope);
  }

  /** A result named a session, or a request that could have made one is settled. */
  settled(link: AgentLink): void {
    const waiting = this.#waiting.get(link);
    if (!waiting) return;
    const ready = waiting.frames.filter(
      (held) => link.sessions.has(held.agentId) || ![...link.creations].some((creation) => !creation.session),
    );
    for (const held of ready) {
      waiting.frames.splice(waiting.frames.indexOf(held), 1);
      waiting.bytes -= held.frame.length;
    }
    if (waiting.frames.length === 0) this.#drop(link);
    for (const held of ready) link.resume(held.frame);
    this.#router.updates.flush();
  }

  forget(link: AgentLink): void {
    this.#drop(link);
  }

  #provisional(link: AgentLink, creation: Creation, agentId: string): Session {
    const { client, cwd, additionalDirectories } = creation;
    const session = this.#router.openSession(link, { agentId, cwd, additionalDirectories });
    session.provisional = true;
    creation.session = session;
    this.#router.attach(client, session, 0);
    this.#router.permissions.sessionOpened(session);
    this.#router.permissions.controllerAttached(session, client);
    return session;
  }

  #hold(link: AgentLink, agentId: string, envelope: Envelope): "waits" | undefined {
    let waiting = this.#waiting.get(link);
    if (!waiting) {
      waiting = { frames: [], bytes: 0, stopWaiting: wait(HOLD_MS, () => this.#expire(link)) };
      this.#waiting.set(link, waiting);
    }
    const frame = keep(envelope).bytes;
    if (waiting.frames.length >= MAX_FRAMES || waiting.bytes + frame.length > MAX_BYTES) return undefined;
    waiting.frames.push({ agentId, frame });
    waiting.bytes += frame.length;
    return "waits";
  }

  // Held too long: what comes again now finds no place to wait and is refused or dropped.
  #expire(link: AgentLink): void {
    const waiting = this.#waiting.get(link);
    if (!waiting) return;
    const frames = waiting.frames.splice(0);
    waiting.bytes = MAX_BYTES;
    for (const held of frames) link.resume(held.frame);
    this.#router.updates.flush();
    this.#drop(link);
  }

  #drop(link: AgentLink): void {
    this.#waiting.get(link)?.stopWaiting();
    this.#waiting.delete(link);
  }
}
