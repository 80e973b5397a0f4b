// The bytes of every open permission request, and who was shown it. Tickets decide by ids and kinds; here those decisions
// become frames: to the Helper, to clients, to the agent. Request bytes live until the ticket settles, never on disk.

import { createHash } from "node:crypto";
import {
  Envelope,
  type Edit,
  peek,
  readString,
  removeMember,
  setMember,
  insertMember,
  type Span,
  spanBytes,
  splice,
} from "@acp-master/wire";
import type { AgentAnswer, ClientAnswer, Decision, TicketOption, TicketView } from "@acp-master/permission-core";

import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { json, requestFrame } from "./message.ts";
import type { Session } from "./session.ts";

const EXTENSION = "acp-master";
const METHOD = "session/request_permission";

/** One agent request, normalised: our `_meta` removed, the session under its outward id. */
export interface PermissionRequest {
  readonly session: Session | undefined;
  readonly link: AgentLink;
  /** Exact text of the agent's request id. */
  readonly requestId: string;
  /** A whole request frame; its id means nothing. */
  readonly frame: Buffer;
  readonly paramsDigest: string;
  readonly toolCallId: string;
  /** The agent's id of the session that asks, which may be one below the known session. */
  readonly agentId: string;
  readonly options: readonly TicketOption[] | undefined;
  /** Raw JSON of each offered option id: the answer carries the agent's own bytes. */
  readonly optionBytes: ReadonlyMap<string, Buffer>;
  /** Number of the question at each client that has the dialog open. */
  readonly dialogs: Map<string, number>;
  /** How to take the question back from the Helper. */
  cancelHelper: () => void;
  /** The answer of the client that is just being heard: its whole result, which may say more than the option. */
  words: { readonly optionId: string; readonly result: Buffer } | undefined;
}

/** Reads what a ticket needs of the agent's request and makes the frame that Helper and clients are shown. */
export function readPermissionRequest(
  link: AgentLink,
  session: Session | undefined,
  envelope: Envelope,
): PermissionRequest {
  const { bytes } = envelope;
  const options: TicketOption[] = [];
  const optionBytes = new Map<string, Buffer>();
  for (let i = 0; i < envelope.optionCount; i++) {
    const span = envelope.optionIds[i]!;
    const optionId = readString(bytes, span);
    if (optionId === undefined) continue;
    options.push({ optionId, kind: readString(bytes, envelope.optionKinds[i]!) ?? "" });
    if (!optionBytes.has(optionId)) optionBytes.set(optionId, spanBytes(bytes, span));
  }
  return {
    session,
    link,
    requestId: bytes.toString("latin1", envelope.id.start, envelope.id.end),
    frame: normalised(envelope, session),
    paramsDigest: createHash("sha256").update(bytes.subarray(envelope.params.start, envelope.params.end)).digest("hex"),
    toolCallId: readString(bytes, envelope.toolCallId) ?? "",
    agentId: readString(bytes, envelope.sessionId) ?? "",
    options: options.length > 0 ? options : undefined,
    optionBytes,
    dialogs: new Map(),
    cancelHelper: () => {},
    words: undefined,
  };
}

/** The request's params with our `_meta` put in, for the Helper or a client; also the agent's own, for lists. */
export function permissionParams(request: PermissionRequest, meta: Readonly<Record<string, unknown>>): Buffer {
  const { frame } = request;
  const envelope = new Envelope();
  peek(frame, 0, frame.length - 1, envelope);
  const { params, paramsMeta } = envelope;
  const value = json(meta);
  const edit = isObject(frame, paramsMeta)
    ? insertMember(frame, paramsMeta, EXTENSION, value)
    : setMember(frame, params, "_meta", json({ [EXTENSION]: meta }));
  return spliceValue(frame, params, edit);
}

/** The agent's params as clients see them, without ours. */
export function plainParams(request: PermissionRequest): Buffer {
  const envelope = new Envelope();
  peek(request.frame, 0, request.frame.length - 1, envelope);
  return spanBytes(request.frame, envelope.params);
}

export function offerFrame(request: PermissionRequest, id: string, ticket: TicketView): Buffer {
  const meta = { approvalId: ticket.approvalId, askedAt: askedAtText(ticket) };
  return requestFrame(id, METHOD, permissionParams(request, meta));
}

export const askedAtText = (ticket: TicketView): string => new Date(ticket.askedAt ?? ticket.openedAt).toISOString();

/** The answer's result: what the client said when its choice stands, else made here with the agent's own bytes of the id. */
export function agentResult(request: PermissionRequest, answer: AgentAnswer): Buffer {
  if (answer.outcome === "cancelled") return Buffer.from('{"outcome":{"outcome":"cancelled"}}');
  if (request.words?.optionId === answer.optionId) return request.words.result;
  const optionId = request.optionBytes.get(answer.optionId) ?? json(answer.optionId);
  return Buffer.concat([Buffer.from('{"outcome":{"outcome":"selected","optionId":'), optionId, Buffer.from("}}")]);
}

/** What a client's response to an offer says. Anything that is no clear choice is a fault of that client. */
export function clientAnswer(envelope: Envelope): ClientAnswer {
  if (envelope.error.start >= 0) return { kind: "fault", fault: "error_response" };
  const outcome = readString(envelope.bytes, envelope.outcomeKind);
  if (outcome === "cancelled") return { kind: "cancelled" };
  if (outcome !== "selected") return { kind: "fault", fault: outcome === undefined ? "no_outcome" : "unknown_outcome" };
  const optionId = readString(envelope.bytes, envelope.outcomeOptionId);
  return optionId === undefined ? { kind: "fault", fault: "no_option" } : { kind: "selected", optionId };
}

/** What the resolved notice says, for people's programs and for the Helper. */
export function resolvedNotice(ticket: TicketView, decision: Decision): Record<string, unknown> {
  const { approvalId, sessionId, toolCallId } = ticket;
  return { approvalId, sessionId, toolCallId, outcome: decision.outcome, by: decision.by };
}

export function tellClient(client: ClientConnection, request: PermissionRequest, clientId: string): void {
  const number = request.dialogs.get(clientId);
  if (number === undefined) return;
  request.dialogs.delete(clientId);
  client.withdraw(number);
}

function normalised(envelope: Envelope, session: Session | undefined): Buffer {
  const { bytes, start, end } = envelope;
  const edits: Edit[] = [];
  const name = session?.outwardName(bytes, envelope.sessionId);
  if (name) edits.push({ ...envelope.sessionId, bytes: name });
  for (const meta of [envelope.paramsMeta, envelope.toolCallMeta]) {
    const edit = isObject(bytes, meta) ? removeMember(bytes, meta, EXTENSION) : undefined;
    if (edit) edits.push(edit);
  }
  return splice(
    bytes,
    start,
    end,
    edits.toSorted((a, b) => a.start - b.start),
  );
}

const isObject = (bytes: Buffer, span: Span): boolean => span.start >= 0 && bytes[span.start] === 0x7b;

function spliceValue(bytes: Buffer, value: Span, edit: Edit): Buffer {
  return Buffer.concat([bytes.subarray(value.start, edit.start), edit.bytes, bytes.subarray(edit.end, value.end)]);
}

/** Why an agent's permission request that is no legal message cannot be asked: it is refused, not shown. */
export const REFUSED_UNSEEN = Buffer.from('{"outcome":{"outcome":"cancelled"}}');
