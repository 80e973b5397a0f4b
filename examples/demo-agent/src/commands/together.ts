// Several commands in one turn, all at once: a stream while a question is open, for example.
import type { Turn } from "../turn.ts";
import type { Command } from "./command.ts";

type Found = { readonly command: Pick<Command, "run">; readonly rest: string };

/** `find` says which command a text means. */
export const together = (find: (text: string) => Found): Command => ({
  name: "together",
  hint: "/COMMAND; /COMMAND …",
  description: "Do several commands at once, separated by semicolons",
  async run(turn: Turn, rest: string) {
    const texts = rest
      .split(";")
      .map((text) => text.trim())
      .filter((text) => text !== "");
    await Promise.all(
      texts.map((text) => {
        const found = find(text);
        return found.command.run(turn, found.rest);
      }),
    );
  },
});
