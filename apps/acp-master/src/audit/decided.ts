// Which of some questions have their decision in the record, and how each ended. It reads only, the newest file first.
import { readFile } from "node:fs/promises";
import { asRecord } from "../protocol/json-value.ts";
import { currentPath, rotatedPaths } from "./chain-files.ts";
import { parseRecord } from "./record.ts";

export interface Decided {
  readonly outcome: { readonly result: string; readonly optionId?: string | undefined };
  readonly by: { readonly kind: string };
}

/** How a record of a decision begins, behind its number and time. */
const DECISION = /"type":"decision","approvalId":"([^"]+)"/g;
const LF = 0x0a;

/** What cannot be read holds none. */
export async function readDecided(stateDir: string, approvalIds: ReadonlySet<string>): Promise<Map<string, Decided>> {
  const found = new Map<string, Decided>();
  try {
    for (const path of [currentPath(stateDir), ...rotatedPaths(stateDir).toReversed()]) {
      if (found.size === approvalIds.size) break;
      findIn(await readFile(path), approvalIds, found);
    }
  } catch {
    // Whoever records next meets the same failure, and tells of it.
  }
  return found;
}

function findIn(file: Buffer, approvalIds: ReadonlySet<string>, found: Map<string, Decided>): void {
  for (const { 1: approvalId = "", index } of file.toString("latin1").matchAll(DECISION)) {
    if (!approvalIds.has(approvalId) || found.has(approvalId)) continue;
    const end = file.indexOf(LF, index);
    const line = file.subarray(file.lastIndexOf(LF, index) + 1, end < 0 ? file.length : end);
    const fields = parseRecord(line)?.fields;
    if (fields === undefined) continue;
    const { result, optionId } = asRecord(fields["outcome"]);
    const { kind } = asRecord(fields["by"]);
    found.set(approvalId, {
      outcome: { result: String(result), optionId: typeof optionId === "string" ? optionId : undefined },
      by: { kind: String(kind) },
    });
  }
}
