// The names of the Helper protocol and its version. A message changes only together with the version; a notification that
// the other side may as well ignore can be added.

export const PROTOCOL_VERSION = 1;

/** What the master calls on a Helper. */
export const helperMethods = {
  initialize: "helper/initialize",
  sessionStart: "helper/session_start",
  requestPermission: "session/request_permission",
  turnStart: "helper/turn_start",
  toolCall: "helper/tool_call",
  toolSeen: "helper/tool_seen",
  turnEnd: "helper/turn_end",
  sessionChanged: "helper/session_changed",
  preset: "helper/preset",
  permissionResolved: "helper/permission_resolved",
  cancelRequest: "$/cancelRequest",
  sessionEnd: "helper/session_end",
  shutdown: "helper/shutdown",
} as const;

/** What a Helper tells the master. */
export const masterMethods = {
  log: "helper/log",
  busy: "helper/busy",
  unavailable: "helper/unavailable",
  impaired: "helper/impaired",
} as const;

/** What a Helper may ask to be told of besides permissions. */
export const hooks = ["turn", "tool_seen", "tool_call"] as const;

export type Hook = (typeof hooks)[number];

export function isHook(name: string): name is Hook {
  return hooks.some((hook) => hook === name);
}
