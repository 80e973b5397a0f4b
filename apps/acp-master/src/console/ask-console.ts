// One question to the running console, over its socket in the private folder.
import { connect } from "node:net";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";

export type ConsoleQuestion =
  | { readonly ask: "address"; readonly role: "controller" | "observer" }
  | { readonly ask: "state" }
  | { readonly ask: "stop" };

const answerMs = 10_000;
const longestAnswer = 64 * 1024;

/** Undefined when no console listens, or none that answers in time. */
export function askConsole(path: string, question: ConsoleQuestion): Promise<JsonRecord | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let text = "";
    socket.setEncoding("utf8");
    socket.setTimeout(answerMs, () => socket.destroy());
    socket.once("connect", () => socket.write(`${JSON.stringify(question)}\n`));
    socket.on("data", (part: string) => {
      text += part;
      if (text.length > longestAnswer) socket.destroy();
    });
    socket.on("error", () => {});
    socket.once("close", () => resolve(answer(text)));
  });
}

function answer(text: string): JsonRecord | undefined {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined; // nobody was there, or it ended in the middle of its answer
  }
}
