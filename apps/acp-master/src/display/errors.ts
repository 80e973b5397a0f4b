// Turns any failure into one line (what, where, what to do next) and an exit code. It prints nothing and never shows a stack to a user.
import { ClientError } from "../client/client-error.ts";
import { visibleLine } from "./untrusted-text.ts";

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  noDaemon: 3,
  notFound: 4,
  refused: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure that a command found itself. `next` is the sentence that says what to do. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  readonly next: string;

  constructor(exitCode: ExitCode, message: string, next: string, cause?: unknown) {
    super(message, { cause });
    this.name = "CommandError";
    this.exitCode = exitCode;
    this.next = next;
  }
}

export interface Explanation {
  readonly line: string;
  readonly exitCode: ExitCode;
}

/** What to do about an error that the daemon answered, by its reason. */
const remedies: Readonly<Record<string, readonly [ExitCode, string]>> = {
  unknown_session: [exitCodes.notFound, "Run `acp-master sessions` to see the sessions there are."],
  unknown_agent: [exitCodes.notFound, "Run `acp-master agents` to see the agents there are."],
  session_lost: [exitCodes.failed, "`acp-master tail` still shows its history; begin a new session to go on."],
  agent_failed_to_start: [exitCodes.failed, "Run `acp-master agents` to see what it needs, then try again."],
  agent_exited: [exitCodes.failed, "Try again; `acp-master logs` shows why it ended."],
  busy: [exitCodes.failed, "Wait for the running turn, or `acp-master cancel` it."],
  stopping: [exitCodes.failed, "Try again when the daemon has started again."],
  cwd_missing: [exitCodes.failed, "Give an existing folder with --cwd."],
  cwd_not_absolute: [exitCodes.failed, "Give an absolute folder with --cwd."],
  refused_by_preset: [exitCodes.refused, "Switch with `acp-master preset SESSION PRESET`, or ask for less."],
};

/** Never throws; an error of unknown shape is a failure with its message. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommandError) return said(error.exitCode, error.message, error.next);
  if (error instanceof ClientError) return explainClientError(error);
  const message = error instanceof Error ? error.message : String(error);
  return said(exitCodes.failed, message, "Run `acp-master doctor` to check this installation.");
}

function explainClientError(error: ClientError): Explanation {
  switch (error.kind) {
    case "no_daemon":
      return said(exitCodes.noDaemon, error.message, "Start one with `acp-master serve`.");
    case "not_a_master":
      return said(exitCodes.failed, error.message, "Run `acp-master doctor` to see what is in the way.");
    case "version_mismatch":
      return said(
        exitCodes.failed,
        error.message,
        error.message.includes("acp-master restart")
          ? ""
          : "Run `acp-master restart` to bring both to the same version.",
      );
    case "connection_lost":
      return said(exitCodes.failed, error.message, "Run `acp-master status`; `acp-master logs` shows what happened.");
    case "answered_error":
    default: {
      const [exitCode, next] = remedies[error.reason ?? ""] ?? [exitCodes.failed, generalRemedy(error.code)];
      // The daemon's own message may name the command already.
      return said(exitCode, error.message, error.message.includes("acp-master ") ? "" : next);
    }
  }
}

const invalidParams = -32602;

function generalRemedy(code: number | undefined): string {
  return code === invalidParams
    ? "Correct the arguments; `acp-master help COMMAND` explains them."
    : "Run `acp-master logs` for more.";
}

function said(exitCode: ExitCode, message: string, next: string): Explanation {
  const text = visibleLine(message.trim()).replace(/[.\s]+$/, "");
  return { exitCode, line: `acp-master: ${text}. ${visibleLine(next)}`.trim() };
}
