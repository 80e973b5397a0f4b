// A model that does what a proposal block tells it: takes the command from the newest block and fills in its payload.
import type { Conversation } from "./conversation.ts";

/** The filled-in command; undefined when no prompt of the conversation has a block. */
export function proposalCommand({ said }: Conversation, payload: object): string | undefined {
  const lines = said.filter(({ by }) => by === "user").flatMap(({ text }) => text.split("\n"));
  const form = lines.findLast((line) => line.includes(" --channel v1."))?.trim();
  return form?.replace("<json>", () => JSON.stringify(payload).replaceAll("'", "'\\''"));
}
