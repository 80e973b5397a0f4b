// OpenAI responses, event streams only (no agent here asks for anything else).
import type { ServerResponse } from "node:http";
import { textIn, type Said, type Tool } from "./conversation.ts";
import { newId, sendEvent, startEvents, type AnswerWriter, type Dialect } from "./dialect.ts";
import type { Loose } from "../harness/lines.ts";
import type { ToolCall } from "./tool-call.ts";

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

function toolsIn(list: Loose[], namespace?: string): Tool[] {
  return list.flatMap((one: Loose): Tool[] =>
    one.type === "namespace"
      ? toolsIn(one.tools ?? [], one.name)
      : [
          {
            name: one.name ?? one.type,
            schema: one.parameters ?? {},
            freeForm: one.type === "custom",
            ...(namespace === undefined ? {} : { namespace }),
          },
        ],
  );
}

function saidIn(one: Loose): Said {
  if (one.role === "user") return { by: "user", text: textIn(one.content) };
  if (one.role === "assistant") return { by: "model", text: textIn(one.content) };
  if (one.role !== undefined) return { by: "system", text: textIn(one.content) };
  return String(one.type).endsWith("_output") ? { by: "tool", text: textIn(one.output) } : { by: "model", text: "" };
}

/** An output item that is open while its pieces come. */
interface OpenItem {
  readonly kind: "message" | "reasoning";
  readonly id: string;
  text: string;
}

class ResponseWriter implements AnswerWriter {
  readonly #response: ServerResponse;
  readonly #id = newId("resp_");
  readonly #model: string;
  readonly #output: object[] = [];
  #number = 0;
  #open: OpenItem | undefined;

  constructor(response: ServerResponse, model: string) {
    this.#response = response;
    this.#model = model;
    startEvents(response);
    this.#event("response.created", { response: this.#body("in_progress") });
  }

  #event(type: string, fields: object): void {
    sendEvent(this.#response, { type, sequence_number: this.#number, ...fields }, type);
    this.#number += 1;
  }

  #body(status: string): object {
    const over = status === "completed";
    return {
      id: this.#id,
      object: "response",
      created_at: 1,
      status,
      model: this.#model,
      output: over ? this.#output : [],
      error: null,
      incomplete_details: null,
      usage: over ? usage : null,
    };
  }

  get #index(): number {
    return this.#output.length;
  }

  #item(kind: OpenItem["kind"]): OpenItem {
    if (this.#open?.kind === kind) return this.#open;
    this.#close();
    const open: OpenItem = { kind, id: newId(kind === "message" ? "msg_" : "rs_"), text: "" };
    this.#open = open;
    const output_index = this.#index;
    if (kind === "message") {
      const item = { type: "message", id: open.id, role: "assistant", status: "in_progress", content: [] };
      this.#event("response.output_item.added", { output_index, item });
      const part = { type: "output_text", text: "", annotations: [] };
      this.#event("response.content_part.added", { item_id: open.id, output_index, content_index: 0, part });
    } else {
      this.#event("response.output_item.added", {
        output_index,
        item: { type: "reasoning", id: open.id, summary: [] },
      });
      const part = { type: "summary_text", text: "" };
      this.#event("response.reasoning_summary_part.added", { item_id: open.id, output_index, summary_index: 0, part });
    }
    return open;
  }

  #close(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const content = [{ type: "output_text", text: open.text, annotations: [] }];
    const item =
      open.kind === "message"
        ? { type: "message", id: open.id, role: "assistant", status: "completed", content }
        : { type: "reasoning", id: open.id, summary: [{ type: "summary_text", text: open.text }] };
    this.#done(item);
  }

  #done(item: object): void {
    this.#event("response.output_item.done", { output_index: this.#index, item });
    this.#output.push(item);
  }

  text(delta: string): void {
    const open = this.#item("message");
    open.text += delta;
    const place = { item_id: open.id, output_index: this.#index, content_index: 0 };
    this.#event("response.output_text.delta", { ...place, delta });
  }

  think(delta: string): void {
    const open = this.#item("reasoning");
    open.text += delta;
    const place = { item_id: open.id, output_index: this.#index, summary_index: 0 };
    this.#event("response.reasoning_summary_text.delta", { ...place, delta });
  }

  call(call: ToolCall): void {
    this.#close();
    const text = typeof call.input === "string" ? call.input : JSON.stringify(call.input);
    const item = {
      type: call.freeForm ? "custom_tool_call" : "function_call",
      id: newId("fc_"),
      call_id: newId("call_"),
      name: call.name,
      ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
      status: "completed",
      ...(call.freeForm ? { input: text } : { arguments: text }),
    };
    const started = { ...item, status: "in_progress", ...(call.freeForm ? { input: "" } : { arguments: "" }) };
    this.#event("response.output_item.added", { output_index: this.#index, item: started });
    this.#done(item);
  }

  end(): void {
    this.#close();
    this.#event("response.completed", { response: this.#body("completed") });
    this.#response.end();
  }
}

export const openaiResponses: Dialect = {
  read(body: Loose) {
    const input: Loose[] =
      typeof body.input === "string" ? [{ role: "user", content: body.input }] : (body.input ?? []);
    const later = input.filter((one) => one.type === "additional_tools").flatMap((one) => one.tools ?? []);
    return {
      model: body.model,
      stream: true,
      tools: toolsIn([...(body.tools ?? []), ...later]),
      said: input.filter((one) => one.type !== "additional_tools").map(saidIn),
    };
  },
  answer: (response, { model }) => new ResponseWriter(response, model),
};
