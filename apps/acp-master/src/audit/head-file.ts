// The head of the decision record, kept apart from it so that a cut tail is noticed. One line of fixed length, written over in place.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { emptyHead, type Head, isSequence } from "./record.ts";

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

/** Exactly what `encodeHead` writes; any other spelling is damage. */
function parseHead(text: string): Head | undefined {
  const [, sequence, hash] = /^\{"seq":(\d{1,16}),"hash":"([0-9a-f]{64})"\} *\n$/.exec(text) ?? [];
  if (sequence === undefined || hash === undefined) return undefined;
  const head = { seq: Number(sequence), hash };
  const possible = isSequence(head.seq) && (head.seq > 0 || hash === emptyHead.hash);
  return possible && encodeHead(head).toString() === text ? head : undefined;
}
