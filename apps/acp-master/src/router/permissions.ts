// Permissions of all sessions: opens a ticket for an agent's request, carries questions and answers between tickets, Helpers
// and people. Who may decide what stands in permission-core.

import { randomUUID } from "node:crypto";
import {
  type AgentAnswer,
  type ClientAnswer,
  type Decision,
  type Preset,
  type TicketPolicy,
  type TicketPorts,
  Tickets,
  type TicketView,
} from "@acp-master/permission-core";
import { type Envelope, spanBytes } from "@acp-master/wire";
import type { Config } from "../config/schema.ts";
import { Helpers } from "../helper/helpers.ts";
import type { SessionFacts } from "../helper/session-helper.ts";
import type { AgentLink } from "./agent-link.ts";
import { childKey, ChildSessions } from "./child-sessions.ts";
import type { ClientConnection } from "./client-connection.ts";
import { idText } from "./kept-frame.ts";
import {
  agentResult,
  clientAnswer,
  offerFrame,
  permissionParams,
  type PermissionRequest,
  readPermissionRequest,
  resolvedNotice,
} from "./permission-requests.ts";
import { Presets } from "./presets.ts";
import { noteDecision } from "./former-tickets.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { toolCallName } from "./tool-calls.ts";

const HOOKS: ReadonlySet<string> = new Set(["helper/turn_start", "helper/tool_call"]);

export class Permissions implements TicketPorts, AsyncDisposable {
  readonly tickets: Tickets;
  readonly helpers: Helpers;
  readonly presets: Presets;
  readonly #children: ChildSessions;
  readonly requests = new Map<string, PermissionRequest>();
  readonly #router: Router;
  #opening: PermissionRequest | undefined;
  /** Review endpoints that Helpers named, by session. */
  readonly reviews = new Map<string, string>();

  constructor(router: Router) {
    this.#router = router;
    const { settings } = router;
    this.tickets = new Tickets(this, (agent) => this.policyOf(agent));
    this.helpers = new Helpers({
      ...settings.helpers,
      reaper: settings.reaper,
      log: (event, fields, level = "info") => {
        settings.log[level]({ event, ...fields }, "helper");
        this.#recordHelperFault(event, fields);
      },
      onDrain: () => router.updates.heldBack.release(),
      onReask: (key) => this.tickets.reaskHelper(key),
      onPresets: (key, presets) => this.presets.declared(key, presets),
      onReview: (key, path) => this.#reviewNamed(key, path),
    });
    this.#children = new ChildSessions(this.helpers, (session) => this.#approvalsOf(session.agent).preset);
    this.presets = new Presets(router, this.helpers, this.#children);
  }

  /** How long a ticket of this agent waits. */
  policyOf(agent: string): TicketPolicy {
    return this.#approvalsOf(agent);
  }

  #approvalsOf(agent: string): Config["approvals"] {
    const { agents, approvals } = this.#router.config;
    return (Object.hasOwn(agents, agent) ? agents[agent]?.approvals : undefined) ?? approvals;
  }

  // -- what happens in sessions

  /** The session's Helper may start. */
  sessionOpened(session: Session): void {
    this.helpers.ensure(helperFacts(session));
  }

  /** The key under which the Helper decides for the session that the agent names: the known one, or one below it. */
  helperKey(session: Session, agentId: string): string {
    if (agentId === session.agentId) return session.key;
    const sessionId = session.outwardId(agentId);
    return this.#children.introduce({ parent: session, agentId, sessionId }, helperFacts(session));
  }

  childEnded(session: Session, agentId: string): void {
    this.#children.endOne(session, agentId);
  }

  /** Runs once it is known whether the session shows the approvals option; at once when it shows none. */
  whenPresetsKnown(session: Session, go: () => void): void {
    this.sessionOpened(session);
    this.presets.whenOptionKnown(session, go);
  }

  controllerAttached(session: Session, client: ClientConnection): void {
    this.helpers.pin(session.key, true);
    if (client.isController) this.tickets.controllerAttached(session.key, client.clientId, client.identity.name);
  }

  controllerDetached(session: Session, client: ClientConnection): void {
    this.tickets.controllerDetached(session.key, client.clientId);
    const others = [...session.attachments.keys()].some((other) => other !== client && !other.halfClosed);
    this.helpers.pin(session.key, others);
  }

  sessionEnded(session: Session, change: "closed" | "agent_exited"): void {
    this.tickets.sessionClosed(session.key);
    this.#children.end(session);
    this.helpers.sessionChanged(session.key, change);
    this.reviews.delete(session.key);
    this.helpers.sessionEnd(session.key);
  }

  processExited(link: AgentLink): void {
    this.tickets.processExited(link.instance);
    for (const session of link.sessions.values()) this.#children.end(session);
  }

  // -- the agent's request

  /** `session` undefined: nobody knows it; the request is refused, not left open. */
  ask(link: AgentLink, session: Session | undefined, envelope: Envelope): void {
    const requestId = idText(envelope);
    const request = readPermissionRequest(link, session, envelope);
    const turn = session?.turns.current;
    let approvalId = "";
    link.incoming.opened(requestId, {
      bytes: request.frame.length,
      cancelled: () => this.tickets.agentCancelled(approvalId),
      abandoned: () => {},
    });
    this.#opening = request;
    approvalId = this.tickets.open({
      session: session?.key ?? "",
      sessionId: session?.sessionId ?? "",
      agent: link.agent,
      process: link.instance,
      toolCallId: request.toolCallId,
      child: session?.childOf(envelope),
      options: request.options,
      paramsDigest: request.paramsDigest,
      turn: turn?.id,
      turnCancelling: turn?.cancelling ?? false,
      knownSession: session !== undefined,
    });
  }

  // -- ports of the tickets

  now(): number {
    return Date.now();
  }

  mintId(): string {
    return randomUUID();
  }

  recordOpening(ticket: TicketView): void {
    const opening = this.#opening;
    this.#opening = undefined;
    if (!opening) return;
    this.requests.set(ticket.approvalId, opening);
    const { approvalId, toolCallId, options, paramsDigest, openedAt } = ticket;
    opening.session?.log.recordOpening({ approvalId, toolCallId, options: options ?? [], paramsDigest, openedAt });
  }

  recordDecision(ticket: TicketView, decision: Decision): boolean {
    const preset = this.#presetOf(ticket.approvalId);
    return this.#router.settings.record.decision({
      approvalId: ticket.approvalId,
      sessionId: ticket.sessionId,
      agent: ticket.agent,
      toolCallId: ticket.toolCallId,
      paramsDigest: ticket.paramsDigest,
      options: ticket.options ?? [],
      shownTo: ticket.shownTo,
      outcome: decision.outcome,
      by: decision.by,
      preset,
      askedAt: ticket.askedAt,
      latencyMs: Date.now() - ticket.openedAt,
    });
  }

  answerAgent(ticket: TicketView, answer: AgentAnswer): void {
    const request = this.requests.get(ticket.approvalId);
    if (request) request.link.answer(request.requestId, agentResult(request, answer));
  }

  askHelper(ticket: TicketView, ask: number): void {
    const { approvalId } = ticket;
    const request = this.requests.get(approvalId);
    if (!request) return;
    const params = permissionParams(request, { approvalId });
    const key = request.session ? this.helperKey(request.session, request.agentId) : ticket.session;
    const question = this.helpers.decide(key, approvalId, params, (end) => {
      if (end.ok) this.tickets.helperAnswered(approvalId, ask, end.verdict);
      else this.tickets.helperFailed(approvalId, ask, end.fault);
    });
    request.cancelHelper = () => question.cancel();
  }

  cancelHelper(ticket: TicketView): void {
    this.requests.get(ticket.approvalId)?.cancelHelper();
  }

  asked(ticket: TicketView): void {
    const { approvalId, sessionId, toolCallId } = ticket;
    this.#router.events.send({ type: "approval_requested", approvalId, sessionId, toolCallId });
    const session = this.requests.get(approvalId)?.session;
    if (session) this.#router.changed(session);
  }

  offer(ticket: TicketView, clientId: string): void {
    const { approvalId } = ticket;
    const request = this.requests.get(approvalId);
    const session = request?.session;
    const client = session && [...session.attachments.keys()].find((each) => each.clientId === clientId);
    if (!request || !session || !client) return;
    const attachment = session.attachments.get(client);
    // A question during the request that opens the session cannot wait for what follows that request's answer.
    const position = attachment?.gated ? 0 : session.log.end;
    const number = client.askFrame(
      (id) => offerFrame(request, id, ticket),
      {
        answered: (envelope) => {
          const answer = clientAnswer(envelope);
          if (answer.kind === "selected") {
            request.words = { optionId: answer.optionId, result: spanBytes(envelope.bytes, envelope.result) };
          }
          this.#answered(approvalId, client, answer);
          request.words = undefined;
        },
        malformed: () => this.#answered(approvalId, client, { kind: "fault", fault: "malformed" }),
        lost: () => {},
      },
      attachment,
      position,
    );
    request.dialogs.set(clientId, number);
  }

  withdraw(ticket: TicketView, clientId: string): void {
    const request = this.requests.get(ticket.approvalId);
    const number = request?.dialogs.get(clientId);
    if (!request || number === undefined) return;
    request.dialogs.delete(clientId);
    const client = [...this.#router.clients].find((each) => each.clientId === clientId);
    client?.withdraw(number);
  }

  resolved(ticket: TicketView, decision: Decision): void {
    const request = this.requests.get(ticket.approvalId);
    this.requests.delete(ticket.approvalId);
    // Behind the record and the answer: a daemon that ends in between leaves a decision that the next one finds in the record.
    if (request?.session) noteDecision(request.session.log, ticket.approvalId, decision);
    const notice = resolvedNotice(ticket, decision);
    const parent = request?.session;
    const key = parent && ticket.child !== undefined ? childKey(parent, ticket.child) : ticket.session;
    this.helpers.permissionResolved(key, {
      approvalId: ticket.approvalId,
      toolCallId: ticket.toolCallId,
      outcome: decision.outcome,
      by: decision.by,
    });
    this.#router.events.send({ type: "approval_resolved", ...notice });
    const session = request?.session;
    if (!session) return;
    const call = toolCallName(ticket.toolCallId, ticket.child);
    if (!this.tickets.guarded(session.key, call.toolCallId, call.child)) this.#router.updates.release(session, call);
    this.#router.changed(session);
  }

  refusesAll(ticket: TicketView): boolean {
    return this.#inForce(ticket.approvalId)?.refuseAll === true;
  }

  #inForce(approvalId: string): Preset | undefined {
    const request = this.requests.get(approvalId);
    return request?.session && this.presets.inForce(request.session, request.agentId);
  }

  #presetOf(approvalId: string): string {
    return this.#inForce(approvalId)?.value ?? this.requests.get(approvalId)?.session?.preset ?? "";
  }

  log(event: string, fields: object): void {
    this.#router.settings.log.info({ event, ...fields }, "approval");
    if (event !== "helper.fault" || !("approvalId" in fields) || !("fault" in fields)) return;
    const { approvalId, fault } = fields;
    const session = this.requests.get(String(approvalId))?.session;
    this.#router.settings.record.event("helper_fault", {
      approvalId: String(approvalId),
      ...(session ? { sessionId: session.sessionId, agent: session.agent } : {}),
      fault: String(fault),
    });
  }

  /** Faults that are no ticket's. Those of hooks are only counted: there may be one for each update. */
  #recordHelperFault(event: string, fields: Readonly<Record<string, unknown>>): void {
    if (event !== "helper.fault" || "approvalId" in fields || HOOKS.has(String(fields["method"]))) return;
    const session = [...this.#router.sessions.all].find((each) => each.key === fields["session"]);
    if (!session) return;
    const { sessionId, agent } = session;
    this.#router.settings.record.event("helper_fault", { sessionId, agent, fault: String(fields["kind"]) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.tickets[Symbol.dispose]();
    await this.helpers[Symbol.asyncDispose]();
  }

  #reviewNamed(key: string, path: string | undefined): void {
    if (this.reviews.get(key) === path) return;
    if (path === undefined) this.reviews.delete(key);
    else this.reviews.set(key, path);
    const session = this.#router.sessions.ofKey(key);
    if (session) this.#router.changed(session);
  }

  #answered(approvalId: string, client: ClientConnection, answer: ClientAnswer): void {
    this.requests.get(approvalId)?.dialogs.delete(client.clientId);
    this.tickets.clientAnswered(approvalId, client.clientId, answer);
  }
}

function helperFacts(session: Session): SessionFacts {
  const definition = session.route?.definition;
  return {
    session: session.key,
    sessionId: session.sessionId,
    agent: { name: session.agent, ...(definition ? { shell: definition.shell } : {}) },
    cwd: session.cwd,
    roots: [...session.roots],
    preset: session.preset,
    arming: definition?.arming ?? "required",
  };
}
