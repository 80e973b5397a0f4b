// A tool call as it is shown: what its announcement and its updates said so far.
import { asList, asRecord, asText, type JsonRecord } from "./json-value.ts";

export interface ShownCall {
  readonly toolCallId: string;
  readonly title: string;
  readonly kind: string;
  readonly status: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly locations: readonly string[];
  readonly content: readonly CallContent[];
}

export type CallContent =
  | { readonly type: "diff"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly type: "terminal"; readonly terminalId: string }
  | { readonly type: "content"; readonly content: unknown };

const empty: ShownCall = {
  toolCallId: "",
  title: "",
  kind: "other",
  status: "pending",
  input: undefined,
  output: undefined,
  locations: [],
  content: [],
};

export const isOver = (call: ShownCall): boolean => call.status === "completed" || call.status === "failed";

/** What a frame does not say stays as it was. Takes a permission request's `toolCall`, too. */
export function mergedCall(call: ShownCall | undefined, fields: JsonRecord): ShownCall {
  const before = call ?? empty;
  return {
    toolCallId: asText(fields.toolCallId) || before.toolCallId,
    title: asText(fields.title) || before.title,
    kind: asText(fields.kind) || before.kind,
    status: asText(fields.status) || before.status,
    input: fields.rawInput ?? before.input,
    output: fields.rawOutput ?? before.output,
    locations: Array.isArray(fields.locations) ? locationsOf(fields.locations) : before.locations,
    content: Array.isArray(fields.content) ? contentOf(fields.content) : before.content,
  };
}

function locationsOf(value: unknown): string[] {
  return asList(value).flatMap((entry) => {
    const { path, line } = asRecord(entry);
    if (typeof path !== "string") return [];
    return [typeof line === "number" ? `${path}:${line}` : path];
  });
}

function contentOf(value: unknown): CallContent[] {
  return asList(value).flatMap((entry): CallContent[] => {
    const { type, path, oldText, newText, terminalId, content } = asRecord(entry);
    if (type === "diff") return [{ type, path: asText(path), oldText: asText(oldText), newText: asText(newText) }];
    if (type === "terminal") return [{ type, terminalId: asText(terminalId) }];
    return type === "content" ? [{ type, content }] : [];
  });
}
