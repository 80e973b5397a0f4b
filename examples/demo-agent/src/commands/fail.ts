// A prompt that ends as an error.
import { RequestError } from "@agentclientprotocol/sdk";
import { countIn, type Command } from "./command.ts";

export const failCommand: Command = {
  name: "fail",
  hint: "[CODE]",
  description: "Answer the prompt with an error",
  run(_turn, rest) {
    const code = -Math.abs(countIn(rest.trim().replace(/^-/, ""), 32_603, 99_999));
    return Promise.reject(new RequestError(code, "The demo agent was told to fail.", { asked: true }));
  },
};
