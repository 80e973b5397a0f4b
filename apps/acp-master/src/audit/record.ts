// One line of the decision record: what it holds, how it is written and read. It takes ids and kinds only, cut to a bound, never titles or contents.
import { createHash } from "node:crypto";
import { escapeJsonText } from "../display/untrusted-text.ts";

export interface DecisionLine {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly toolCallId: string;
  /** SHA-256 of the request's params as the agent sent them. */
  readonly paramsDigest: string;
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
  /** Client ids. */
  readonly shownTo: readonly string[];
  readonly outcome: { readonly result: string; readonly optionId?: string };
  readonly by: { readonly kind: string; readonly name: string };
  readonly preset: string;
  /** Milliseconds since the epoch; undefined when nobody was asked. */
  readonly askedAt: number | undefined;
  readonly latencyMs: number;
}

/** What others may record beside decisions. `recovered` and `dropped` are the log's own. */
export type AuditEvent = "preset" | "mode" | "helper_fault" | "start" | "stop";

export type AuditField = string | number | boolean | null | undefined | readonly (string | number)[];

/** A place in the chain: the number of a record and the SHA-256 of its line without the line feed. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** Where a chain starts. */
export const emptyHead: Head = { seq: 0, hash: "0".repeat(64) };

export interface AuditRecord {
  readonly seq: number;
  readonly prev: string;
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const longestText = 256;
const longestList = 64;
const ownKeys: ReadonlySet<string> = new Set(["seq", "at", "type", "prev"]);

/** The line of the record after `before`, with its line feed. */
export function encodeRecord(before: Head, type: string, fields: Readonly<Record<string, unknown>>): Buffer {
  const record = { seq: before.seq + 1, at: new Date().toISOString(), type, ...fields, prev: before.hash };
  return Buffer.from(`${escapeJsonText(JSON.stringify(record))}\n`);
}

export function decisionFields(line: DecisionLine): Record<string, unknown> {
  const { outcome, options } = line;
  return {
    approvalId: bounded(line.approvalId),
    sessionId: bounded(line.sessionId),
    agent: bounded(line.agent),
    toolCallId: bounded(line.toolCallId),
    paramsDigest: bounded(line.paramsDigest),
    options: options
      .slice(0, longestList)
      .map((option) => ({ optionId: bounded(option.optionId), kind: bounded(option.kind) })),
    ...(options.length > longestList ? { optionsLeftOut: options.length - longestList } : {}),
    shownTo: line.shownTo.slice(0, longestList).map(bounded),
    ...(line.shownTo.length > longestList ? { shownToLeftOut: line.shownTo.length - longestList } : {}),
    outcome: {
      result: bounded(outcome.result),
      ...(outcome.optionId === undefined ? {} : { optionId: bounded(outcome.optionId) }),
    },
    by: { kind: bounded(line.by.kind), name: bounded(line.by.name) },
    preset: bounded(line.preset),
    askedAt: line.askedAt === undefined ? null : new Date(line.askedAt).toISOString(),
    latencyMs: line.latencyMs,
  };
}

/** Plain values only, and no key that the record itself carries. */
export function eventFields(fields: Readonly<Record<string, AuditField>>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([key]) => !ownKeys.has(key));
  return Object.fromEntries(kept.slice(0, longestList).map(([key, value]) => [bounded(key), plain(value)]));
}

function plain(value: AuditField): unknown {
  if (typeof value === "string") return bounded(value);
  if (typeof value !== "object" || value === null) return value;
  return value.slice(0, longestList).map((part) => (typeof part === "string" ? bounded(part) : part));
}

/** An agent chooses its ids; a huge one keeps its beginning and the digest of the whole. */
function bounded(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, 64)}… sha256:${hashOf(Buffer.from(text))}`;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Reads a line without its line feed; undefined when it is not a record. */
export function parseRecord(line: Buffer): AuditRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    // Torn or overwritten: the caller says so.
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { seq, at, type, prev, ...fields } = value;
  if (!isSequence(seq) || seq === 0 || !isHash(prev) || typeof at !== "string" || typeof type !== "string") {
    return undefined;
  }
  return { seq, prev, type, fields };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < Number.MAX_SAFE_INTEGER / 2;
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}
