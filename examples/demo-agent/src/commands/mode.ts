// The session's mode, shown or changed by the agent itself.
import type { Command } from "./command.ts";

export const modeCommand: Command = {
  name: "mode",
  hint: "[MODE]",
  description: "Show the modes, or switch to one",
  async run(turn, rest) {
    const wanted = rest.trim();
    const { currentModeId, availableModes } = turn.session.modes;
    const names = availableModes.map((mode) => mode.id).join(", ");
    if (wanted === "") return turn.say(`The mode is ${currentModeId}; there are ${names}.\n`);
    if (!turn.session.setMode(wanted)) return turn.say(`There is no mode ${wanted}; there are ${names}.\n`);
    // Not remembered: a load answers with the mode of then.
    const update = { sessionUpdate: "current_mode_update" as const, currentModeId: wanted };
    await turn.client.notify("session/update", { sessionId: turn.sessionId, update });
    return turn.say(`The mode is ${wanted} from here on.\n`);
  },
};
