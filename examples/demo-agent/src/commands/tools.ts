// One tool call of every kind, each from pending to its end. Nothing is done.
import type { ToolKind } from "@agentclientprotocol/sdk";
import type { Command } from "./command.ts";

const kinds: readonly ToolKind[] = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"];

export const toolsCommand: Command = {
  name: "tools",
  description: "Show one tool call of every kind; nothing is done",
  async run(turn) {
    for (const kind of kinds) {
      if (turn.signal.aborted) return;
      const toolCallId = turn.session.nextToolCallId();
      await turn.announce({ toolCallId, title: `A tool of kind ${kind}`, kind, status: "pending", rawInput: { kind } });
      await turn.progress({ toolCallId, status: "in_progress" });
      await turn.progress({ toolCallId, status: kind === "delete" ? "failed" : "completed" });
    }
    await turn.say(`I showed ${kinds.length} tool calls.\n`);
  },
};
