// What waits for a person: in which order it is shown, and how a session's row says so.
import type { ApprovalRow, Card, ElicitationMessage, SessionRow } from "../../../src/protocol.ts";
import type { View } from "./view.ts";

export type Waiting =
  | {
      readonly kind: "question";
      readonly key: string;
      readonly sessionId: string;
      readonly elicitation: ElicitationMessage;
    }
  | { readonly kind: "approval"; readonly key: string; readonly sessionId: string; readonly approval: ApprovalRow }
  | { readonly kind: "card"; readonly key: string; readonly sessionId: string; readonly card: Card };

/** A session's: questions to the person first, then permissions, then proposals; each first come, first shown. */
export function queueOf(view: View, sessionId: string): readonly Waiting[] {
  const questions = view.elicitations
    .filter((each) => each.sessionId === sessionId)
    .map((elicitation): Waiting => ({
      kind: "question",
      key: `question ${elicitation.elicitation}`,
      sessionId,
      elicitation,
    }));
  const approvals = view.approvals
    .filter((each) => each.sessionId === sessionId)
    .map((approval): Waiting => ({ kind: "approval", key: `approval ${approval.approvalId}`, sessionId, approval }));
  const cards = view.cards
    .filter((card) => card.sessionId === sessionId)
    .map((card): Waiting => ({ kind: "card", key: `card ${card.proposalId}`, sessionId, card }));
  return [...questions, ...approvals, ...cards];
}

/** Where the one is that a person turned to; when it is over, or nobody turned to one, the first is shown. */
export function placeOf(queue: readonly Waiting[], chosen: string | undefined): number {
  return Math.max(
    0,
    queue.findIndex((each) => each.key === chosen),
  );
}

/** What a session's row shows: a person who is waited for outranks work that goes on. */
export type Dot = "waiting" | "running" | "idle" | "parked" | "lost" | "closed";

export interface DotState {
  readonly dot: Dot;
  /** How many wait for a person. */
  readonly count: number;
}

export function dotOf(view: View, sessionId: string): DotState {
  const row = view.sessions.get(sessionId);
  // Not the row's own state: what waits is over with the generation, and a row may be old.
  const count = queueOf(view, sessionId).length;
  if (count > 0) return { dot: "waiting", count };
  const state = row?.state ?? "closed";
  return { dot: state === "waiting" ? "running" : state, count };
}

/** Everything that waits anywhere, for the title and the inbox. */
export function waitingCount(view: View): number {
  return view.approvals.length + view.elicitations.length + view.cards.length;
}

/** Sessions with an agent behind them, and those of the past; the newest first. What happens in one does not move it. */
export function sessionGroups(view: View): {
  readonly open: readonly SessionRow[];
  readonly past: readonly SessionRow[];
} {
  const rows = [...view.sessions.values()].toSorted((a, b) => compared(b.createdAt, a.createdAt));
  return { open: rows.filter((row) => !isPast(row)), past: rows.filter(isPast) };
}

const compared = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** What "allow" means for several at once: the only option that allows once. Two of them, or an "always", are a person's choice. */
export function onceOption<Option extends { readonly kind: string }>(options: readonly Option[]): Option | undefined {
  const once = options.filter((option) => option.kind === "allow_once");
  return once.length === 1 ? once[0] : undefined;
}

const isPast = (row: SessionRow): boolean => ["parked", "lost", "closed"].includes(row.state);
