// What the author of a Helper imports.
export { defineHelper } from "./define-helper.ts";
export type { HelperDefinition, ToolCallVerdict } from "./define-helper.ts";
export { HelperSession } from "./helper-session.ts";
export type { SessionVoice } from "./helper-session.ts";
export { runHelper } from "./run-helper.ts";
export type { HelperStreams } from "./run-helper.ts";
export { allowOnce, ask, reject } from "./verdict.ts";
export type { PermissionRequest, Verdict } from "./verdict.ts";
export { terminalActions } from "@acp-master/proposal-channel";
export { presetsHelper } from "./reference/presets.ts";
export { dryRun } from "./proposals/dry-run.ts";
export type { BindingTurn, Executor, Mode, Order } from "./proposals/executor.ts";
export type { ProposalOptions, TurnOrigin } from "./proposals/proposal-options.ts";
export { visibleLine } from "./proposals/visible-text.ts";
export { withProposals } from "./proposals/with-proposals.ts";
