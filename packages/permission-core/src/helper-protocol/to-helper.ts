// Every message from the master to a Helper: its parameters and, for a request, its result. Unknown members pass.
import type { ContentBlock, SessionNotification } from "@agentclientprotocol/sdk";
import * as z from "zod";
import { helperMethods } from "./methods.ts";
import { permissionResolvedParams, requestPermissionParams, requestPermissionResult } from "./permission.ts";
import { preset } from "./preset.ts";

const sessionId = z.string();
const peer = z.looseObject({ name: z.string(), version: z.string() });
const nothing = z.looseObject({});

export const initializeParams = z.looseObject({
  protocolVersion: z.int(),
  master: peer,
  /** An owner-only folder for the Helper's own sockets. */
  socketDir: z.string(),
});
export type InitializeParams = z.infer<typeof initializeParams>;

export const initializeResult = z.looseObject({
  protocolVersion: z.int(),
  helper: peer,
  /** Names that this version does not know are left to later ones. */
  hooks: z.array(z.string()),
});
export type InitializeResult = z.infer<typeof initializeResult>;

/** The version in an answer to `helper/initialize` whose other members may belong to another version of the protocol. */
export function answeredVersion(result: unknown): number | undefined {
  const parsed = z.looseObject({ protocolVersion: z.int() }).safeParse(result);
  return parsed.success ? parsed.data.protocolVersion : undefined;
}

export const sessionStartParams = z.looseObject({
  sessionId,
  agent: z.looseObject({ name: z.string(), shell: z.enum(["sh", "powershell", "argv"]).optional() }),
  cwd: z.string(),
  /** The folders that belong to the session, `cwd` among them. */
  roots: z.array(z.string()),
  preset: z.string(),
  arming: z.enum(["required", "preflight"]),
});
export type SessionStartParams = z.infer<typeof sessionStartParams>;

export const sessionStartResult = z.looseObject({
  presets: z.array(preset).optional(),
  /** Where the Helper's own review program listens. */
  review: z.string().optional(),
});
export type SessionStartResult = z.infer<typeof sessionStartResult>;

export const turnStartParams = z.looseObject({ sessionId, turnId: z.string() });
export type TurnStartParams = z.infer<typeof turnStartParams>;

export const turnStartResult = z.looseObject({ append: z.array(z.looseObject({ type: z.string() })).optional() });
/** `append` is put at the end of the prompt unread. */
export interface TurnStartResult {
  readonly append?: readonly ContentBlock[] | undefined;
}

export const toolCallParams = z.looseObject({
  sessionId,
  update: z.looseObject({
    sessionUpdate: z.enum(["tool_call", "tool_call_update"]),
    toolCallId: z.string(),
  }),
});
export type ToolCallParams = SessionNotification & {
  readonly update: { readonly sessionUpdate: "tool_call" | "tool_call_update" };
};

export const toolCallResult = z.looseObject({
  verdict: z.enum(["pass", "hide"]),
  /** No later frame of this tool call needs a verdict; `hide` is always final. */
  final: z.boolean().optional(),
});
export type ToolCallResult = z.infer<typeof toolCallResult>;

export const turnEndParams = z.looseObject({ sessionId, turnId: z.string(), stopReason: z.string() });
export type TurnEndParams = z.infer<typeof turnEndParams>;

export const sessionChangedParams = z.looseObject({
  sessionId,
  change: z.enum(["replaced", "closed", "cancelled", "agent_exited", "transport_lost"]),
});
export type SessionChangedParams = z.infer<typeof sessionChangedParams>;

export const presetParams = z.looseObject({ sessionId, preset: z.string() });
export type PresetParams = z.infer<typeof presetParams>;

export const cancelRequestParams = z.looseObject({ id: z.union([z.int(), z.string()]) });
export type CancelRequestParams = z.infer<typeof cancelRequestParams>;

export const sessionEndParams = z.looseObject({ sessionId });
export type SessionEndParams = z.infer<typeof sessionEndParams>;

export const toHelper = {
  [helperMethods.initialize]: { kind: "request", params: initializeParams, result: initializeResult },
  [helperMethods.sessionStart]: { kind: "request", params: sessionStartParams, result: sessionStartResult },
  [helperMethods.requestPermission]: {
    kind: "request",
    params: requestPermissionParams,
    result: requestPermissionResult,
  },
  [helperMethods.turnStart]: { kind: "request", params: turnStartParams, result: turnStartResult },
  [helperMethods.toolCall]: { kind: "request", params: toolCallParams, result: toolCallResult },
  [helperMethods.toolSeen]: { kind: "notification", params: toolCallParams },
  [helperMethods.turnEnd]: { kind: "notification", params: turnEndParams },
  [helperMethods.sessionChanged]: { kind: "notification", params: sessionChangedParams },
  [helperMethods.preset]: { kind: "notification", params: presetParams },
  [helperMethods.permissionResolved]: { kind: "notification", params: permissionResolvedParams },
  [helperMethods.cancelRequest]: { kind: "notification", params: cancelRequestParams },
  [helperMethods.sessionEnd]: { kind: "request", params: sessionEndParams, result: nothing },
  [helperMethods.shutdown]: { kind: "request", params: nothing, result: nothing },
} as const;
