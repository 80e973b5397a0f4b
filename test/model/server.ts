// A model on 127.0.0.1 that says what the prompt tells it to say. It needs no key and keeps no state between requests.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Loose } from "../harness/lines.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { nextSteps, type Conversation } from "./conversation.ts";
import { sendJson, type AnswerWriter, type Dialect } from "./dialect.ts";
import { geminiContent, geminiDocument } from "./gemini-content.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Step, ToolStep } from "./plan.ts";
import { proposalCommand } from "./proposing.ts";
import { callFor } from "./tool-call.ts";

const dialects: readonly (readonly [RegExp, Dialect])[] = [
  [/\/chat\/completions$/, openaiChat],
  [/\/responses$/, openaiResponses],
  [/\/messages$/, anthropicMessages],
  [/:(streamGenerateContent|generateContent)$/, geminiContent],
];

/** One request that was answered by the plan. */
export interface ModelRequest {
  readonly path: string;
  readonly conversation: Conversation;
  readonly steps: readonly Step[];
}

export class ScriptedModel implements AsyncDisposable {
  readonly url: string;
  readonly requests: ModelRequest[] = [];
  /** What the model proposes in place of a word of the plan, so that no prompt has to hold it. */
  readonly secrets = new Map<string, string>();
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on("request", (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendJson(response, { error: { message: String(error) } }, 500);
      });
    });
  }

  static async start(): Promise<ScriptedModel> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const address: AddressInfo | string | null = server.address();
    if (address === null || typeof address === "string") throw new Error("the model has no port");
    return new ScriptedModel(server, `http://127.0.0.1:${address.port}`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const path = new URL(request.url ?? "/", this.url).pathname;
    const dialect = request.method === "POST" ? dialects.find(([pattern]) => pattern.test(path))?.[1] : undefined;
    if (dialect === undefined) return serveOther(path, response);
    const body: Loose = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    const document = dialect === geminiContent ? geminiDocument(body) : undefined;
    const conversation = dialect.read(body, path);
    if (document !== undefined) {
      const writer = dialect.answer(response, conversation);
      writer.text(JSON.stringify(document));
      return writer.end();
    }
    const steps = nextSteps(conversation);
    this.requests.push({ path, conversation, steps });
    const failure = steps.find((step) => step[0] === "fail");
    if (failure !== undefined)
      return sendJson(response, { error: { code: failure[1], message: "planned" } }, failure[1]);
    return play(steps, conversation, dialect.answer(response, conversation), { response, secrets: this.secrets });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

/** What agents ask besides: which models there are, how long a text is. */
function serveOther(path: string, response: ServerResponse): void {
  const models = ["scripted", "scripted-2"];
  if (/\/models\/?$/.test(path)) {
    const list = models.map((id) => ({ id, object: "model", created: 1, owned_by: "test" }));
    return sendJson(response, { object: "list", data: list, models: [] });
  }
  if (path.endsWith("/count_tokens")) return sendJson(response, { input_tokens: 10 });
  if (path.endsWith(":countTokens")) return sendJson(response, { totalTokens: 10 });
  return sendJson(response, { error: { message: "not played here" } }, 404);
}

async function play(
  steps: readonly Step[],
  conversation: Conversation,
  writer: AnswerWriter,
  { response, secrets }: { response: ServerResponse; secrets: ReadonlyMap<string, string> },
): Promise<void> {
  const call = (step: ToolStep): void => {
    const made = callFor(step, conversation.tools);
    if (made === undefined) writer.text(`The agent has no tool to ${step[0]}.`);
    else writer.call(made);
  };
  for (const step of steps) {
    if (response.destroyed) return;
    switch (step[0]) {
      case "say":
        for (let i = 1; i <= step[1]; i += 1) {
          if (i > 1 && step[2] !== undefined) await delay(step[2]);
          writer.text(`chunk ${i} of ${step[1]}. `);
        }
        break;
      case "text":
        writer.text(step[1]);
        break;
      case "think":
        for (let i = 1; i <= step[1]; i += 1) writer.think(`thought ${i}. `);
        break;
      case "big":
        writer.text("B".repeat(step[1]));
        break;
      case "run":
      case "write":
        call(step);
        break;
      case "also":
        call(step[1]);
        break;
      case "propose": {
        const command = proposalCommand(conversation, step[1], secrets);
        if (command === undefined) writer.text("No prompt says how to propose.");
        else call(["run", command]);
        break;
      }
      case "hang":
        await new Promise<void>((resolve) => void response.once("close", () => resolve()));
        return;
      case "drop":
        response.destroy();
        return;
      case "fail":
        break; // answered before anything was written
    }
  }
  writer.end();
}
