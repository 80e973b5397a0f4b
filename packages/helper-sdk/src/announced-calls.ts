// What an agent announced of its tool calls in the running turn, for requests that say less. It keeps a bounded number of
// calls of bounded size; what it does not keep is unknown, and unknown input is never allowed.
import type { ToolCallUpdate } from "@agentclientprotocol/sdk";
import { isTerminal, type ToolCallParams } from "@acp-master/permission-core";

const maxCalls = 1024;
const maxInputLength = 64 * 1024;

export class AnnouncedCalls {
  readonly #calls = new Map<string, ToolCallUpdate>();

  see(update: ToolCallParams["update"]): void {
    const { toolCallId } = update;
    if (toolCallId === "") return; // names no call
    const former = update.sessionUpdate === "tool_call" ? undefined : this.#calls.get(toolCallId);
    this.#calls.delete(toolCallId);
    if (isTerminal(update.status ?? undefined)) return;
    const call = { ...former, ...given(update), toolCallId };
    if (JSON.stringify(call.rawInput ?? null).length > maxInputLength) delete call.rawInput;
    this.#calls.set(toolCallId, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > maxCalls && oldest !== undefined) this.#calls.delete(oldest);
  }

  get(toolCallId: string): ToolCallUpdate | undefined {
    return this.#calls.get(toolCallId);
  }

  /** The turn is over. */
  clear(): void {
    this.#calls.clear();
  }
}

/** The members a policy may use; of contents only where they lead, not what is in them. */
function given(update: ToolCallUpdate): Partial<ToolCallUpdate> {
  const { kind, locations, rawInput, content } = update;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(locations === undefined ? {} : { locations }),
    ...(rawInput === undefined ? {} : { rawInput }),
    ...(content === undefined || content === null
      ? {}
      : {
          content: content.flatMap((block) =>
            block.type === "diff" ? [{ type: "diff" as const, path: block.path, newText: "" }] : [],
          ),
        }),
  };
}
