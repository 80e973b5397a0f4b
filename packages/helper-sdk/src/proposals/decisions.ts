// What a person's answer does: the first valid one claims the proposal, and only a claimed one is carried out.
import type { Choice, Proposals } from "@acp-master/proposal-channel";
import { modesOf, typeOf } from "./card.ts";
import type { Cards, StagedProposal } from "./cards.ts";
import type { Executor } from "./executor.ts";
import type { DecisionEnd, DecisionRequest } from "./review-messages.ts";

type Confirmation = Extract<DecisionRequest, { decision: "confirm" }>;

export async function decide(
  request: DecisionRequest,
  by: string,
  at: { readonly cards: Cards; readonly proposals: Proposals; readonly executor: Executor },
): Promise<DecisionEnd> {
  const { cards, proposals, executor } = at;
  const proposal = cards.get(request.proposalId);
  if (proposal?.card === undefined) return "lost";
  const choice = request.decision === "confirm" ? chosen(proposal, request, executor) : undefined;
  if (request.decision === "confirm" && choice === undefined) return "invalid";
  await proposal.decidable.opened;
  if (!proposals.isWaiting(proposal)) return "lost";
  if (request.decision === "cancel") {
    proposal.by = by;
    return proposals.reject(proposal) ? "cancelled" : "lost";
  }
  const { mode } = request;
  return await proposals.confirm(proposal, async (signal) => {
    proposal.by = by;
    return choice !== undefined && (await carryOut(proposal, { choice, mode }, executor, signal));
  });
}

function chosen({ staged }: StagedProposal, { choice, mode }: Confirmation, executor: Executor): Choice | undefined {
  const found = staged.proposal.choices.find((each) => each.choice === choice);
  return found !== undefined && modesOf(found, executor.actionTypes).includes(mode) ? found : undefined;
}

async function carryOut(
  { sessionId, proposalId, cwd, binding }: StagedProposal,
  { choice, mode }: { readonly choice: Choice; readonly mode: Confirmation["mode"] },
  executor: Executor,
  signal: AbortSignal,
): Promise<boolean> {
  const { actions } = choice;
  const { origin, target } = binding;
  const needsPlace = actions.some((action) => typeOf(action, executor.actionTypes)?.reach(action) !== "elsewhere");
  if (!(await executor.isThere(needsPlace ? target : undefined, signal))) return false;
  // Whoever waits for this was told by now that nothing was carried out.
  if (signal.aborted) return false;
  return await executor.dispatch({ sessionId, proposalId, cwd, origin, target, mode, actions }, signal);
}
