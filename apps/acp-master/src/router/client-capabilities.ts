// What a client announced in `initialize`: which agent requests it may get, which update kinds, and the text by which
// clients of equal abilities share a process.

import { createHash } from "node:crypto";
import { asRecord } from "../protocol/json-value.ts";
import { EMPTY_OBJECT, json } from "./message.ts";

/** Same value, same text: keys sorted at every level. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}

/** SHA-256 of the canonical text of any JSON value, as hex. */
export function canonicalDigest(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

export interface ClientCapabilities {
  /** As the client sent them; agents are told exactly this. */
  readonly announced: Buffer;
  readonly digest: string;
  /** Optional update kinds that may be sent to this client. */
  readonly updates: ReadonlySet<string>;
  /** Whether an agent request of this method, and of an elicitation's mode, may be sent to this client. */
  serves(method: string, mode?: string): boolean;
}

/** `bytes`: how the client wrote them. */
export function clientCapabilities(announced: unknown, bytes?: Buffer): ClientCapabilities {
  const root = asRecord(announced);
  const fs = asRecord(root["fs"]);
  const session = asRecord(root["session"]);
  const elicitation = asRecord(root["elicitation"]);
  const updates = new Set<string>();
  if (session["notices"] !== undefined && session["notices"] !== false) updates.add("notices");
  if (session["compaction"] !== undefined && session["compaction"] !== false) updates.add("compaction");
  for (const kind of ["plan", "subagents"]) if (root[kind] !== undefined && root[kind] !== false) updates.add(kind);
  const elicits = (mode: string): boolean => {
    const announcedMode = Object.hasOwn(elicitation, mode) ? elicitation[mode] : undefined;
    return announcedMode !== undefined && announcedMode !== false && announcedMode !== null;
  };
  return {
    announced: Buffer.from(announced === undefined || announced === null ? EMPTY_OBJECT : (bytes ?? json(announced))),
    digest: canonicalDigest(announced ?? {}),
    updates,
    serves(method, mode) {
      if (method === "fs/read_text_file") return fs["readTextFile"] === true;
      if (method === "fs/write_text_file") return fs["writeTextFile"] === true;
      if (method.startsWith("terminal/")) return root["terminal"] === true;
      if (method === "elicitation/create") {
        return mode === undefined ? Object.keys(elicitation).some(elicits) : elicits(mode);
      }
      return true;
    },
  };
}

/** Methods that a client serves only after announcing them. */
export const needsCapability = (method: string): boolean =>
  method.startsWith("fs/") || method.startsWith("terminal/") || method === "elicitation/create";
