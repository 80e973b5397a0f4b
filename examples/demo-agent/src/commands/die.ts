// The end of the agent process in the middle of a turn.
import { constants } from "node:os";
import { countIn, type Command } from "./command.ts";

const isSignal = (name: string): name is NodeJS.Signals => name in constants.signals;

export const dieCommand: Command = {
  name: "die",
  hint: "[CODE|SIGNAL]",
  description: "End the agent process at once, with an exit code or by a signal",
  async run(turn, rest) {
    const how = rest.trim().toUpperCase();
    await turn.say(`I end ${how === "" ? "with code 1" : `with ${how}`}.\n`);
    process.stderr.write(`demo agent: told to end (${how === "" ? "1" : how})\n`);
    // Behind what is still to be written.
    await new Promise<void>((resolve) => void process.stdout.write("", () => resolve()));
    if (!isSignal(how)) process.exit(countIn(how, 1, 255));
    process.kill(process.pid, how);
    // A signal is delivered a little later; the turn must not end before it.
    await new Promise((resolve) => void setTimeout(resolve, 60_000));
  },
};
