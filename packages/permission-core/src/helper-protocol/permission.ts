// The permission request as a Helper gets it, its three answers, and how the ticket ended.
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import * as z from "zod";

/** Only what routing needs is required; all else of the agent's request passes unread. */
export const requestPermissionParams = z.looseObject({
  sessionId: z.string(),
  toolCall: z.looseObject({ toolCallId: z.string() }),
  options: z.array(z.looseObject({ optionId: z.string(), kind: z.string() })),
  _meta: z.looseObject({ "acp-master": z.looseObject({ approvalId: z.string().min(1) }) }),
});

/** The same in ACP's own types, for those who judge it. */
export type RequestPermissionParams = RequestPermissionRequest & {
  readonly _meta: { readonly "acp-master": { readonly approvalId: string } };
};

export const permissionOutcome = z.discriminatedUnion("outcome", [
  z.looseObject({ outcome: z.literal("selected"), optionId: z.string() }),
  z.looseObject({ outcome: z.literal("cancelled") }),
  /** Leave it to the attached people. */
  z.looseObject({ outcome: z.literal("ask") }),
]);

export const requestPermissionResult = z.looseObject({ outcome: permissionOutcome });
export type RequestPermissionResult = z.infer<typeof requestPermissionResult>;

export const ticketOutcome = z.looseObject({
  result: z.enum(["selected", "refused", "cancelled", "expired", "unavailable", "superseded"]),
  optionId: z.string().optional(),
});

export const decidedBy = z.looseObject({
  kind: z.enum(["client", "helper", "preset", "cancel", "expiry", "no_client", "agent_exit", "superseded", "master"]),
  name: z.string(),
});

export const permissionResolvedParams = z.looseObject({
  sessionId: z.string(),
  approvalId: z.string(),
  toolCallId: z.string(),
  outcome: ticketOutcome,
  by: decidedBy,
});
export type PermissionResolvedParams = z.infer<typeof permissionResolvedParams>;
