// Decides what of a log call may reach the log file: only known field names with plain values pass. Payload has no name here.
import { errorCode } from "../config/error-code.ts";
import { shortened, visibleLine } from "../display/untrusted-text.ts";

/**
 * Ids, kinds, sizes, times and states. A new name is added here on purpose, never a wildcard, and never one that a line has
 * of itself (level, time, daemon, msg): the line would have it twice.
 */
const knownFields: ReadonlySet<string> = new Set(
  `agent agentSession approvalId arming asks attached attempt attempts bad bind by bytes cause child client clientId clients code column
  component connection connections count cursor decision delayMs depth digest drainSeconds dropped droppedFields durationMs edge
  endpoint event exitCode expiresAt fault faults file frames from generation gone helper helperId held hook hooks host hops id ids
  index inode instance isolation journal key kept kind lag lane length limit line lines loaded lost mark max message_kind
  method mode ms name names node noise number offer offered offers offset open optionId optionKind optionKinds options outcome path peer
  pending percent pgid phase pid platform pool port position preset prefix process processes protocolVersion queue queued ready
  reason reasons recipients record records rejected removed requestId requests restart result role route rows run seconds sequence
  session sessionId sessions shell signal size skipped socket sockets source spoken startedAt state status step steps stopped syscall takenMs
  ticket tickets to toolCallId total turn turns type updates usage use user version waitMs waiting what why width writes`.split(
    /\s+/,
  ),
);

export type LogValue = string | number | boolean | null | readonly (string | number)[] | LogError;

interface LogError {
  readonly name: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly frames: readonly string[];
}

const longestText = 256;
const longestList = 32;

/** The fields that may be written. What was left out is counted, not named: a name can be payload too. */
export function knownFieldsOf(fields: Readonly<Record<string, unknown>>): Record<string, LogValue> {
  const kept: Record<string, LogValue> = {};
  let left = 0;
  for (const [name, value] of Object.entries(fields)) {
    const plain = valueThatMayPass(name, value);
    if (plain !== undefined) kept[name] = plain;
    else if (value !== undefined) left++;
  }
  if (left > 0) kept.droppedFields = left;
  return kept;
}

/** An error passes as an Error only: its text alone may quote what it failed on. */
function valueThatMayPass(name: string, value: unknown): LogValue | undefined {
  if (name === "err" || name === "error") return value instanceof Error ? errorFacts(value) : undefined;
  return knownFields.has(name) ? plainValue(value) : undefined;
}

function plainValue(value: unknown): LogValue | undefined {
  if (value instanceof Error) return errorFacts(value);
  if (Array.isArray(value)) {
    return value.slice(0, longestList).flatMap((part: unknown) => (typeof part === "number" ? [part] : textOf(part)));
  }
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  return textOf(value).at(0);
}

function textOf(value: unknown): (string | number)[] {
  if (typeof value === "bigint") return [String(value)];
  return typeof value === "string" ? [loggable(value)] : [];
}

/** Cut, and with everything that a terminal would obey made visible. */
export function loggable(text: string): string {
  return shortened(visibleLine(text.slice(0, longestText * 4)), longestText);
}

/** An error's message may quote what it failed on; its code and the places in our code say enough. */
function errorFacts(error: Error): LogError {
  const { syscall } = error as NodeJS.ErrnoException;
  const code = errorCode(error);
  return {
    name: loggable(error.name),
    ...(code === "unknown" ? {} : { code: loggable(code) }),
    ...(typeof syscall === "string" ? { syscall: loggable(syscall) } : {}),
    frames: (error.stack ?? "")
      .split("\n")
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 8)
      .map((line) => loggable(line.trim())),
  };
}
