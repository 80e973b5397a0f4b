// The order of a tool call's statuses: never backwards, and the first terminal one stays. Pure, on the status word alone.

const ranks: Readonly<Record<string, number>> = { pending: 1, in_progress: 2, completed: 3, failed: 3 };
const terminalRank = 3;

/** Unknown and empty statuses rank lowest. */
export function statusRank(status: string | undefined): number {
  return status !== undefined && Object.hasOwn(ranks, status) ? (ranks[status] ?? 0) : 0;
}

export function isTerminal(status: string | undefined): boolean {
  return statusRank(status) === terminalRank;
}

/**
 * The status to show after `last`, the one shown so far, when `incoming` arrives. Where it differs from a status in the
 * frame, that value is replaced and the rest of the frame stays.
 *
 *     nextStatus("completed", "failed")    // "completed"
 *     nextStatus("in_progress", "pending") // "in_progress"
 */
export function nextStatus(last: string | undefined, incoming: string | undefined): string | undefined {
  if (incoming === undefined || incoming === "") return last;
  if (isTerminal(last) || statusRank(incoming) < statusRank(last)) return last;
  return incoming;
}

/** The same for a whole frame: a `tool_call` after a terminal status begins a new call under that id. */
export function statusAfter(
  last: string | undefined,
  frame: { readonly sessionUpdate: string; readonly status: string | undefined },
): string | undefined {
  const begins = frame.sessionUpdate === "tool_call" && isTerminal(last);
  return nextStatus(begins ? undefined : last, frame.status);
}
