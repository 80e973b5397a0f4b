// What those who show or build tool call updates add to the status order: first sightings and the end of a turn. The master adds no frames and does not use it.
import type { ToolCall, ToolCallStatus, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { isTerminal, statusAfter } from "../status-order.ts";

export type ToolCallFrame =
  | (ToolCall & { readonly sessionUpdate: "tool_call" })
  | (ToolCallUpdate & { readonly sessionUpdate: "tool_call_update" });

/** The statuses shown so far in this turn, by tool call id. The caller owns the map and empties it with the turn. */
export type ShownStatuses = Map<string, ToolCallStatus | undefined>;

/** The frame as it should be shown: in the order of statuses, and as a `tool_call` when its id was never seen. */
export function showToolCall(shown: ShownStatuses, frame: ToolCallFrame): ToolCallFrame {
  const { toolCallId } = frame;
  const isFirst = !shown.has(toolCallId);
  const status = asStatus(
    statusAfter(shown.get(toolCallId), { sessionUpdate: frame.sessionUpdate, status: frame.status ?? undefined }),
  );
  shown.set(toolCallId, status);
  const { status: _replaced, ...rest } = frame;
  if (isFirst && rest.sessionUpdate === "tool_call_update") return firstSighting(rest, status);
  return { ...rest, ...(status === undefined ? {} : { status }) };
}

/** Ends the turn: every call still open is shown as failed, and the map is empty afterwards. */
export function endTurn(shown: ShownStatuses): ToolCallFrame[] {
  const open = [...shown].filter(([, status]) => !isTerminal(status)).map(([toolCallId]) => toolCallId);
  shown.clear();
  return open.map((toolCallId) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" }));
}

function firstSighting(update: Omit<ToolCallUpdate, "status">, status: ToolCallStatus | undefined): ToolCallFrame {
  const { kind, title, content, locations, ...rest } = update;
  return {
    ...rest,
    sessionUpdate: "tool_call",
    title: title === undefined || title === null || title === "" ? update.toolCallId : title,
    kind: kind ?? "other",
    ...(content === undefined || content === null ? {} : { content }),
    ...(locations === undefined || locations === null ? {} : { locations }),
    ...(status === undefined ? {} : { status }),
  };
}

function asStatus(status: string | undefined): ToolCallStatus | undefined {
  const known: readonly ToolCallStatus[] = ["pending", "in_progress", "completed", "failed"];
  return known.find((each) => each === status);
}
