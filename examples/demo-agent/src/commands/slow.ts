// A turn that takes its time and can be cancelled at any moment.
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "./command.ts";

const beatMs = 200;

export const slowCommand: Command = {
  name: "slow",
  hint: "SECONDS",
  description: "Work for so many seconds and say so now and then; can be cancelled",
  async run(turn, rest) {
    const seconds = Number.parseFloat(rest) || 5;
    const end = performance.now() + Math.min(seconds, 3_600) * 1_000;
    for (let beat = 1; performance.now() < end && !turn.signal.aborted; beat += 1) {
      await turn.say(`still working (${beat}) `);
      // An abort ends the wait by a throw, which the prompt turns into "cancelled".
      await delay(Math.min(beatMs, Math.max(end - performance.now(), 0)), undefined, { signal: turn.signal });
    }
    await turn.say("done\n");
  },
};
