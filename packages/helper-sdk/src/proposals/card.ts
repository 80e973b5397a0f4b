// Turns what was staged for a person into the card that user interfaces get.
import type { Action, ActionType, Binding, Choice, ProposalRef, Staged } from "@acp-master/proposal-channel";
import type { Mode } from "./executor.ts";
import type { Card, CardChoice } from "./review-messages.ts";
import { visibleLine, visibleLines } from "./visible-text.ts";

export interface CardFacts extends ProposalRef {
  readonly binding: Binding;
  readonly staged: Staged;
  readonly agent: string;
  readonly cwd: string;
  /** Milliseconds of the wall clock. */
  readonly deadline: number;
}

export function cardOf(facts: CardFacts, types: readonly ActionType[]): Card {
  const { proposalId, sessionId, binding, staged, agent, cwd, deadline } = facts;
  return {
    proposalId,
    sessionId,
    agent: visibleLine(agent),
    cwd: visibleLine(cwd),
    origin: visibleLine(binding.origin),
    target: binding.target === undefined ? null : visibleLine(binding.target),
    choices: staged.proposal.choices.map((choice) => choiceOf(choice, types)),
    recommended: staged.highlighted,
    deadline,
    detached: false,
  };
}

function choiceOf(choice: Choice, types: readonly ActionType[]): CardChoice {
  const lines = (action: Action) => visibleLines(typeOf(action, types)?.cardText(action) ?? "");
  return {
    choice: choice.choice,
    title: visibleLine(choice.title),
    rationale: visibleLine(choice.rationale),
    actions: choice.actions.map((action) => ({ type: action.type, lines: lines(action) })),
    modes: modesOf(choice, types),
  };
}

/** Inserting is for text that is typed, and for text in which nothing would be executed by itself. */
export function modesOf(choice: Choice, types: readonly ActionType[]): readonly Mode[] {
  const typed = choice.actions.flatMap((action) => typeOf(action, types)?.typed(action) ?? []);
  return typed.length > 0 && !typed.some((text) => text.includes("\n")) ? ["run", "insert"] : ["run"];
}

export function typeOf(action: Action, types: readonly ActionType[]): ActionType | undefined {
  return types.find((each) => each.name === action.type);
}
