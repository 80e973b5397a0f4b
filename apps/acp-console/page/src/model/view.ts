// What the page knows of the console and the daemon: a snapshot, and how a message changes it. Pure; requests are not its business.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import type {
  ApprovalRow,
  ApprovalResolvedMessage,
  Card,
  DaemonMessage,
  ElicitationMessage,
  Notice,
  Role,
  ServerMessage,
  SessionRow,
} from "../../../src/protocol.ts";

export interface View {
  /** This page's connection to the console server. */
  readonly isConnected: boolean;
  readonly role: Role;
  readonly version: string;
  readonly daemon: DaemonMessage | undefined;
  readonly sessions: ReadonlyMap<string, SessionRow>;
  /** The rows are what was last known. */
  readonly isStale: boolean;
  /** Oldest first. */
  readonly approvals: readonly ApprovalRow[];
  readonly elicitations: readonly ElicitationMessage[];
  readonly cards: readonly Card[];
  /** What Helpers say about proposals, by session. */
  readonly notices: ReadonlyMap<string, Notice>;
  /** The last approval that ended, for those who watch. */
  readonly lastResolved: ApprovalResolvedMessage | undefined;
}

export const emptyView: View = {
  isConnected: false,
  role: "observer",
  version: "",
  daemon: undefined,
  sessions: new Map(),
  isStale: true,
  approvals: [],
  elicitations: [],
  cards: [],
  notices: new Map(),
  lastResolved: undefined,
};

/** What is said besides messages: the connection ended; a session is not shown any more. */
export type Happening = { readonly type: "disconnected" } | { readonly type: "left"; readonly sessionId: string };

/** Questions end with the generation that asked them: a later replay brings back those that still wait. */
const withoutQuestions = { approvals: [], elicitations: [], cards: [] } as const;

export function nextView(view: View, message: ServerMessage | Happening): View {
  switch (message.type) {
    case "hello":
      return { ...view, isConnected: true, role: message.role, version: message.version };
    case "disconnected":
      return { ...view, ...withoutQuestions, isConnected: false, isStale: true };
    case "daemon":
      return { ...view, ...withoutQuestions, daemon: message, isStale: message.state === "offline" || view.isStale };
    case "sessions":
      return {
        ...view,
        sessions: new Map(message.sessions.map((row) => [row.sessionId, row])),
        isStale: message.stale,
      };
    case "session":
      return { ...view, sessions: new Map(view.sessions).set(message.session.sessionId, message.session) };
    case "session_removed":
      return withoutSession(view, message.sessionId);
    case "approvals":
      return { ...view, approvals: message.approvals };
    case "approval":
      return { ...view, approvals: withRow(view.approvals, message.approval, "approvalId") };
    case "approval_resolved":
      return {
        ...view,
        approvals: view.approvals.filter((row) => row.approvalId !== message.approvalId),
        lastResolved: message,
      };
    case "elicitation":
      return { ...view, elicitations: withRow(view.elicitations, message, "elicitation") };
    case "elicitation_over":
      return { ...view, elicitations: view.elicitations.filter((each) => each.elicitation !== message.elicitation) };
    case "cards":
      return {
        ...view,
        cards: message.cards,
        notices: new Map(message.notices.map((notice) => [notice.sessionId, notice])),
      };
    case "card":
      return { ...view, cards: withRow(view.cards, message.card, "proposalId") };
    case "card_over":
      return { ...view, cards: view.cards.filter((card) => card.proposalId !== message.proposalId) };
    case "notice":
      return { ...view, notices: new Map(view.notices).set(message.notice.sessionId, message.notice) };
    case "attachment_lost":
    case "left":
      return { ...view, elicitations: elsewhere(view.elicitations, message.sessionId) };
    case "agent_exited":
    case "updates":
    case "reply":
      return view;
  }
}

/** The same key replaces, it never doubles. */
function withRow<Row>(rows: readonly Row[], row: Row, key: keyof Row): readonly Row[] {
  const at = rows.findIndex((each) => each[key] === row[key]);
  return at < 0 ? [...rows, row] : rows.with(at, row);
}

const elsewhere = <Row extends { readonly sessionId: string }>(
  rows: readonly Row[],
  sessionId: string,
): readonly Row[] => rows.filter((row) => row.sessionId !== sessionId);

function withoutSession(view: View, sessionId: string): View {
  const sessions = new Map(view.sessions);
  sessions.delete(sessionId);
  return {
    ...view,
    sessions,
    approvals: elsewhere(view.approvals, sessionId),
    elicitations: elsewhere(view.elicitations, sessionId),
    cards: elsewhere(view.cards, sessionId),
  };
}
