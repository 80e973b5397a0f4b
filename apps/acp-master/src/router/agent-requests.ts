// What agents ask and tell, besides session/update: permissions become tickets, everything else goes to the one client that
// can take it, or is answered at once.

import { type Edit, type Envelope, hasOneReading, readString } from "@acp-master/wire";
import { fault, INVALID_REQUEST, METHOD_NOT_FOUND, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { needsCapability } from "./client-capabilities.ts";
import { idText, keep, reopened } from "./kept-frame.ts";
import { errorFrame, resultFrame } from "./message.ts";
import { REFUSED_UNSEEN } from "./permission-requests.ts";
import { clientGone, putToClient, putToHost, toClient } from "./put-request.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

const PERMISSION = "session/request_permission";
/** What a preset can forbid without a question. */
const WRITES: ReadonlySet<string> = new Set(["fs/write_text_file", "terminal/create"]);
/** Of these methods the ids mean something on one connection only: they are never passed on as requests. */
const HOP_ONLY = "$/";

export function agentRequest(router: Router, link: AgentLink, envelope: Envelope): void {
  const id = idText(envelope);
  const takenBack = link.incoming.leftLane(id);
  // It waited in the lane of a session, and nobody is left to hear the answer.
  if (link.state === "ended") return;
  route(router, link, envelope);
  if (takenBack) link.incoming.cancel(id);
}

/** Keeps the request where the frames of its session wait for a verdict. */
function waitInLane(link: AgentLink, session: Session, envelope: Envelope): void {
  link.incoming.waitsInLane(idText(envelope));
  session.lane.follow(keep(envelope).bytes);
}

function route(router: Router, link: AgentLink, envelope: Envelope): void {
  const method = readString(envelope.bytes, envelope.method) ?? "";
  const id = idText(envelope);
  // An answer under an id that two open requests share would be taken for either; what would be judged must have one reading.
  if (link.incoming.isOpen(id)) return refuseUnseen(link, envelope, "its id belongs to a request that is still open");
  if (method === PERMISSION && !hasOneReading(envelope.bytes, envelope.params)) {
    return refuseUnseen(link, envelope, "a key is there twice, or it is nested too deep");
  }
  if (!link.incoming.hasRoomFor(envelope.end - envelope.start)) {
    if (method === PERMISSION) router.permissions.ask(link, undefined, envelope);
    else refuseAgent(link, id, fault("busy", "Too many requests of this agent wait for their answers already."));
    return;
  }
  if (method.startsWith(HOP_ONLY)) {
    refuseAgent(link, id, { code: METHOD_NOT_FOUND, message: `"${method.slice(0, 100)}" is a notification.` });
    return;
  }
  if (envelope.sessionId.start < 0) {
    requestWithoutSession(router, link, envelope, method);
    return;
  }
  const agentId = readString(envelope.bytes, envelope.sessionId);
  const known = agentId === undefined ? undefined : (link.sessions.get(agentId) ?? link.children.get(agentId));
  const session = known ?? router.early.sessionFor(link, envelope);
  if (session === "waits") return;
  if (method === PERMISSION) {
    if (session?.lane.busy) waitInLane(link, session, envelope);
    else router.permissions.ask(link, session, envelope);
    return;
  }
  if (!session) {
    refuseAgent(link, id, fault("unknown_session", `acp-master knows no session of this id for "${method}".`));
    return;
  }
  if (session.lane.busy) {
    waitInLane(link, session, envelope);
    return;
  }
  if (WRITES.has(method) && !session.presets && !session.presetsAwaited) {
    // Its Helper is only starting; what it forbids is known in a moment.
    link.incoming.waitsInLane(id);
    const go = session.lane.pause(keep(envelope).bytes);
    router.permissions.presets.whenDeclared(session, () => {
      session.presetsAwaited = true;
      go();
    });
    return;
  }
  const forbidden = WRITES.has(method) ? router.permissions.presets.refusesWrites(session, agentId ?? "") : undefined;
  if (forbidden) {
    refuseAgent(link, id, forbidden);
    return;
  }
  const target = targetOf(link, session, envelope, method);
  if (!target.ok) refuseAgent(link, id, target.error);
  else if (target.client === "host") putToHost(router, link, { session, method }, envelope);
  else putToClient(router, link, { client: target.client, session, method }, envelope);
}

export function agentNotification(router: Router, link: AgentLink, envelope: Envelope): void {
  const method = readString(envelope.bytes, envelope.method) ?? "";
  if (method === "$/cancel_request") {
    const { requestId } = envelope;
    if (requestId.start < 0) return;
    link.incoming.cancel(envelope.bytes.toString("latin1", requestId.start, requestId.end));
    return;
  }
  const frame = Buffer.from(envelope.bytes.subarray(envelope.start, envelope.end + 1));
  if (method === "elicitation/complete") {
    const client = router.elicitations.completed(link, readString(envelope.bytes, envelope.elicitationId) ?? "");
    client?.outbox.send(frame);
    return;
  }
  if (envelope.sessionId.start < 0) {
    for (const client of link.clients) if (!client.closed) client.outbox.send(frame);
    return;
  }
  const agentId = readString(envelope.bytes, envelope.sessionId) ?? "";
  const session = link.sessions.get(agentId) ?? link.children.get(agentId) ?? router.early.sessionFor(link, envelope);
  if (!session || session === "waits") return;
  if (session.lane.busy) {
    session.lane.follow(frame);
    return;
  }
  const outward = toClient(session, keep(envelope));
  for (const [client, attachment] of session.attachments) client.outbox.follow(outward, attachment);
}

/** A request that is no legal one. A permission is refused, the rest gets an error. */
export function badAgentRequest(link: AgentLink, envelope: Envelope): void {
  refuseUnseen(link, envelope, envelope.problem ?? "bad_envelope");
}

/** A frame that waited in a lane that is no more: a request still gets its answer. */
export function refuseWaiting(link: AgentLink, frame: Buffer): void {
  const envelope = reopened(frame);
  if (envelope.kind !== "request") return;
  const id = idText(envelope);
  link.incoming.leftLane(id);
  if (readString(frame, envelope.method) === PERMISSION) link.write(resultFrame(id, REFUSED_UNSEEN));
  else refuseAgent(link, id, fault("unknown_session", "The session is over."));
}

/** Answers at once, whatever else is open under this id. */
function refuseUnseen(link: AgentLink, envelope: Envelope, why: string): void {
  const id = idText(envelope);
  const isPermission = readString(envelope.bytes, envelope.method) === PERMISSION;
  if (isPermission) link.reply(id, resultFrame(id, REFUSED_UNSEEN));
  else refuseAgent(link, id, { code: INVALID_REQUEST, message: `This is no legal JSON-RPC request: ${why}.` });
}

type Target =
  { readonly ok: true; readonly client: ClientConnection | "host" } | { readonly ok: false; readonly error: RpcError };

function targetOf(link: AgentLink, session: Session, envelope: Envelope, method: string): Target {
  const terminalId = readString(envelope.bytes, envelope.terminalId);
  if (method.startsWith("terminal/") && method !== "terminal/create" && terminalId !== undefined) {
    const owner = session.terminals.ownerOf(readString(envelope.bytes, envelope.sessionId) ?? "", terminalId);
    if (owner === "host") return { ok: true, client: owner };
    if (owner) {
      const serves = !owner.closed && !owner.halfClosed && session.attachments.has(owner);
      return serves ? { ok: true, client: owner } : { ok: false, error: clientGone(method) };
    }
  }
  const client = session.primary(method, readString(envelope.bytes, envelope.elicitationMode));
  if (client) return { ok: true, client };
  // The agent was told that it can have this, by a client that is gone: this host serves it from now on.
  const onHost = method.startsWith("fs/") || method.startsWith("terminal/");
  if (onHost && !session.provisional && link.announced.serves(method)) return { ok: true, client: "host" };
  const message = needsCapability(method)
    ? `No client of this session can serve "${method}".`
    : `No client is attached to this session that could answer "${method}".`;
  return { ok: false, error: fault("no_client", message) };
}

function requestWithoutSession(router: Router, link: AgentLink, envelope: Envelope, method: string): void {
  const id = idText(envelope);
  const { requestId } = envelope;
  if (method === "elicitation/create" && requestId.start >= 0) {
    // The id is one of the requests that this process was sent; it becomes the client's own id for it.
    const origin = link.originOf(envelope.bytes.toString("latin1", requestId.start, requestId.end));
    const mode = readString(envelope.bytes, envelope.elicitationMode);
    if (origin?.client.isController && origin.client.identity.capabilities.serves(method, mode)) {
      const edits: Edit[] = [{ ...requestId, bytes: Buffer.from(origin.id, "latin1") }];
      putToClient(router, link, { client: origin.client, session: undefined, method }, envelope, edits);
      return;
    }
    refuseAgent(link, id, fault("no_client", "The client whose request this elicitation belongs to cannot show it."));
    return;
  }
  const [only, second] = [...link.clients].filter((client) => client.isController);
  if (only && !second && only.identity.capabilities.serves(method)) {
    putToClient(router, link, { client: only, session: undefined, method }, envelope);
    return;
  }
  refuseAgent(link, id, { code: METHOD_NOT_FOUND, message: `"${method}" without a sessionId has no single receiver.` });
}

/** Refuses a request that was not put to anybody. */
function refuseAgent(link: AgentLink, id: string, error: RpcError): void {
  link.reply(id, errorFrame(id, error));
}
