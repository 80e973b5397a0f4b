// Tool calls as they are shown: first sightings and the end of a turn.
import { expect, it } from "vitest";
import { endTurn, showToolCall } from "../../src/builder/shown-tool-call.ts";
import type { ShownStatuses } from "../../src/builder/shown-tool-call.ts";

it("a first sighting by update is shown as a tool_call with its gaps filled", () => {
  const shown: ShownStatuses = new Map();
  expect(
    showToolCall(shown, { sessionUpdate: "tool_call_update", toolCallId: "t", title: "", status: "in_progress" }),
  ).toEqual({ sessionUpdate: "tool_call", toolCallId: "t", title: "t", kind: "other", status: "in_progress" });
  expect(showToolCall(shown, { sessionUpdate: "tool_call_update", toolCallId: "t", rawOutput: 1 })).toEqual({
    sessionUpdate: "tool_call_update",
    toolCallId: "t",
    rawOutput: 1,
    status: "in_progress",
  });
});

it("completed never becomes failed, and the rest of the frame stays", () => {
  const shown: ShownStatuses = new Map();
  showToolCall(shown, { sessionUpdate: "tool_call", toolCallId: "t", title: "T", status: "completed" });
  expect(
    showToolCall(shown, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed", title: "U" }),
  ).toEqual({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", title: "U" });
});

it("a tool_call after the end begins a new call under the id", () => {
  const shown: ShownStatuses = new Map([["t", "failed"]]);
  const again = showToolCall(shown, { sessionUpdate: "tool_call", toolCallId: "t", title: "T", status: "pending" });
  expect(again.status).toBe("pending");
});

it("calls still open at the end of a turn are shown as failed, and the turn's state is gone", () => {
  const shown: ShownStatuses = new Map([
    ["open", "pending"],
    ["done", "completed"],
    ["bare", undefined],
  ]);
  expect(endTurn(shown).map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
    ["open", "failed"],
    ["bare", "failed"],
  ]);
  expect(shown.size).toBe(0);
});
