// Ids for tool calls that come without one, unique in their session. One instance per session; it looks into no call.
import { isSet } from "./tool-kind.ts";
import type { ToolNames } from "./tool-kind.ts";

export class ToolCallIds {
  readonly #used = new Set<string>();
  readonly #started = new Map<string, string[]>();

  /** The given id if it is not blank, else a new one made from the names. */
  start(call: ToolNames & { readonly toolCallId?: string | undefined }): string {
    if (isSet(call.toolCallId)) {
      this.#used.add(call.toolCallId);
      return call.toolCallId;
    }
    const base = baseOf(call);
    let id = base;
    for (let n = 2; this.#used.has(id); n += 1) id = `${base}#${n}`;
    this.#used.add(id);
    const started = this.#started.get(base);
    if (started === undefined) this.#started.set(base, [id]);
    else started.push(id);
    return id;
  }

  /** The id of the start that this end belongs to: the given one, else that of the oldest start of these names. */
  end(call: ToolNames & { readonly toolCallId?: string | undefined }): string | undefined {
    return isSet(call.toolCallId) ? call.toolCallId : this.#started.get(baseOf(call))?.shift();
  }
}

function baseOf({ toolsName, toolName }: ToolNames): string {
  return fullName({ toolsName, toolName }) ?? "tool_call";
}

/** Namespace and name joined by a dot, or the one that is there. */
export function fullName({ toolsName, toolName }: ToolNames): string | undefined {
  const names = [toolsName, toolName].filter(isSet);
  return names.length === 0 ? undefined : names.join(".");
}
