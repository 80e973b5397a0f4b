// The head of the decision record, kept apart from it so that a cut tail is noticed. One line of fixed length, written over in place.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { type Head, isHash, isRecord, isSequence } from "./record.ts";

/** Well inside one sector, so a crash leaves the old head or the new one. */
const headBytes = 128;

export function headPath(stateDir: string): string {
  return join(stateDir, "audit.head");
}

export function encodeHead(head: Head): Buffer {
  return Buffer.from(`${JSON.stringify({ seq: head.seq, hash: head.hash }).padEnd(headBytes - 1)}\n`);
}

/** Throws when the file is there and cannot be read. */
export function readHead(stateDir: string): Head | "absent" | "damaged" {
  let text: string;
  try {
    text = readFileSync(headPath(stateDir), "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "absent";
    throw error;
  }
  return parseHead(text) ?? "damaged";
}

function parseHead(text: string): Head | undefined {
  if (text.length !== headBytes) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return undefined;
    const { seq, hash } = value;
    return isSequence(seq) && isHash(hash) ? { seq, hash } : undefined;
  } catch {
    // Not JSON: damaged.
    return undefined;
  }
}
