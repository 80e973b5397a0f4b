// Several permissions at once, each outcome said as it comes.
import type { Turn } from "../turn.ts";
import { countIn, type Command } from "./command.ts";

async function askOne(turn: Turn, number: number): Promise<void> {
  const call = turn.describe({ toolsName: "local_shell", toolName: "run", args: { command: `true ${number}` } });
  const { toolCallId } = call;
  await turn.announce(call);
  const outcome = await turn.ask(call);
  const allowed = outcome.outcome === "selected" && outcome.optionId.startsWith("allow");
  await turn.progress({ toolCallId, status: allowed ? "completed" : "failed" });
  await turn.say(`${number}: ${outcome.outcome}${outcome.outcome === "selected" ? ` ${outcome.optionId}` : ""}\n`);
}

export const askCommand: Command = {
  name: "ask",
  hint: "[N]",
  description: "Ask N permissions at once and say each outcome; nothing is done",
  async run(turn, rest) {
    const count = countIn(rest, 1, 1_000);
    await Promise.all(Array.from({ length: count }, (_, index) => askOne(turn, index + 1)));
  },
};
