// What the page and the console server say to each other: JSON messages, one a frame, over one WebSocket. Everything that
// stands under `params`, `update`, `opened`, `title`, `name`, `lines` or `rationale` was written by an agent: it is text,
// never markup.
import type { Card, DecisionEnd, DecisionRequest, Notice } from "@acp-master/helper-sdk/review";

export type { Card, DecisionEnd, DecisionRequest, Notice };

/** The first of the subprotocols that the page offers; the second is `key.` and the key that the log-in answered. */
export const subprotocol = "acp-console.v1";

/** Close codes of the server's own. A page that does not read is cut off without one. */
export const closeCodes = {
  /** The log-in is no longer known: ask for a new address. */
  loggedOut: 4001,
  /** The console ends. */
  ending: 4010,
} as const;

export type Role = "controller" | "observer";

/** JSON that nobody has checked. */
export interface JsonObject {
  readonly [member: string]: unknown;
}

// ---------------------------------------------------------------------------------------------------- server → page

/** After the upgrade come `hello`, `daemon`, `sessions`, `approvals`, `cards`, in this order; then what happens. */
export type ServerMessage =
  | Hello
  | DaemonMessage
  | SessionsMessage
  | SessionMessage
  | SessionRemovedMessage
  | ApprovalsMessage
  | ApprovalMessage
  | ApprovalResolvedMessage
  | AgentExitedMessage
  | UpdatesMessage
  | AttachmentLostMessage
  | ElicitationMessage
  | ElicitationOverMessage
  | CardsMessage
  | CardMessage
  | CardOverMessage
  | NoticeMessage
  | Reply;

export interface Hello {
  readonly type: "hello";
  readonly version: string;
  /** An observer reads; requests that act are refused with reason `observer`. */
  readonly role: Role;
  /** The longest message that the server takes, in bytes of UTF-8. */
  readonly maxMessageBytes: number;
}

/**
 * The console's link to the daemon. `offline` ends a generation: its approvals, elicitations, cards and attachments are
 * over at that moment, and its rows are stale until the next `sessions`. `connected` is sent when the new generation's
 * lists are there; they follow at once.
 */
export interface DaemonMessage {
  readonly type: "daemon";
  readonly state: "connected" | "offline";
  readonly generation: number;
  /** While offline: what is wrong, for a person, with what to do about it. */
  readonly problem?: string;
  /** While offline: the daemon said that it goes and comes back. */
  readonly restarting?: boolean;
}

/** All rows: what is not in it is gone. */
export interface SessionsMessage {
  readonly type: "sessions";
  readonly sessions: readonly SessionRow[];
  /** The daemon is offline; this is what was last known. */
  readonly stale: boolean;
}

/** A new row, or a row that changed. When its state becomes `closed`, its attachments are over. */
export interface SessionMessage {
  readonly type: "session";
  readonly session: SessionRow;
}

/** Its attachments are over. */
export interface SessionRemovedMessage {
  readonly type: "session_removed";
  readonly sessionId: string;
}

export type SessionState = "idle" | "running" | "waiting" | "parked" | "lost" | "closed";

export interface SessionRow {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly state: SessionState;
  readonly preset: string | null;
  readonly clients: readonly { readonly clientId: string; readonly name: string; readonly role: Role }[];
  /** Open approvals that people have been asked about. */
  readonly approvals: number;
  /** Its Helper has a review endpoint, so cards may come. */
  readonly review: boolean;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** All open approvals, oldest first: what is not in it is over. */
export interface ApprovalsMessage {
  readonly type: "approvals";
  readonly approvals: readonly ApprovalRow[];
}

/** A new one. The same id again replaces, it never doubles. */
export interface ApprovalMessage {
  readonly type: "approval";
  readonly approval: ApprovalRow;
}

export interface ApprovalRow {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly agent: string;
  /** May be empty, and two approvals may share it. */
  readonly toolCallId: string;
  /** In the order in which they were offered. Two may share an id or a label. */
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
  readonly askedAt: string;
  readonly expiresAt: string | null;
  /** The agent's `session/request_permission` params, as it sent them. */
  readonly params: JsonObject;
  /** Long texts in `params` were cut to this many characters; the request `approval` gives all. Absent: nothing is cut. */
  readonly cutAt?: number;
}

export interface Outcome {
  readonly result: "selected" | "refused" | "cancelled" | "expired" | "unavailable" | "superseded";
  readonly optionId?: string;
}

export interface ApprovalResolvedMessage {
  readonly type: "approval_resolved";
  readonly approvalId: string;
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly outcome: Outcome;
  /** `kind`: client, helper, preset, cancel, expiry, no_client, agent_exit, superseded, master. */
  readonly by: { readonly kind: string; readonly name: string };
}

export interface AgentExitedMessage {
  readonly type: "agent_exited";
  readonly agent: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/**
 * A batch of a session's transcript, in order. `attachment` is the `id` of the `attach` request that asked for it; frames
 * of another one are of the past. Everything up to the reply of `attach` is replay. Statuses of tool calls are in order
 * already: never backwards, the first sighting of a call is a `tool_call`, and calls left open at the end of an earlier
 * turn are told as failed. A call that is open while the row is neither running nor waiting is to be shown as failed.
 */
export interface UpdatesMessage {
  readonly type: "updates";
  readonly attachment: number;
  readonly sessionId: string;
  readonly updates: readonly Update[];
}

/** The `update` member of a `session/update`; kinds and members that nobody knows are possible. */
export interface Update extends JsonObject {
  readonly sessionUpdate: string;
}

/** The attachment ended by itself. Attach again; when `offline` follows, when the daemon is back. */
export interface AttachmentLostMessage {
  readonly type: "attachment_lost";
  readonly attachment: number;
  readonly sessionId: string;
  readonly error: RequestError;
}

/** A question of an agent: a form (`params.mode` "form", `requestedSchema`) or an address (`url`). For attached pages. */
export interface ElicitationMessage {
  readonly type: "elicitation";
  readonly elicitation: string;
  readonly sessionId: string;
  /** The params of `elicitation/create`, as the agent sent them. */
  readonly params: JsonObject;
}

/** It was answered, taken back, or who asked is gone. */
export interface ElicitationOverMessage {
  readonly type: "elicitation_over";
  readonly elicitation: string;
  readonly sessionId: string;
}

/**
 * All open cards of direct proposals, of all sessions, from the review endpoints of their Helpers: what is not in it is
 * over. It comes again whenever an endpoint comes or goes.
 */
export interface CardsMessage {
  readonly type: "cards";
  readonly cards: readonly Card[];
  readonly notices: readonly Notice[];
}

/** A new one, or one that changed (by `proposalId`). Say `card.shown` when a person can see it, else it ends in 10 s. */
export interface CardMessage {
  readonly type: "card";
  readonly card: Card;
}

export interface CardOverMessage {
  readonly type: "card_over";
  readonly sessionId: string;
  readonly proposalId: string;
  readonly status: string;
  /** The user interface that decided, if one did. */
  readonly by?: string;
}

/** One for each session: a later one replaces it. */
export interface NoticeMessage {
  readonly type: "notice";
  readonly notice: Notice;
}

/** The answer to a request: exactly one for each. */
export type Reply =
  | { readonly type: "reply"; readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly type: "reply"; readonly id: number; readonly ok: false; readonly error: RequestError };

export interface RequestError {
  /** For a person; may quote an agent. */
  readonly message: string;
  /** `error.data.reason` of the daemon, or of the server: bad_request, observer, offline, not_attached. */
  readonly reason?: string;
  /** The JSON-RPC code, when the daemon or the agent answered with an error. */
  readonly code?: number;
}

// ---------------------------------------------------------------------------------------------------- page → server

/** `id`: a whole number from 0 on that this connection has not used before. */
export type Request = { readonly id: number } & {
  [Op in keyof Requests]: { readonly op: Op } & Requests[Op]["params"];
}[keyof Requests];

export type ResultOf<Op extends keyof Requests> = Requests[Op]["result"];

interface InSession {
  readonly sessionId: string;
}

type Nothing = object;

/**
 * A session is attached by `attach` and stays so until `detach`, `attachment_lost`, `offline` or the end of the connection.
 * `prompt`, `prompt.cancel`, `cancel`, `mode`, `model` and `option` need it attached; the others do not. `attach`,
 * `prompt` and `new` take as long as the agent takes: give them no time limit. What `mode`, `model`, `option` and
 * `preset` change comes as an update too, and so does one's own prompt.
 */
export interface Requests {
  /**
   * Shows a session: its transcript comes as `updates`, then this reply, then what happens. Attached already: anew. A
   * closed one is only shown, and acting on it is refused with reason `observer`, unless `reopen` says to go on with it.
   * A parked or lost one is started again by this.
   */
  readonly attach: {
    readonly params: InSession & { readonly reopen?: boolean };
    readonly result: { readonly opened: Opened };
  };
  readonly detach: { readonly params: InSession; readonly result: Nothing };

  /** Answered when the turn is over; until then it may wait behind other prompts. */
  readonly prompt: {
    readonly params: InSession & { readonly content: readonly JsonObject[] };
    readonly result: { readonly stopReason: string };
  };
  /** Takes back one prompt of this connection, by the `id` of its request. That one is still answered. */
  readonly "prompt.cancel": { readonly params: InSession & { readonly prompt: number }; readonly result: Nothing };
  /** The running turn, and this page's own waiting prompts. */
  readonly cancel: { readonly params: InSession; readonly result: Nothing };
  /** The running turn and every waiting prompt, whoever sent it. */
  readonly "cancel.all": { readonly params: InSession; readonly result: Nothing };

  readonly new: {
    readonly params: { readonly agent: string; readonly cwd: string };
    readonly result: { readonly sessionId: string };
  };
  /** For everybody. */
  readonly close: { readonly params: InSession; readonly result: Nothing };

  readonly mode: { readonly params: InSession & { readonly modeId: string }; readonly result: Nothing };
  readonly model: { readonly params: InSession & { readonly modelId: string }; readonly result: Nothing };
  /** Not for `acp-master.approvals`: use `preset`. */
  readonly option: {
    readonly params: InSession & { readonly configId: string; readonly value: string | boolean };
    readonly result: { readonly configOptions: readonly JsonObject[] };
  };

  /** Empty `presets`: the session has no preset that could be switched, show no chip. */
  readonly presets: {
    readonly params: InSession;
    readonly result: { readonly preset: string | null; readonly presets: readonly Preset[] };
  };
  /** A preset with `confirm` that widens needs `confirm: true`, which a person said. */
  readonly preset: {
    readonly params: InSession & { readonly preset: string; readonly confirm?: boolean };
    readonly result: { readonly preset: string };
  };

  /** Several at once; each has its own result, in the same order. */
  readonly answer: {
    readonly params: { readonly answers: readonly Answer[] };
    readonly result: { readonly results: readonly AnswerResult[] };
  };
  /** One open approval whole, also where its row was cut. */
  readonly approval: {
    readonly params: { readonly approvalId: string };
    readonly result: { readonly approval: ApprovalRow };
  };

  readonly elicitation: {
    readonly params: {
      readonly elicitation: string;
      readonly action: "accept" | "decline" | "cancel";
      /** For an accepted form: the values by name. */
      readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
    };
    readonly result: { readonly status: "accepted" | "not_pending" };
  };

  /** A person can see this card now. */
  readonly "card.shown": { readonly params: { readonly proposalId: string }; readonly result: Nothing };
  /** Only a key press or click of a person may cause it, and none in a card's first 500 ms. */
  readonly "card.decide": { readonly params: DecisionRequest; readonly result: { readonly end: DecisionEnd } };

  readonly agents: { readonly params: Nothing; readonly result: { readonly agents: readonly AgentRow[] } };
  readonly ping: { readonly params: Nothing; readonly result: Nothing };
}

/** What the session's load answered, with what is current; absent where the agent has no such thing. */
export interface Opened {
  readonly modes?: JsonObject;
  readonly models?: JsonObject;
  readonly configOptions?: readonly JsonObject[];
}

export interface Preset {
  readonly value: string;
  readonly name: string;
  readonly description?: string;
  /** A greater one allows more. */
  readonly width: number;
  /** Widening to it needs a person's confirmation. */
  readonly confirm: boolean;
}

/** An offered option by its id; or a refusal: the only reject_once, else the only reject_always, else "cancelled". */
export type Answer =
  { readonly approvalId: string; readonly optionId: string } | { readonly approvalId: string; readonly refuse: true };

/** `accepted` and `not_pending` only say whether this answer decided; `approval_resolved` removes the approval. */
export type AnswerResult =
  | { readonly approvalId: string; readonly status: "accepted" | "not_pending" }
  | { readonly approvalId: string; readonly status: "failed"; readonly error: RequestError };

export interface AgentRow {
  readonly name: string;
  readonly ready: boolean;
  /** Why it is not ready, and what to do about it. */
  readonly problem?: string;
  /** The one that is used when none is named. */
  readonly isDefault: boolean;
}
