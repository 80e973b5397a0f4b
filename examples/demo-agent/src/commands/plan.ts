// A plan whose entries are done one after the other.
import type { PlanEntry } from "@agentclientprotocol/sdk";
import type { Command } from "./command.ts";

const steps = ["Read the task", "Do the work", "Check the result"];

export const planCommand: Command = {
  name: "plan",
  description: "Show a plan and work it off",
  async run(turn) {
    for (let done = 0; done <= steps.length && !turn.signal.aborted; done += 1) {
      const entries = steps.map((content, index): PlanEntry => {
        const status = index < done ? "completed" : index === done ? "in_progress" : "pending";
        return { content, priority: "medium", status };
      });
      await turn.update({ sessionUpdate: "plan", entries });
    }
    await turn.say("The plan is worked off.\n");
  },
};
