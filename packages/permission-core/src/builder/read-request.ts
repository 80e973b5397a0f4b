// The inverse of the builder: what a policy may use of a permission request. It parses no title, splits no id and believes no agent's `_meta`.
import type {
  RequestPermissionRequest,
  ToolCallContent,
  ToolCallLocation,
  ToolCallUpdate,
  ToolKind,
} from "@agentclientprotocol/sdk";
import { detailsFromMeta, isRecord } from "./approval-details.ts";
import type { ApprovalDetails } from "./approval-details.ts";

export interface ReadRequest {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly details: ApprovalDetails;
  /** Both names are there; else rules by name do not apply. */
  readonly named: boolean;
  /** The input is a JSON object. False never ends in an automatic allow. */
  readonly argsKnown: boolean;
  /** Empty when they are not known. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly kind: ToolKind | undefined;
  readonly locations: readonly ToolCallLocation[];
  readonly content: readonly ToolCallContent[];
  /** Whether something came from the call as it was announced before. */
  readonly completed: boolean;
}

/**
 * `announced` is the `tool_call` last announced for the same id; what the request says itself wins over it.
 *
 *     readRequest(request).argsKnown  // false when rawInput is missing, null, an array or a scalar
 */
export function readRequest(request: RequestPermissionRequest, announced?: ToolCallUpdate): ReadRequest {
  const { toolCall, completed } = complete(request.toolCall, announced);
  const ofRequest = detailsFromMeta(request._meta);
  const details = Object.keys(ofRequest).length > 0 ? ofRequest : detailsFromMeta(request.toolCall._meta);
  const argsKnown = isRecord(toolCall.rawInput);
  return {
    sessionId: request.sessionId,
    toolCallId: toolCall.toolCallId,
    details,
    named: isName(details.toolsName) && isName(details.toolName),
    argsKnown,
    args: isRecord(toolCall.rawInput) ? toolCall.rawInput : {},
    kind: toolCall.kind ?? undefined,
    locations: toolCall.locations ?? [],
    content: toolCall.content ?? [],
    completed,
  };
}

/** Fills in what a request leaves out. An empty id names no call, so nothing is taken for it; `_meta` never is. */
export function complete(
  own: ToolCallUpdate,
  announced: ToolCallUpdate | undefined,
): { readonly toolCall: ToolCallUpdate; readonly completed: boolean } {
  if (announced === undefined || own.toolCallId === "" || announced.toolCallId !== own.toolCallId) {
    return { toolCall: own, completed: false };
  }
  const taken: Partial<ToolCallUpdate> = {
    ...take("kind", own, announced),
    ...take("title", own, announced),
    ...take("locations", own, announced),
    ...take("content", own, announced),
    // An input that is there but no object, such as null, is the request's own word and is not replaced.
    ...("rawInput" in own || announced.rawInput === undefined ? {} : { rawInput: announced.rawInput }),
  };
  return { toolCall: { ...own, ...taken }, completed: Object.keys(taken).length > 0 };
}

function take(
  key: "kind" | "title" | "locations" | "content",
  own: ToolCallUpdate,
  announced: ToolCallUpdate,
): Partial<ToolCallUpdate> {
  const announcedValue = announced[key];
  if ((own[key] ?? undefined) !== undefined || (announcedValue ?? undefined) === undefined) return {};
  return { [key]: announcedValue };
}

function isName(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== "";
}
