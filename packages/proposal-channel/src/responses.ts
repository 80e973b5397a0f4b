// The two lines that acp-propose prints: their shapes, their one encoding and their one reading. Strict both ways.
import { decodeUtf8, isJsonObject, jsonProblem } from "./strict-json.ts";
import type { FinalStatus } from "./book.ts";

export const validationStatuses = [
  "accepted",
  "unknown_channel",
  "helper_mismatch",
  "not_armed",
  "stale",
  "superseded",
  "expired",
  "digest_mismatch",
  "already_consumed",
  "invalid_schema",
  "rejected",
  "unavailable",
] as const;

export type ValidationStatus = (typeof validationStatuses)[number];
export type RefusalStatus = Exclude<ValidationStatus, "accepted">;

export const finalStatuses: readonly FinalStatus[] = [
  "confirmed",
  "cancelled",
  "superseded",
  "session_replaced",
  "timed_out",
  "unavailable",
];

export interface Refusal {
  readonly status: RefusalStatus;
  /** For the agent to read; empty when there is nothing to say. */
  readonly reason: string;
  readonly retryable: boolean;
}

export type Validation = { readonly status: "accepted"; readonly proposalId: string } | Refusal;

export interface Final {
  readonly status: FinalStatus;
  readonly proposalId: string;
}

/** One JSON line without its line end; the order of the keys is part of the contract. */
export function encodeValidation(validation: Validation): string {
  const phase = "validation";
  if (validation.status === "accepted") {
    return JSON.stringify({ phase, status: "accepted", proposal_id: validation.proposalId, retryable: false });
  }
  const { status, reason, retryable } = validation;
  return JSON.stringify({ phase, status, ...(reason === "" ? {} : { reason }), retryable });
}

export function encodeFinal({ status, proposalId }: Final): string {
  return JSON.stringify({ phase: "final", status, proposal_id: proposalId });
}

/** `undefined` for anything but a validation line. */
export function parseValidation(line: Uint8Array): Validation | undefined {
  const message = members(line, ["phase", "status", "proposal_id", "reason", "retryable"]);
  if (message?.["phase"] !== "validation") return undefined;
  const { status, proposal_id: proposalId, reason, retryable } = message;
  if (status === "accepted") {
    if (!isProposalId(proposalId) || reason !== undefined || retryable !== false) return undefined;
    return { status, proposalId };
  }
  const known = validationStatuses.find((each) => each === status);
  if (known === undefined || known === "accepted" || proposalId !== undefined) return undefined;
  if (typeof retryable !== "boolean") return undefined;
  if (reason !== undefined && typeof reason !== "string") return undefined;
  return { status: known, reason: reason ?? "", retryable };
}

/** `undefined` for anything but a final line. */
export function parseFinal(line: Uint8Array): Final | undefined {
  const message = members(line, ["phase", "status", "proposal_id"]);
  if (message?.["phase"] !== "final") return undefined;
  const status = finalStatuses.find((each) => each === message["status"]);
  const proposalId = message["proposal_id"];
  return status === undefined || !isProposalId(proposalId) ? undefined : { status, proposalId };
}

function isProposalId(value: unknown): value is string {
  return (
    typeof value === "string" && /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(value)
  );
}

/** The members of a strict JSON object that has no others than these. */
export function members(line: Uint8Array, allowed: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const text = decodeUtf8(line);
  if (text === undefined || jsonProblem(text, "spaced") !== undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) return undefined;
  return Object.keys(value).every((key) => allowed.includes(key)) ? value : undefined;
}
