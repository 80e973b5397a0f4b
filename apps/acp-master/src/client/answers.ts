// The shapes of what the daemon answers to our own programs, as far as they read them. The daemon is of the same version: the handshake saw to it.

export interface StatusAnswer {
  readonly version: string;
  readonly pid: number;
  readonly socket: string;
  readonly startedAt: number | string;
  readonly config: { readonly file: string; readonly problem?: string };
  readonly agents: readonly RunningAgent[];
  readonly exits: readonly AgentEnd[];
  readonly sessions: number;
  readonly clients: number;
  readonly approvals: number;
  readonly helpers: readonly RunningHelper[];
  /** Only while decisions cannot be written. */
  readonly record?: { readonly problem: string };
  /** Only where the daemon has no place for direct proposals. */
  readonly proposals?: { readonly problem: string };
  /** Only while some session cannot be kept on disk; at most 20 of them are told. */
  readonly journals?: { readonly problems: readonly string[] };
  readonly counters: Readonly<Record<string, number>>;
}

export interface RunningAgent {
  readonly name: string;
  readonly pid?: number | null;
  readonly instance: string;
  readonly state: string;
  readonly sessions: number;
  readonly clients: number;
  readonly startedAt?: number | string;
}

export interface AgentEnd {
  readonly agent: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly at: number | string;
  readonly message?: string;
}

export interface RunningHelper {
  readonly pid?: number;
  readonly state: string;
  /** What it cannot do though it would, and why. */
  readonly impaired?: string;
}

export interface SessionClient {
  readonly clientId: string;
  readonly name: string;
  readonly role: string;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  readonly title?: string | null;
  readonly state: string;
  readonly preset?: string | null;
  readonly clients: readonly SessionClient[];
  readonly approvals: number;
  /** Where the review endpoint of its Helper listens. */
  readonly review?: string;
  readonly createdAt: number | string;
  readonly updatedAt: number | string;
}

export interface PermissionOption {
  readonly optionId: string;
  readonly name?: string;
  readonly kind?: string;
}

export interface ApprovalRow {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly toolCallId?: string;
  readonly options: readonly PermissionOption[];
  readonly askedAt: number | string;
  readonly expiresAt?: number | string | null;
  /** The agent's request, as it sent it: foreign content. */
  readonly params?: unknown;
}
