// Reads a message of the console server. What is none, or lacks what the page relies on, is no message.
import type { ServerMessage } from "../../../src/protocol.ts";
import { asRecord, type JsonRecord } from "../model/json-value.ts";

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isRow = (value: unknown, key: string): boolean => isText(asRecord(value)[key]);
const areRows = (value: unknown, key: string): boolean =>
  Array.isArray(value) && value.every((each) => isRow(each, key));

/** What each kind must have; the server comes from the same build, so this finds broken messages and not other versions. */
const checks: Readonly<Record<ServerMessage["type"], (message: JsonRecord) => boolean>> = {
  hello: ({ role }) => role === "controller" || role === "observer",
  daemon: ({ state, generation }) => (state === "connected" || state === "offline") && isNumber(generation),
  sessions: ({ sessions }) => areRows(sessions, "sessionId"),
  session: ({ session }) => isRow(session, "sessionId"),
  session_removed: ({ sessionId }) => isText(sessionId),
  approvals: ({ approvals }) => Array.isArray(approvals) && approvals.every(isApproval),
  approval: ({ approval }) => isApproval(approval),
  approval_resolved: ({ approvalId, sessionId, outcome }) =>
    isText(approvalId) && isText(sessionId) && isRow(outcome, "result"),
  agent_exited: ({ agent }) => isText(agent),
  updates: ({ attachment, sessionId, updates }) => isNumber(attachment) && isText(sessionId) && Array.isArray(updates),
  attachment_lost: ({ attachment, sessionId, error }) =>
    isNumber(attachment) && isText(sessionId) && isRow(error, "message"),
  elicitation: ({ elicitation, sessionId }) => isText(elicitation) && isText(sessionId),
  elicitation_over: ({ elicitation }) => isText(elicitation),
  cards: ({ cards, notices }) => areRows(cards, "proposalId") && areRows(notices, "sessionId"),
  card: ({ card }) => isRow(card, "proposalId"),
  card_over: ({ proposalId }) => isText(proposalId),
  notice: ({ notice }) => isRow(notice, "sessionId"),
  reply: ({ id, ok, error }) => isNumber(id) && (ok === true || isRow(error, "message")),
};

function isApproval(value: unknown): boolean {
  const { approvalId, sessionId, options } = asRecord(value);
  return isText(approvalId) && isText(sessionId) && areRows(options, "optionId");
}

export function messageOf(data: unknown): ServerMessage | undefined {
  const message = parsed(data);
  return isMessage(message) ? message : undefined;
}

function isMessage(message: unknown): message is ServerMessage {
  const fields = asRecord(message);
  const check = Object.entries(checks).find(([type]) => type === fields.type)?.[1];
  return check?.(fields) === true;
}

function parsed(data: unknown): unknown {
  try {
    return typeof data === "string" ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}
