// A model that does what a proposal block tells it: takes the command from the newest block and fills in its payload.
import type { Conversation } from "./conversation.ts";

/** The filled-in command, each word replaced by its secret; undefined when no prompt of the conversation has a block. */
export function proposalCommand(
  { said }: Conversation,
  payload: object,
  secrets: ReadonlyMap<string, string>,
): string | undefined {
  const lines = said.filter(({ by }) => by === "user").flatMap(({ text }) => text.split("\n"));
  const form = lines.findLast((line) => line.includes(" --channel v1."))?.trim();
  let json = JSON.stringify(payload);
  for (const [word, secret] of secrets) json = json.replaceAll(word, secret);
  return form?.replace("<json>", () => json.replaceAll("'", "'\\''"));
}
