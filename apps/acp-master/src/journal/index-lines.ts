// The lines of a session's index.ndjson: positions, ids, kinds and times. No line holds bytes of a request or of an update.

import { asList, asRecord } from "../protocol/json-value.ts";

/** Of these a client that joins gets the latest. */
export const SNAPSHOT_KINDS = [
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
] as const;

export type SnapshotKind = (typeof SNAPSHOT_KINDS)[number];

/** A ticket as it was opened: enough to settle and audit it after a restart. */
export interface OpenedTicket {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
  readonly paramsDigest: string;
  readonly openedAt: number;
}

export interface SettledTicket {
  readonly approvalId: string;
  readonly result: string;
  readonly optionId?: string | undefined;
  readonly by: string;
  readonly settledAt: number;
}

export type IndexLine =
  /** A daemon begins to append here: what others marked behind it is not in the journal. */
  | { readonly type: "run"; readonly run: string; readonly at: number; readonly time: number }
  | { readonly type: "turn"; readonly at: number; readonly time?: number }
  | { readonly type: "snapshot"; readonly kind: SnapshotKind; readonly at: number; readonly bytes: number }
  /** Everything before is forgotten. */
  | { readonly type: "start"; readonly at: number }
  /** A file of so many bytes, whose first byte has position `to`, takes the place of the one that begins at `from`. */
  | { readonly type: "move"; readonly from: number; readonly to: number; readonly bytes: number }
  /** Position of the file's first byte; ends a move. */
  | { readonly type: "base"; readonly at: number }
  /** The file was left with this size and this time of change, all of it our own frames. */
  | { readonly type: "rest"; readonly bytes: number; readonly modified: string }
  | ({ readonly type: "opening" } & OpenedTicket)
  | ({ readonly type: "decision" } & SettledTicket);

export const encodeLine = (line: IndexLine): string => `${JSON.stringify(line)}\n`;

/** Undefined: no line of ours. */
export function decodeLine(text: string): IndexLine | undefined {
  try {
    return readLine(asRecord(JSON.parse(text)));
  } catch {
    return undefined; // no JSON
  }
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isText = (value: unknown): value is string => typeof value === "string";
const isKind = (value: unknown): value is SnapshotKind => SNAPSHOT_KINDS.some((kind) => kind === value);

function readLine(line: Readonly<Record<string, unknown>>): IndexLine | undefined {
  const { type, at, bytes, time } = line;
  switch (type) {
    case "run":
      return isText(line["run"]) && isCount(at) && isCount(time) ? { type, run: line["run"], at, time } : undefined;
    case "turn":
      return isCount(at) ? { type, at } : undefined;
    case "snapshot": {
      const { kind } = line;
      return isKind(kind) && isCount(at) && isCount(bytes) ? { type, kind, at, bytes } : undefined;
    }
    case "start":
    case "base":
      return isCount(at) ? { type, at } : undefined;
    case "move": {
      const { from, to } = line;
      return isCount(from) && isCount(to) && isCount(bytes) ? { type, from, to, bytes } : undefined;
    }
    case "rest":
      return isCount(bytes) && isText(line["modified"]) ? { type, bytes, modified: line["modified"] } : undefined;
    case "opening":
      return readOpening(line);
    case "decision": {
      const { approvalId, result, optionId, by, settledAt } = line;
      if (!isText(approvalId) || !isText(result) || !isText(by) || !isCount(settledAt)) return undefined;
      return { type, approvalId, result, optionId: isText(optionId) ? optionId : undefined, by, settledAt };
    }
    default:
      return undefined;
  }
}

function readOpening(line: Readonly<Record<string, unknown>>): IndexLine | undefined {
  const { approvalId, toolCallId, paramsDigest, openedAt } = line;
  if (!isText(approvalId) || !isText(toolCallId) || !isText(paramsDigest) || !isCount(openedAt)) return undefined;
  const options = asList(line["options"])
    .map(asRecord)
    .flatMap(({ optionId, kind }) => (isText(optionId) && isText(kind) ? [{ optionId, kind }] : []));
  return { type: "opening", approvalId, toolCallId, options, paramsDigest, openedAt };
}
