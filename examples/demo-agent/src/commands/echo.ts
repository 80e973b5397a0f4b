// What the agent does with a text that names no command: it says it back, and what it could do instead.
import type { Command } from "./command.ts";

export const echo = (helpText: () => string): Pick<Command, "run"> => ({
  async run(turn, text) {
    await turn.say(`You said: ${text}\n`);
    if (turn.session.stored.style !== "brief") await turn.say(`\n${helpText()}`);
  },
});
