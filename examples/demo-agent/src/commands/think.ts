// Thoughts, then words.
import type { Command } from "./command.ts";

export const thinkCommand: Command = {
  name: "think",
  hint: "[TEXT]",
  description: "Think first, then answer",
  async run(turn, rest) {
    for (const thought of ["Let me see. ", "There is no model here, ", "so this thought was ready made."]) {
      await turn.think(thought);
    }
    await turn.say(`I thought about ${rest.trim() === "" ? "nothing in particular" : rest.trim()}.\n`);
  },
};
