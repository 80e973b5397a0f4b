// The ids of requests as keys: their own bytes, one character each, so that 1 and "1" and 1.0 stay different.
import type { Span } from "@acp-master/wire";

/** So many are remembered of each side. */
export const mostIds = 10_000;
const longestId = 1024;

/** Undefined: too long to be remembered. */
export function idOf(bytes: Buffer, id: Span): string | undefined {
  return id.end - id.start > longestId ? undefined : bytes.toString("latin1", id.start, id.end);
}
