// A form for the person, where the client can show one.
import type { Command } from "./command.ts";

export const elicitCommand: Command = {
  name: "elicit",
  description: "Ask for a name and a number in a form",
  async run(turn) {
    if (!turn.capabilities.elicitation?.form) return turn.say("The client shows no forms, so I cannot ask.\n");
    const answer = await turn.client.request(
      "elicitation/create",
      {
        mode: "form",
        sessionId: turn.sessionId,
        message: "Who are you, and how many?",
        requestedSchema: {
          type: "object",
          properties: { name: { type: "string", title: "Name" }, count: { type: "integer", title: "How many" } },
          required: ["name"],
        },
      },
      { cancellationSignal: turn.signal, stopWaitingOnCancel: true },
    );
    const content = "content" in answer ? ` ${JSON.stringify(answer.content)}` : "";
    return turn.say(`The form was answered: ${answer.action}${content}\n`);
  },
};
