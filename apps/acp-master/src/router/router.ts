// The daemon's live state in one place: clients, sessions, agent processes, tickets, Helpers. It connects them; what each
// method does stands in the files beside it.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { type Envelope, readString } from "@acp-master/wire";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { AgentExit } from "../agents/agent-process.ts";
import { fault, type RpcError } from "../protocol/reasons.ts";
import { agentNotification, agentRequest, badAgentRequest, refuseWaiting } from "./agent-requests.ts";
import { type AgentLink, exitError, type LinkOwner } from "./agent-link.ts";
import { AgentPool } from "./agent-pool.ts";
import { ClientConnection, type ClientOwner } from "./client-connection.ts";
import { clientNotification, clientRequest } from "./client-requests.ts";
import { EarlyFrames } from "./early-frames.ts";
import { Elicitations } from "./elicitations.ts";
import { Events, sessionRow } from "./events.ts";
import { HostService } from "./host-service.ts";
import { saveSession } from "./keep-sessions.ts";
import { leaveProcess } from "./leave-process.ts";
import { Parking } from "./park.ts";
import { Permissions } from "./permissions.ts";
import { GiveUp } from "./give-up.ts";
import { failTurn } from "./prompts.ts";
import type { RouterSettings } from "./router-settings.ts";
import type { Session, SessionOwner } from "./session.ts";
import { RunningTurns } from "./running-turns.ts";
import { removeSession } from "./session-end.ts";
import { type NewPlace, SessionTable } from "./session-table.ts";
import { AgentUpdates } from "./agent-updates.ts";

export class Router implements ClientOwner, LinkOwner, SessionOwner {
  readonly settings: RouterSettings;
  readonly startedAt = new Date();
  readonly clients = new Set<ClientConnection>();
  readonly sessions = new SessionTable();
  readonly pool: AgentPool;
  readonly events = new Events();
  readonly permissions: Permissions;
  readonly updates: AgentUpdates;
  readonly early: EarlyFrames;
  readonly giveUp: GiveUp;
  readonly parking: Parking;
  readonly host: HostService;
  readonly elicitations = new Elicitations();
  readonly running = new RunningTurns(this);
  readonly counters = { noise: 0, lateAnswers: 0, droppedUpdates: 0, badFrames: 0 };
  /** No more prompts are taken. */
  stopping = false;

  #idleMs = 0;
  #lookedAt = performance.now();

  constructor(settings: RouterSettings) {
    this.settings = settings;
    this.pool = new AgentPool(
      {
        reaper: settings.reaper,
        environment: settings.agentEnvironment,
        maxFrameBytes: () => settings.config.limits.frameBytes,
        idleMs: () => settings.config.limits.agentIdleSeconds * 1000,
        log: settings.log,
      },
      this,
    );
    this.updates = new AgentUpdates(this);
    this.early = new EarlyFrames(this);
    this.giveUp = new GiveUp(this);
    this.parking = new Parking(this);
    this.permissions = new Permissions(this);
    this.host = new HostService({
      ...settings.host,
      reaper: settings.reaper,
      maxFrameBytes: () => settings.config.limits.frameBytes,
    });
  }

  get config(): RouterSettings["config"] {
    return this.settings.config;
  }

  accept(socket: Socket): void {
    const client = new ClientConnection(socket, randomUUID(), this.config.limits, this);
    this.clients.add(client);
  }

  /** The definition under this name, or why there is none. */
  definition(name: string): { ok: true; definition: AgentDefinition } | { ok: false; error: RpcError } {
    const definition = this.settings.agents().get(name);
    if (definition) return { ok: true, definition };
    const known = [...this.settings.agents().keys()].join(", ");
    const message = `There is no agent ${JSON.stringify(name)}. Known agents: ${known}. Add it under "agents" in the configuration, or see "acp-master agents".`;
    return { ok: false, error: fault("unknown_agent", message) };
  }

  /** Makes a session that runs in `link`; the caller attaches whoever asked for it. */
  openSession(link: AgentLink, place: NewPlace): Session {
    const preset = link.definition.approvals?.preset ?? this.config.approvals.preset;
    const now = Date.now();
    const log = this.settings.store.open(link.agent, place.agentId);
    const start = { log, preset, createdAt: now, updatedAt: now, hadTurn: false };
    const session = this.sessions.open(link, place, start, this);
    this.pool.consider(link);
    return session;
  }

  /** The session is a session now: its Helper may start, people may see it. */
  sessionOpened(session: Session): void {
    session.provisional = false;
    session.presetsAwaited = false;
    this.permissions.sessionOpened(session);
    saveSession(this, session);
    this.changed(session);
  }

  attach(client: ClientConnection, session: Session, from: number): void {
    session.attach(client, from);
    if (session.route) {
      session.route.clients.add(client);
      this.pool.consider(session.route);
    }
  }

  /** People who may answer are known to the tickets only after the answer that attached them is on its way. */
  controllerReady(client: ClientConnection, session: Session): void {
    this.permissions.controllerAttached(session, client);
    this.changed(session);
  }

  detach(client: ClientConnection, session: Session): void {
    this.permissions.controllerDetached(session, client);
    session.detach(client);
    this.changed(session);
  }

  changed(session: Session): void {
    if (this.events.wanted && !session.provisional && session.state !== "removed") {
      this.events.send({ type: "session_changed", session: sessionRow(this, session) });
    }
  }

  /** The session that a client means, when it may act on it. */
  reach(client: ClientConnection, envelope: Envelope): { ok: true; session: Session } | { ok: false; error: RpcError } {
    const sessionId = readString(envelope.bytes, envelope.sessionId);
    const session = this.sessions.get(sessionId);
    if (!session) {
      const message = "There is no such session here. List them with session/list, or load it first.";
      return { ok: false, error: fault("unknown_session", message) };
    }
    if (client.identity.role === "observer") {
      return { ok: false, error: fault("observer", "This connection only looks on; connect as a controller to act.") };
    }
    if (!session.attachments.has(client)) {
      const message = "This connection is not attached to the session; send session/load or session/resume first.";
      return { ok: false, error: fault("not_attached", message) };
    }
    return { ok: true, session };
  }

  /** What waits for a Helper's verdict goes nowhere any more; requests among it are answered all the same. */
  leaveLane(session: Session): void {
    const frames = session.lane.clear();
    if (session.route) for (const frame of frames) refuseWaiting(session.route, frame);
  }

  /** What the session's agent runs here, or at a client, ends with it. */
  endTerminals(session: Session): void {
    session.terminals.releaseAll();
    this.host.sessionEnded(session);
  }

  /** The process has ended; its last words stand before the end of its turns. */
  exiting(link: AgentLink): void {
    this.permissions.processExited(link);
  }

  // -- clients

  request(client: ClientConnection, envelope: Envelope): void {
    clientRequest(this, client, envelope);
  }

  notification(client: ClientConnection, envelope: Envelope): void {
    clientNotification(this, client, envelope);
  }

  halfClosed(client: ClientConnection): void {
    for (const session of this.sessions.all) {
      if (!session.attachments.has(client)) continue;
      this.permissions.controllerDetached(session, client);
      this.changed(session);
    }
  }

  gone(client: ClientConnection, reason: string | undefined): void {
    if (reason !== undefined) this.settings.log.warn({ client: client.clientId, reason }, "client let go");
    this.clients.delete(client);
    for (const session of this.sessions.all) if (session.attachments.has(client)) this.detach(client, session);
    for (const link of this.pool.links) if (link.clients.delete(client)) this.pool.consider(link);
    this.elicitations.clientGone(client);
    this.events.clientGone(client);
    this.counters.lateAnswers += client.lateAnswers;
  }

  // -- agents

  update(link: AgentLink, envelope: Envelope): void {
    this.updates.update(link, envelope);
  }

  chunkEnd(): void {
    this.updates.flush();
  }

  agentRequest(link: AgentLink, envelope: Envelope): void {
    this.updates.flush();
    agentRequest(this, link, envelope);
  }

  agentNotification(link: AgentLink, envelope: Envelope): void {
    this.updates.flush();
    agentNotification(this, link, envelope);
  }

  badRequest(link: AgentLink, envelope: Envelope): void {
    this.counters.badFrames++;
    badAgentRequest(link, envelope);
  }

  ended(link: AgentLink, exit: AgentExit): void {
    this.updates.flush();
    this.pool.forget(link, exit);
    this.early.forget(link);
    this.elicitations.processEnded(link);
    this.settings.log.info(
      { agent: link.agent, instance: link.instance, exitCode: exit.exitCode, signal: exit.signal, cause: exit.cause },
      "agent ended",
    );
    const sessions = Array.from(link.sessions.values());
    link.sessions.clear();
    const cause = exitError(link.agent, exit);
    for (const session of sessions) this.#leftProcess(session, cause);
    link.clients.clear();
    this.events.send({ type: "agent_exited", agent: link.agent, exitCode: exit.exitCode, signal: exit.signal });
  }

  #leftProcess(session: Session, cause: RpcError): void {
    // What its agent ran here ends with it.
    leaveProcess(this, session);
    failTurn(this, session, cause);
    if (session.provisional) {
      removeSession(this, session, "agent_exited");
      return;
    }
    session.state = this.stopping ? "parked" : "lost";
    saveSession(this, session);
    this.permissions.helpers.sessionChanged(session.key, "agent_exited");
    this.changed(session);
  }

  // -- sessions

  continued(session: Session, frame: Buffer, verdict: "pass" | "hide" | "reduced" | undefined): void {
    if (!session.route) return;
    this.updates.continued(session.route, session, frame, verdict);
  }

  laneFull(session: Session, full: boolean): void {
    if (session.route) this.updates.pace(session.route, session, full);
  }

  /** Settles everything, ends every process, then lets the clients go. */
  async stop(reason: "stop" | "restart"): Promise<void> {
    this.stopping = true;
    this.parking[Symbol.dispose]();
    this.permissions.tickets.stopping();
    this.events.send({ type: "closing", reason });
    await this.pool.stop();
    await this.permissions[Symbol.asyncDispose]();
    await this.host[Symbol.asyncDispose]();
    await Promise.all(Array.from(this.clients, (client) => client.dropAndFlush(reason)));
  }

  reconfigure(config: RouterSettings["config"]): void {
    this.settings.config = config;
    this.pool.resetBackOffs();
    this.permissions.helpers.respec();
  }

  /** How long nobody has been connected and nothing has run, as seen by looks that are `everyMs` apart: no sleep counts. */
  idleMs(everyMs: number): number {
    const now = performance.now();
    const isBusy = this.clients.size > 0 || this.running.any;
    this.#idleMs = isBusy ? 0 : this.#idleMs + Math.min(now - this.#lookedAt, everyMs);
    this.#lookedAt = now;
    return this.#idleMs;
  }
}
