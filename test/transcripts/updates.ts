// One of every update kind that the stable schema has, most in their fullest form. With look-alikes of envelope members inside.

import { awkward } from "./respelling.ts";

const text = (words: string): object => ({ type: "text", text: words });
const lookAlike = { jsonrpc: "2.0", id: 0, method: "session/update", params: { sessionId: "other", update: {} } };

export const everyUpdate = (configOptions: readonly object[]): object[] => [
  { sessionUpdate: "user_message_chunk", content: text("echo"), messageId: "u-1", _meta: { lookAlike, awkward } },
  { sessionUpdate: "agent_message_chunk", content: text('{"sessionId":"x","id":1}'), messageId: "m-1" },
  { content: text("kind at the end"), sessionUpdate: "agent_message_chunk" },
  { sessionUpdate: "agent_message_chunk", content: { type: "image", data: "aGk=", mimeType: "image/png", uri: null } },
  { sessionUpdate: "agent_message_chunk", content: { type: "audio", data: "aGk=", mimeType: "audio/wav" } },
  {
    sessionUpdate: "agent_message_chunk",
    content: { type: "resource_link", uri: "file:///a b", name: "a b", size: 9007199254740991 },
  },
  {
    sessionUpdate: "agent_message_chunk",
    content: { type: "resource", resource: { uri: "file:///a", text: "\u2028", mimeType: "text/plain" } },
  },
  {
    sessionUpdate: "agent_thought_chunk",
    content: { ...text("hm"), annotations: { audience: ["user"], priority: 0.5 } },
  },
  {
    sessionUpdate: "tool_call",
    toolCallId: "t-1",
    title: "edits",
    name: "edit",
    kind: "edit",
    status: "pending",
    content: [
      { type: "content", content: text("before") },
      { type: "diff", path: "/a", oldText: null, newText: "b\n" },
      { type: "terminal", terminalId: "term-0" },
    ],
    locations: [{ path: "/a", line: 3 }],
    rawInput: { toolCallId: "t-2", status: "completed", nested: [[[]], {}] },
  },
  { sessionUpdate: "tool_call_update", toolCallId: "t-1", status: "in_progress", rawOutput: awkward },
  { sessionUpdate: "tool_call_update", toolCallId: "t-1", title: null, kind: null, content: null, locations: null },
  { sessionUpdate: "tool_call_update", toolCallId: "t-1", status: "completed", content: [] },
  { sessionUpdate: "tool_call", toolCallId: "", title: "no id", status: "failed" },
  { sessionUpdate: "plan", entries: [{ content: "first", priority: "high", status: "pending" }] },
  { sessionUpdate: "available_commands_update", availableCommands: [{ name: "a", description: "", input: null }] },
  { sessionUpdate: "current_mode_update", currentModeId: "bold" },
  { sessionUpdate: "config_option_update", configOptions, _meta: awkward },
  { sessionUpdate: "session_info_update", title: "A title", updatedAt: "2026-01-01T00:00:00.000Z" },
  { sessionUpdate: "usage_update", used: 12345, size: 200_000, cost: { amount: 0.1, currency: "USD" } },
  { sessionUpdate: "notice", severity: "warning", title: "Careful" },
  { sessionUpdate: "compaction_update", compactionId: "c-1", status: "in_progress" },
  { sessionUpdate: "compaction_summary_chunk", compactionId: "c-1", content: text("summary") },
  { sessionUpdate: "compaction_update", compactionId: "c-1", status: "completed", summary: [text("all")], error: null },
  { sessionUpdate: "_test/kind", anything: [lookAlike] },
];
