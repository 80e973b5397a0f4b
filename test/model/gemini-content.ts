// Gemini generateContent and streamGenerateContent.
import { type Said, type Tool } from "./conversation.ts";
import { collected, newId, sendEvent, sendJson, startEvents, type Dialect } from "./dialect.ts";
import type { Loose } from "../harness/lines.ts";
import { fill, type ToolCall } from "./tool-call.ts";

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

function saidIn(one: Loose): Said[] {
  const parts: Loose[] = one.parts ?? [];
  const text = parts.map((part) => part.text ?? "").join("\n");
  if (one.role === "model") return [{ by: "model", text }];
  const results = parts.filter((part) => part.functionResponse !== undefined);
  if (results.length === 0) return [{ by: "user", text }];
  const result: Said = { by: "tool", text: JSON.stringify(results) };
  return text.trim() === "" ? [result] : [result, { by: "user", text }];
}

const callPart = (call: ToolCall) => ({ functionCall: { id: newId("fc_"), name: call.name, args: call.input } });

/** The schema that the agent wants the answer to follow, if any: its own questions (who speaks next) are asked so. */
const wanted = (body: Loose): Loose =>
  body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema;

/** A document of that schema that keeps the agent going as it was. */
export const geminiDocument = (body: unknown): object | undefined => {
  const schema: Loose = wanted(body);
  return schema === undefined ? undefined : fill(schema, { next_speaker: "user", reasoning: "test" });
};

export const geminiContent: Dialect = {
  read(body: Loose, path) {
    const [, model = "", method] = /\/models\/([^/:]+):(\w+)/.exec(path) ?? [];
    const tools: Tool[] = (body.tools ?? [])
      .flatMap((one: Loose) => one.functionDeclarations ?? [])
      .map((one: Loose) => ({ name: one.name, schema: one.parametersJsonSchema ?? one.parameters ?? {} }));
    const stream = method === "streamGenerateContent";
    return { model, stream, tools, said: (body.contents ?? []).flatMap(saidIn) };
  },

  answer(response, { model, stream }) {
    const body = (parts: object[], finishReason?: string) => ({
      candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
      usageMetadata,
      modelVersion: model,
      responseId: newId("gemini-"),
    });
    if (!stream) {
      return collected(({ text, calls }) =>
        sendJson(response, body([...(text === "" ? [] : [{ text }]), ...calls.map(callPart)], "STOP")),
      );
    }
    startEvents(response);
    return {
      text: (text) => sendEvent(response, body([{ text }])),
      think: (text) => sendEvent(response, body([{ text, thought: true }])),
      call: (call) => sendEvent(response, body([callPart(call)])),
      end() {
        sendEvent(response, body([{ text: "" }], "STOP"));
        response.end();
      },
    };
  },
};
