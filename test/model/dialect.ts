// What a way of speaking to a model must bring: reading a request, writing an answer piece by piece.
import type { ServerResponse } from "node:http";
import type { Conversation } from "./conversation.ts";
import type { ToolCall } from "./tool-call.ts";

/** Writes one answer. The pieces come in order; `end` comes last. */
export interface AnswerWriter {
  text(text: string): void;
  think(text: string): void;
  call(call: ToolCall): void;
  end(): void;
}

export interface Dialect {
  read(body: unknown, path: string): Conversation;
  /** An answer as an event stream, or as one JSON document. */
  answer(response: ServerResponse, conversation: Conversation): AnswerWriter;
}

/** One server-sent event. */
export function sendEvent(response: ServerResponse, data: unknown, name?: string): void {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  response.write(`${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`);
}

export function sendJson(response: ServerResponse, document: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(document));
}

export const startEvents = (response: ServerResponse): void =>
  void response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });

/** Collects the pieces for an answer that goes out whole. */
export function collected(
  done: (answer: { text: string; thoughts: string; calls: readonly ToolCall[] }) => void,
): AnswerWriter {
  const calls: ToolCall[] = [];
  let text = "";
  let thoughts = "";
  return {
    text: (piece) => void (text += piece),
    think: (piece) => void (thoughts += piece),
    call: (call) => void calls.push(call),
    end: () => done({ text, thoughts, calls }),
  };
}

let ids = 0;
export const newId = (prefix: string): string => `${prefix}${String((ids += 1)).padStart(8, "0")}`;
