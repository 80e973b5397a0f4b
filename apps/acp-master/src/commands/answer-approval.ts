// Answers one waiting permission by its id, for `approve` and `deny`. It only ever sends an option that the row offers.
import type { ApprovalRow, PermissionOption } from "../client/answers.ts";
import { idFromStart } from "../client/id-start.ts";
import { openMaster } from "../client/open-master.ts";
import { CommandError, exitCodes } from "../display/errors.ts";

export type Choice = { readonly outcome: "selected"; readonly optionId: string } | { readonly outcome: "cancelled" };

/** `choose` picks from the offered options, or throws a CommandError that lists them. Returns what was sent. */
export async function answerApproval(
  given: string,
  choose: (options: readonly PermissionOption[]) => Choice,
): Promise<Choice> {
  await using master = await openMaster();
  const { approvals } = await master.request<{ approvals: readonly ApprovalRow[] }>("_acp-master/approvals", {});
  const approvalId = idFromStart({
    given,
    ids: approvals.map((candidate) => candidate.approvalId),
    what: "waiting permission",
    none: () => notPending(given),
  });
  const row = approvals.find((candidate) => candidate.approvalId === approvalId);
  if (row === undefined) throw notPending(given);
  const choice = choose(row.options);
  const receipt = await master.request<{ status: string }>("_acp-master/approval/answer", {
    approvalId,
    sessionId: row.sessionId,
    outcome: choice,
  });
  if (receipt.status !== "accepted") throw notPending(approvalId);
  return choice;
}

/** "allow (allow_once), deny (reject_once)": for messages; shown through visibleLine by whoever prints it. */
export function optionList(options: readonly PermissionOption[]): string {
  return options.map((option) => `${option.optionId} (${option.kind ?? "no kind"})`).join(", ");
}

function notPending(approvalId: string): CommandError {
  return new CommandError(
    exitCodes.notFound,
    `no permission ${approvalId} waits for an answer: it was answered already or never asked`,
    "Run `acp-master approvals` to see what waits.",
  );
}

/** For the choice by kind: an option without a kind is of none. */
export function choosable(options: readonly PermissionOption[]): { optionId: string; kind: string }[] {
  return options.map(({ optionId, kind }) => ({ optionId, kind: kind ?? "" }));
}
