// Puts a session's updates into the order in which they may be shown: statuses of tool calls never go backwards, the first
// sighting of a call is a whole one, and a turn that is over leaves no call open.
import { endTurn, showToolCall, type ShownStatuses, type ToolCallFrame } from "@acp-master/permission-core";
import { asObject, asText } from "../json.ts";
import type { JsonObject, Update } from "../protocol.ts";

export class TranscriptOrder {
  readonly #shown: ShownStatuses = new Map();
  /** Something of the agent's came since the last prompt. */
  #answered = false;

  /** What to show for the params of one `session/update`. */
  take(params: JsonObject): Update[] {
    const raw = asObject(params["update"]);
    const update: Update = { ...raw, sessionUpdate: asText(raw["sessionUpdate"]) };
    if (update.sessionUpdate === "user_message_chunk") {
      if (!this.#answered) return [update];
      this.#answered = false;
      return [...endTurn(this.#shown).map((frame): Update => ({ ...frame })), update];
    }
    this.#answered = true;
    return [isToolCall(update) ? { ...showToolCall(this.#shown, update) } : update];
  }
}

/** The members besides the id are for those who show it to judge. */
function isToolCall(update: Update): update is Update & ToolCallFrame {
  const { sessionUpdate, toolCallId } = update;
  return (sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update") && typeof toolCallId === "string";
}
