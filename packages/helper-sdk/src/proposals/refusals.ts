// Commands and frames that looked like proposals and were refused: one notice for each session, so that a person sees that
// an integration does not work. It knows classes and counts, never a command.
import type { RefusalClass, RefusalStatus } from "@acp-master/proposal-channel";
import type { Notice } from "./review-messages.ts";

export type RefusedWhy =
  RefusalClass | Extract<RefusalStatus, "not_armed" | "digest_mismatch" | "invalid_schema" | "rejected">;

const texts: Partial<Record<RefusedWhy, string>> = {
  options: "The agent's question did not have exactly one option that allows once.",
  arming: "The command came without a running turn of its own, or its channel was in use already.",
  unwrapped: "The agent wraps its commands in a way that is not known here.",
  not_armed: "The agent ran the command without asking; set the agent's arming to preflight if it never asks.",
  digest_mismatch: "The command that ran was not the one that was approved.",
  invalid_schema: "The proposal did not have the required form.",
  rejected: "The proposal was not allowed: often because no place to type into was active when the turn started.",
};
const misspelled = "The command was not written in the one form that can be taken.";

export class Refusals {
  readonly #notices = new Map<string, Notice>();

  get notices(): readonly Notice[] {
    return [...this.#notices.values()];
  }

  /** The session's notice as it is now. */
  count(sessionId: string, why: RefusedWhy): Notice {
    const count = (this.#notices.get(sessionId)?.count ?? 0) + 1;
    const notice = { sessionId, why, count, text: texts[why] ?? misspelled };
    this.#notices.set(sessionId, notice);
    return notice;
  }

  forget(sessionId: string): void {
    this.#notices.delete(sessionId);
  }
}

/** Of what a frame can be refused for, that which points to an agent that cannot do it, and not to bad timing. */
export function isMismatch(status: RefusalStatus): status is Extract<RefusedWhy, RefusalStatus> {
  return ["not_armed", "digest_mismatch", "invalid_schema", "rejected"].includes(status);
}
