// Anthropic messages.
import type { ServerResponse } from "node:http";
import { textIn, type Said, type Tool } from "./conversation.ts";
import { collected, newId, sendEvent, sendJson, startEvents, type AnswerWriter, type Dialect } from "./dialect.ts";
import type { Loose } from "../harness/lines.ts";
import type { ToolCall } from "./tool-call.ts";

const usage = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 };

/** A user message may hold tool results and words; both count, the results first. */
function saidIn(one: Loose): Said[] {
  if (one.role === "assistant") return [{ by: "model", text: textIn(one.content) }];
  const blocks: Loose[] = Array.isArray(one.content) ? one.content : [{ type: "text", text: one.content }];
  const results = blocks.filter((block) => block.type === "tool_result");
  const words = blocks.filter((block) => block.type === "text");
  return [
    ...(results.length > 0 ? [{ by: "tool" as const, text: textIn(results) }] : []),
    ...(words.length > 0 ? [{ by: "user" as const, text: textIn(words) }] : []),
  ];
}

class MessageWriter implements AnswerWriter {
  readonly #response: ServerResponse;
  #index = 0;
  #open: "text" | "thinking" | undefined;
  #calls = 0;

  constructor(response: ServerResponse, model: string) {
    this.#response = response;
    startEvents(response);
    const base = { id: newId("msg_"), type: "message", role: "assistant", model, content: [] };
    this.#event("message_start", { message: { ...base, stop_reason: null, stop_sequence: null, usage } });
  }

  #event(type: string, fields: object): void {
    sendEvent(this.#response, { type, ...fields }, type);
  }

  #block(kind: "text" | "thinking"): void {
    if (this.#open === kind) return;
    this.#close();
    this.#open = kind;
    const content_block =
      kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    this.#event("content_block_start", { index: this.#index, content_block });
  }

  #delta(delta: object): void {
    this.#event("content_block_delta", { index: this.#index, delta });
  }

  #close(): void {
    if (this.#open === undefined) return;
    if (this.#open === "thinking") this.#delta({ type: "signature_delta", signature: "c2NyaXB0ZWQ=" });
    this.#event("content_block_stop", { index: this.#index });
    this.#index += 1;
    this.#open = undefined;
  }

  text(text: string): void {
    this.#block("text");
    this.#delta({ type: "text_delta", text });
  }

  think(thinking: string): void {
    this.#block("thinking");
    this.#delta({ type: "thinking_delta", thinking });
  }

  call(call: ToolCall): void {
    this.#close();
    this.#calls += 1;
    const content_block = { type: "tool_use", id: newId("toolu_"), name: call.name, input: {} };
    this.#event("content_block_start", { index: this.#index, content_block });
    this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(call.input) });
    this.#event("content_block_stop", { index: this.#index });
    this.#index += 1;
  }

  end(): void {
    this.#close();
    const delta = { stop_reason: this.#calls > 0 ? "tool_use" : "end_turn", stop_sequence: null };
    this.#event("message_delta", { delta, usage: { output_tokens: usage.output_tokens } });
    this.#event("message_stop", {});
    this.#response.end();
  }
}

export const anthropicMessages: Dialect = {
  read(body: Loose) {
    const tools: Tool[] = (body.tools ?? []).map((one: Loose) => ({ name: one.name, schema: one.input_schema ?? {} }));
    return { model: body.model, stream: body.stream === true, tools, said: (body.messages ?? []).flatMap(saidIn) };
  },

  answer(response, { model, stream }) {
    if (stream) return new MessageWriter(response, model);
    return collected(({ text, calls }) => {
      const content = [
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...calls.map((call) => ({ type: "tool_use", id: newId("toolu_"), name: call.name, input: call.input })),
      ];
      const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
      const base = { id: newId("msg_"), type: "message", role: "assistant", model, stop_sequence: null, usage };
      sendJson(response, { ...base, content, stop_reason });
    });
  },
};
