// What permission-core offers. The routing half and the Helper protocol are for the master; the builder is not.
export type { AnswerCheck, Receipt } from "./answer-by-id.ts";
export { allowOption, checkHelperChoice, grants, isOffered, refuse, refuseOption } from "./choice.ts";
export type { AgentAnswer, HelperChoice, TicketOption } from "./choice.ts";
export { decisionAfterRestart } from "./decision.ts";
export type { ByKind, Decision, Outcome, OutcomeResult } from "./decision.ts";
export type { Timers } from "./deadlines.ts";
export type { TicketPolicies, TicketPolicy, TicketPorts } from "./ticket-ports.ts";
export type { ClientAnswer, HelperVerdict } from "./ticket-state.ts";
export type { TicketOpening, TicketView } from "./ticket.ts";
export { Tickets } from "./tickets.ts";
export { PROTOCOL_VERSION, helperMethods, hooks, isHook, masterMethods } from "./helper-protocol/methods.ts";
export type { Hook } from "./helper-protocol/methods.ts";
export { narrowestPreset, preset } from "./helper-protocol/preset.ts";
export type { Preset } from "./helper-protocol/preset.ts";
export {
  permissionOutcome,
  permissionResolvedParams,
  requestPermissionParams,
  requestPermissionResult,
} from "./helper-protocol/permission.ts";
export type {
  PermissionResolvedParams,
  RequestPermissionParams,
  RequestPermissionResult,
} from "./helper-protocol/permission.ts";
export {
  answeredVersion,
  cancelRequestParams,
  initializeParams,
  initializeResult,
  presetParams,
  sessionChangedParams,
  sessionEndParams,
  sessionStartParams,
  sessionStartResult,
  toHelper,
  toolCallParams,
  toolCallResult,
  turnEndParams,
  turnStartParams,
  turnStartResult,
} from "./helper-protocol/to-helper.ts";
export type {
  CancelRequestParams,
  InitializeParams,
  InitializeResult,
  PresetParams,
  SessionChangedParams,
  SessionEndParams,
  SessionStartParams,
  SessionStartResult,
  ToolCallParams,
  ToolCallResult,
  TurnEndParams,
  TurnStartParams,
  TurnStartResult,
} from "./helper-protocol/to-helper.ts";
export { busyParams, fromHelper, logParams, impairedParams, unavailableParams } from "./helper-protocol/from-helper.ts";
export type { BusyParams, LogParams, UnavailableParams } from "./helper-protocol/from-helper.ts";
export { helperProtocolSchema } from "./helper-protocol/json-schema.ts";
export { buildRequest, buildToolCall, oneTimeOptions } from "./builder/build-request.ts";
export type { DescribedApproval, DescribedCall } from "./builder/build-request.ts";
export type { ApprovalDetails } from "./builder/approval-details.ts";
export { argumentSummary } from "./builder/argument-summary.ts";
export { complete, readRequest } from "./builder/read-request.ts";
export type { ReadRequest } from "./builder/read-request.ts";
export { ToolCallIds } from "./builder/tool-call-ids.ts";
export { toolKind } from "./builder/tool-kind.ts";
export type { ToolNames } from "./builder/tool-kind.ts";
export { unifiedDiff, unifiedDiffOfFile } from "./builder/unified-diff.ts";
export { isTerminal, nextStatus, statusAfter, statusRank } from "./status-order.ts";
export { endTurn, showToolCall } from "./builder/shown-tool-call.ts";
export type { ShownStatuses, ToolCallFrame } from "./builder/shown-tool-call.ts";
export { ticketTable } from "./state-table.ts";
