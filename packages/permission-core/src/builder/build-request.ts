// Builds the permission requests that we raise ourselves. The master never uses it on an agent's request: that one passes as bytes.
import type {
  PermissionOption,
  RequestPermissionRequest,
  ToolCall,
  ToolCallContent,
  ToolCallLocation,
} from "@agentclientprotocol/sdk";
import { detailsToMeta } from "./approval-details.ts";
import type { ApprovalDetails } from "./approval-details.ts";
import { argumentSummary } from "./argument-summary.ts";
import { fullName } from "./tool-call-ids.ts";
import type { ToolCallIds } from "./tool-call-ids.ts";
import { isSet, toolKind } from "./tool-kind.ts";

export interface DescribedCall extends ApprovalDetails {
  readonly toolCallId?: string | undefined;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  /** The file that `diffOld` and `diffNew` belong to, where it is not `args.path`. */
  readonly diffPath?: string | undefined;
}

export interface DescribedApproval extends DescribedCall {
  readonly sessionId: string;
  /** Default: allow and deny, for this one time. */
  readonly options?: readonly PermissionOption[] | undefined;
}

/** One-time answers only: nothing that we raise grants more than the request in front of the person. */
export const oneTimeOptions: readonly PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "deny", name: "Deny", kind: "reject_once" },
];

/**
 * A whole `session/request_permission`. `ids` belongs to the session and gives the call its id.
 *
 *     buildRequest({ sessionId, toolsName: "local_shell", toolName: "local_shell", args: { command: "python3 -V" } }, ids)
 */
export function buildRequest(approval: DescribedApproval, ids: ToolCallIds): RequestPermissionRequest {
  const toolCall = buildToolCall(approval, ids.start(approval));
  const meta = detailsToMeta(approval);
  return {
    sessionId: approval.sessionId,
    toolCall,
    options: (approval.options ?? oneTimeOptions).map((option) => ({ ...option })),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/** The tool call alone, for updates and cards, by the same rules. */
export function buildToolCall(call: DescribedCall, toolCallId: string): ToolCall {
  const meta = detailsToMeta(call);
  const path = pathOf(call);
  const locations: ToolCallLocation[] = path === undefined ? [] : [{ path }];
  const content = contentOf(call, path);
  return {
    toolCallId,
    title: titleOf(call),
    kind: toolKind(call),
    status: "pending",
    ...(isSerialisable(call.args) ? { rawInput: call.args } : {}),
    ...(locations.length === 0 ? {} : { locations }),
    ...(content === undefined ? {} : { content: [content] }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

function titleOf(call: DescribedCall): string {
  const name = fullName(call) ?? "Tool call";
  const summary = argumentSummary(call.toolName, call.args);
  return summary === "" || name.includes(summary) ? name : `${name}: ${summary}`;
}

function pathOf({ diffPath, args }: DescribedCall): string | undefined {
  const given = args?.["path"];
  return [diffPath, given]
    .filter((path) => typeof path === "string")
    .find(isSet)
    ?.trim();
}

function contentOf(call: DescribedCall, path: string | undefined): ToolCallContent | undefined {
  const oldText = call.diffOld ?? "";
  const newText = call.diffNew ?? "";
  if (path !== undefined && oldText !== newText) {
    return { type: "diff", path, newText, ...(oldText === "" ? {} : { oldText }) };
  }
  const text = isSet(call.diff) ? call.diff : argumentSummary(call.toolName, call.args);
  return text === "" ? undefined : { type: "content", content: { type: "text", text } };
}

function isSerialisable(args: DescribedCall["args"]): boolean {
  if (args === undefined || Object.keys(args).length === 0) return false;
  try {
    JSON.stringify(args);
    return true;
  } catch {
    return false; // a cycle or a bigint
  }
}
