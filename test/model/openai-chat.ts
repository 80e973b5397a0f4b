// OpenAI chat completions.
import { textIn, type Said, type Tool } from "./conversation.ts";
import { collected, newId, sendEvent, sendJson, startEvents, type Dialect } from "./dialect.ts";
import type { Loose } from "../harness/lines.ts";
import type { ToolCall } from "./tool-call.ts";

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const speakers: Record<string, Said["by"]> = { user: "user", assistant: "model", tool: "tool" };

const callBody = (call: ToolCall) => ({
  id: newId("call_"),
  type: "function",
  function: { name: call.name, arguments: JSON.stringify(call.input) },
});

export const openaiChat: Dialect = {
  read(body: Loose) {
    const tools: Tool[] = (body.tools ?? []).map((one: Loose) => ({
      name: one.function?.name ?? one.name,
      schema: one.function?.parameters ?? {},
    }));
    const said: Said[] = (body.messages ?? []).map((one: Loose) => ({
      by: speakers[one.role] ?? "system",
      text: textIn(one.content),
    }));
    return { model: body.model, stream: body.stream === true, tools, said };
  },

  answer(response, { model, stream }) {
    const base = { id: newId("chatcmpl-"), created: 1, model };
    if (!stream) {
      return collected(({ text, calls }) => {
        const message = {
          role: "assistant",
          content: text === "" ? null : text,
          ...(calls.length > 0 && { tool_calls: calls.map(callBody) }),
        };
        const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
        sendJson(response, {
          ...base,
          object: "chat.completion",
          usage,
          choices: [{ index: 0, finish_reason, message }],
        });
      });
    }
    startEvents(response);
    let calls = 0;
    const chunk = (delta: object, finish_reason: string | null = null): void =>
      sendEvent(response, { ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
    chunk({ role: "assistant", content: "" });
    return {
      text: (content) => chunk({ content }),
      think: (reasoning_content) => chunk({ reasoning_content }),
      call: (call) => chunk({ tool_calls: [{ index: calls++, ...callBody(call) }] }),
      end() {
        chunk({}, calls > 0 ? "tool_calls" : "stop");
        sendEvent(response, { ...base, object: "chat.completion.chunk", choices: [], usage });
        sendEvent(response, "[DONE]");
        response.end();
      },
    };
  },
};
