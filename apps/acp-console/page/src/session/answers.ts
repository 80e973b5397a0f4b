// Answers on their way: which approvals this page has answered, and which of those answers failed. It removes no approval.
import { signal } from "@preact/signals";
import type { Answer, AnswerResult } from "../../../src/protocol.ts";

/** Asks the server; fails as a whole when the answers did not arrive. */
export type Ask = (answers: readonly Answer[]) => Promise<readonly AnswerResult[]>;

export type Answered =
  /** Its controls rest until the approval is over. `receipt`: somebody else was first. */
  | { readonly state: "sent"; readonly optionId: string | undefined; readonly isLate: boolean }
  | { readonly state: "failed"; readonly problem: string };

export class Answers {
  readonly byApproval = signal<ReadonlyMap<string, Answered>>(new Map());
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async send(answers: readonly Answer[]): Promise<void> {
    const open = answers.filter(({ approvalId }) => this.byApproval.value.get(approvalId)?.state !== "sent");
    if (open.length === 0) return;
    const begun = open.map((answer): [string, Answered] => [answer.approvalId, sent(answer, false)]);
    this.byApproval.value = new Map([...this.byApproval.value, ...begun]);
    try {
      const results = await this.#ask(open);
      this.#set(
        results.flatMap((result, at): [string, Answered][] => {
          const answer = open[at];
          if (result.status === "failed")
            return [[result.approvalId, { state: "failed", problem: result.error.message }]];
          return answer === undefined ? [] : [[result.approvalId, sent(answer, result.status === "not_pending")]];
        }),
      );
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.#set(open.map(({ approvalId }) => [approvalId, { state: "failed", problem }]));
    }
  }

  /** It is over: there is nothing left to hold back. */
  forget(approvalId: string): void {
    const rest = new Map(this.byApproval.value);
    if (rest.delete(approvalId)) this.byApproval.value = rest;
  }

  /** The generation that asked is over. */
  clear(): void {
    this.byApproval.value = new Map();
  }

  /** An approval that ended while its answer was under way stays forgotten. */
  #set(entries: readonly (readonly [string, Answered])[]): void {
    const known = entries.filter(([approvalId]) => this.byApproval.value.has(approvalId));
    this.byApproval.value = new Map([...this.byApproval.value, ...known]);
  }
}

const sent = (answer: Answer, isLate: boolean): Answered => ({
  state: "sent",
  optionId: "optionId" in answer ? answer.optionId : undefined,
  isLate,
});
