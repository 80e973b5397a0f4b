// Which of the known `sessionUpdate` values a frame carries, read from its raw bytes without making a string.

import { readString, type Span, spanEquals } from "@acp-master/wire";

/** What the router does with an update: `plain` passes; the others need one thing more. */
export type UpdateClass = "plain" | "tool" | "snapshot" | "optional" | "subagent";

export interface UpdateKind {
  readonly name: string;
  readonly class: UpdateClass;
  /** The client capability that must be announced for this kind to be sent. */
  readonly needs?: "notices" | "compaction" | "plan" | "subagents";
  /** Part of the history that an agent replays on load. */
  readonly history: boolean;
}

const kinds: readonly UpdateKind[] = [
  { name: "user_message_chunk", class: "plain", history: true },
  { name: "agent_message_chunk", class: "plain", history: true },
  { name: "agent_thought_chunk", class: "plain", history: true },
  { name: "plan", class: "plain", history: true },
  { name: "tool_call", class: "tool", history: true },
  { name: "tool_call_update", class: "tool", history: true },
  { name: "available_commands_update", class: "snapshot", history: false },
  { name: "current_mode_update", class: "snapshot", history: false },
  { name: "config_option_update", class: "snapshot", history: false },
  { name: "session_info_update", class: "snapshot", history: false },
  { name: "usage_update", class: "snapshot", history: false },
  { name: "notice", class: "optional", needs: "notices", history: false },
  { name: "compaction_update", class: "optional", needs: "compaction", history: false },
  { name: "compaction_summary_chunk", class: "optional", needs: "compaction", history: false },
  { name: "plan_update", class: "optional", needs: "plan", history: false },
  { name: "plan_removed", class: "optional", needs: "plan", history: false },
  { name: "subagent_update", class: "subagent", needs: "subagents", history: false },
  { name: "session_message", class: "optional", needs: "subagents", history: false },
  { name: "session_message_chunk", class: "optional", needs: "subagents", history: false },
];

const BACKSLASH = 0x5c;
const UNKNOWN: UpdateKind = { name: "", class: "plain", history: false };

// By length of the quoted text, so that most frames need one comparison.
const byLength = new Map<number, { readonly text: Buffer; readonly kind: UpdateKind }[]>();
for (const kind of kinds) {
  const text = Buffer.from(JSON.stringify(kind.name));
  byLength.set(text.length, [...(byLength.get(text.length) ?? []), { text, kind }]);
}

const byName = new Map(kinds.map((kind) => [kind.name, kind]));

/** The kind that `span` names; kinds nobody knows pass as plain ones. */
export function updateKind(bytes: Buffer, span: Span): UpdateKind {
  if (span.start < 0) return UNKNOWN;
  for (const { text, kind } of byLength.get(span.end - span.start) ?? []) {
    if (spanEquals(bytes, span, text)) return kind;
  }
  // A name that is spelled with escapes is the same name.
  return bytes.subarray(span.start, span.end).includes(BACKSLASH)
    ? (byName.get(readString(bytes, span) ?? "") ?? UNKNOWN)
    : UNKNOWN;
}
