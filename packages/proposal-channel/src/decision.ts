// The decision on a proposal before a person sees it: does it fit the session and its turn, is it one, do the rules of its
// origin allow it. Pure; the order of the checks is part of the contract.
import type { ActionReach, ActionType } from "./action-type.ts";
import { type Action } from "./action-type.ts";
import type { Binding } from "./book.ts";
import { refusal } from "./begin.ts";
import { type Proposal, readPayload } from "./payload.ts";
import type { Refusal } from "./responses.ts";

/** What the review surface knows of the session at this moment; `undefined` when it does not know the session. */
export type Situation =
  | {
      readonly isCardUp: boolean;
      readonly runningTurn: string | undefined;
      /** The failure that an `autofix` turn would be about now. */
      readonly trigger: number | undefined;
    }
  | undefined;

/** What can be done here. */
export interface Abilities {
  readonly actionTypes: readonly ActionType[];
  readonly origins: readonly OriginPolicy[];
  /** Whether a delegate is configured. */
  readonly hasDelegate: boolean;
  readonly profiles: readonly string[];
  /** The place where the Helper itself is shown, in the executor's words. */
  readonly ownTarget: string | undefined;
}

/** What a person is to decide on. `highlighted` is one of the choices. */
export interface Staged {
  readonly proposal: Proposal;
  readonly highlighted: number;
}

export type Decision =
  { readonly ok: true; readonly staged: Staged } | { readonly ok: false; readonly refusal: Refusal };

/** The rules of one origin. Gives the proposal as it may be shown, or why not. */
export interface OriginPolicy {
  readonly name: string;
  check(proposal: Proposal, at: { readonly binding: Binding; readonly abilities: Abilities }): PolicyResult;
}

export type PolicyResult =
  { readonly ok: true; readonly proposal: Proposal } | { readonly ok: false; readonly reason: string };

export function decideProposal(
  payload: Uint8Array,
  at: { readonly binding: Binding; readonly situation: Situation; readonly abilities: Abilities },
): Decision {
  const { binding, situation, abilities } = at;
  if (situation === undefined) return no(refusal("unavailable"));
  if (situation.isCardUp)
    return no(refusal("already_consumed", false, "another proposal of this session waits for the person"));
  if (situation.runningTurn !== binding.turnId) return no(refusal("stale"));
  if (binding.origin === "autofix" && situation.trigger !== binding.trigger) return no(refusal("stale"));
  const read = readPayload(payload, abilities.actionTypes);
  if (!read.ok) return no(refusal(read.status, read.status === "invalid_schema", read.reason));
  const { proposal } = read;
  if (proposal.origin !== binding.origin) return rejected("the origin is not that of this turn");
  const policy = abilities.origins.find((each) => each.name === proposal.origin);
  if (policy === undefined) return rejected("this origin is not known here");
  const named = namesProblem(proposal, abilities);
  if (named !== undefined) return rejected(named);
  const allowed = policy.check(proposal, { binding, abilities });
  if (!allowed.ok) return rejected(allowed.reason);
  const [first, ...others] = allowed.proposal.choices;
  if (first === undefined) return rejected("no choice is left that can be shown");
  const recommended = [first, ...others].find((each) => each.choice === proposal.recommended) ?? first;
  return { ok: true, staged: { proposal: allowed.proposal, highlighted: recommended.choice } };
}

/** The rules for proposals of an ordinary turn in a terminal. */
export const terminalAgentPolicy: OriginPolicy = {
  name: "terminal_agent",
  check(proposal, { binding, abilities }) {
    const reaches = (action: Action) => reachOf(action, abilities);
    const needsTarget = proposal.choices.some((each) => each.actions.some((action) => reaches(action) !== "elsewhere"));
    if (needsTarget && binding.target === undefined) return { ok: false, reason: "no active pane" };
    const isOwn = binding.target !== undefined && binding.target === abilities.ownTarget;
    const choices = proposal.choices.filter(
      (each) => !isOwn || !each.actions.some((action) => reaches(action) === "target_input"),
    );
    if (choices.length === 0)
      return { ok: false, reason: "every choice would type into the pane that shows the proposals" };
    return { ok: true, proposal: { ...proposal, choices } };
  },
};

/** The rules for proposals that repair a failed command: one line for the pane that failed. */
export const autofixPolicy: OriginPolicy = {
  name: "autofix",
  check(proposal, { binding, abilities }) {
    const [choice, another] = proposal.choices;
    const [action, more] = choice?.actions ?? [];
    if (
      choice === undefined ||
      action === undefined ||
      another !== undefined ||
      more !== undefined ||
      action.type !== "send"
    ) {
      return { ok: false, reason: "autofix takes exactly one choice with exactly one action of type send" };
    }
    const typed = typeOf(action, abilities)?.typed(action) ?? "";
    if (typed.includes("\n")) return { ok: false, reason: "autofix takes one line" };
    if (binding.target === undefined) return { ok: false, reason: "no active pane" };
    return { ok: true, proposal: { ...proposal, recommended: choice.choice } };
  },
};

function namesProblem(proposal: Proposal, abilities: Abilities): string | undefined {
  for (const action of proposal.choices.flatMap((each) => each.actions)) {
    const names = typeOf(action, abilities)?.names(action);
    if (names?.delegate === true && !abilities.hasDelegate) return "no delegate is configured here";
    if (names?.profile !== undefined && !abilities.profiles.includes(names.profile))
      return "the profile is not known here";
  }
  return undefined;
}

function reachOf(action: Action, abilities: Abilities): ActionReach {
  return typeOf(action, abilities)?.reach(action) ?? "target_input";
}

function typeOf(action: Action, { actionTypes }: Abilities): ActionType | undefined {
  return actionTypes.find((each) => each.name === action.type);
}

function rejected(reason: string): Decision {
  return no(refusal("rejected", false, reason));
}

function no(refused: Refusal): Decision {
  return { ok: false, refusal: refused };
}
