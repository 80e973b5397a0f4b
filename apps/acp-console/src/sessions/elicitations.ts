// The open questions of agents to people (forms, addresses), each answered once. They end with the connection on which they came.
import { randomUUID } from "node:crypto";
import type { ElicitationMessage, JsonObject, ServerMessage } from "../protocol.ts";

export interface ElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: JsonObject;
}

interface Open {
  readonly message: ElicitationMessage;
  readonly settle: (answer: ElicitationAnswer) => void;
}

export class Elicitations {
  readonly #open = new Map<string, Open>();
  /** To whoever shows the session. */
  readonly #tell: (sessionId: string, message: ServerMessage) => void;

  constructor(tell: (sessionId: string, message: ServerMessage) => void) {
    this.#tell = tell;
  }

  /** Resolves with the answer for the agent; "cancel" when the signal says that nobody waits for one any more. */
  async ask(sessionId: string, params: JsonObject, signal: AbortSignal): Promise<ElicitationAnswer> {
    const elicitation = randomUUID();
    const message: ElicitationMessage = { type: "elicitation", elicitation, sessionId, params };
    const answer = new Promise<ElicitationAnswer>((settle) => {
      this.#open.set(elicitation, { message, settle });
      signal.addEventListener("abort", () => settle({ action: "cancel" }), { once: true });
      if (signal.aborted) settle({ action: "cancel" });
    });
    this.#tell(sessionId, message);
    try {
      return await answer;
    } finally {
      this.#open.delete(elicitation);
      this.#tell(sessionId, { type: "elicitation_over", elicitation, sessionId });
    }
  }

  answer(elicitation: string, answer: ElicitationAnswer): "accepted" | "not_pending" {
    const open = this.#open.get(elicitation);
    if (open === undefined) return "not_pending";
    this.#open.delete(elicitation);
    open.settle(answer);
    return "accepted";
  }

  of(sessionId: string): ElicitationMessage[] {
    return [...this.#open.values()].map(({ message }) => message).filter((message) => message.sessionId === sessionId);
  }

  /** The session in which it was asked; undefined when it is over. */
  sessionOf(elicitation: string): string | undefined {
    return this.#open.get(elicitation)?.message.sessionId;
  }
}
