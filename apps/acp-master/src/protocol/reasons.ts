// Every error that the master itself raises: one reason, one fixed code. Agents' errors pass unchanged and are not made here.

const codes = {
  cwd_missing: -32602,
  cwd_not_absolute: -32602,
  no_client: -32601,
  unknown_agent: -32050,
  agent_failed_to_start: -32051,
  agent_exited: -32052,
  unknown_session: -32053,
  session_lost: -32054,
  not_attached: -32055,
  observer: -32056,
  busy: -32057,
  client_gone: -32058,
  frame_too_long: -32059,
  version_mismatch: -32060,
  helper_unavailable: -32061,
  daemon_restarted: -32062,
  stopping: -32063,
  refused_by_preset: -32064,
  /** Said by the shim: no daemon runs and none may be started. */
  no_daemon: -32065,
} as const;

export type Reason = keyof typeof codes;

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** "Resource not found" of ACP: on close and delete it counts as done. */
export const NOT_FOUND = -32002;

/** A JSON-RPC error object that the master sends. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly reason: Reason; readonly [fact: string]: unknown };
}

export function fault(reason: Reason, message: string, facts: Readonly<Record<string, unknown>> = {}): RpcError {
  return { code: codes[reason], message, data: { ...facts, reason } };
}

export const reasonCodes: Readonly<Record<Reason, number>> = codes;
