// Turns a session's updates into running text. Kinds that it does not know are left out; foreign text is made visible unless the caller wants it exact.
import { painter, type Surface } from "./colour.ts";
import { asList, asRecord, asText, type JsonRecord } from "../protocol/json-value.ts";
import { shortened, visibleLine, visibleLines } from "./untrusted-text.ts";

export interface TranscriptOptions {
  /** The agent's answer. */
  readonly text: (text: string) => void;
  /** Everything else: tool calls, plans, thoughts, notices. Whole lines. */
  readonly notes: (text: string) => void;
  /** Write the agent's answer unchanged (to a file or pipe). */
  readonly exact: boolean;
  /** Show what was asked, too. */
  readonly prompts: boolean;
  readonly surface: Surface;
}

type Stream = "answer" | "thought" | "prompt";

const longestTitle = 2_000;
const mostOpenCalls = 1_000;
const mostPlanEntries = 200;
const marks: Readonly<Record<string, string>> = { completed: "✓", failed: "✗", in_progress: "…", pending: "○" };

/**
 *     const transcript = new Transcript({ text: print, notes: print, exact: false, prompts: true, surface: process.stdout });
 *     transcript.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hello" } });
 *     transcript.end();
 */
export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #paint: ReturnType<typeof painter>;
  readonly #calls = new Map<string, { title: string; status: string }>();
  /** The stream whose last line has no line feed yet. */
  #open: Stream | undefined;
  #last: Stream | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
    this.#paint = painter(options.surface);
  }

  update(update: unknown): void {
    const fields = asRecord(update);
    switch (fields.sessionUpdate) {
      case "agent_message_chunk":
        return this.#chunk("answer", fields.content);
      case "agent_thought_chunk":
        return this.#chunk("thought", fields.content);
      case "user_message_chunk":
        return this.#options.prompts ? this.#chunk("prompt", fields.content) : undefined;
      case "tool_call":
      case "tool_call_update":
        return this.#toolCall(fields);
      case "plan":
        return this.#plan(fields.entries);
      case "notice":
        return this.note(`! ${textOf(fields.content) || asText(fields.message)}`);
      default:
        return undefined;
    }
  }

  /** One line of our own or foreign text, on its own. */
  note(text: string): void {
    this.#closeLine();
    this.#last = undefined;
    this.#options.notes(`${shortened(visibleLine(text), longestTitle)}\n`);
  }

  /** Ends the last line, so that what follows begins on a new one. */
  end(): void {
    this.#closeLine();
  }

  #chunk(stream: Stream, content: unknown): void {
    const text = textOf(content);
    if (text === "") return;
    if (this.#last !== stream) this.#closeLine();
    const write = stream === "answer" ? this.#options.text : this.#options.notes;
    const shown = stream === "answer" && this.#options.exact ? text : visibleLines(text);
    const begins = this.#open !== stream;
    this.#open = text.endsWith("\n") ? undefined : stream;
    this.#last = stream;
    if (stream === "answer") return write(shown);
    const prefix = stream === "prompt" && begins ? "> " : "";
    write(this.#paint(stream === "prompt" ? "bold" : "dim", prefix + shown));
  }

  #toolCall(update: JsonRecord): void {
    const id = asText(update.toolCallId);
    const known = this.#calls.get(id);
    const title = asText(update.title) || known?.title || id || "tool call";
    const status = asText(update.status) || known?.status || "pending";
    if (known !== undefined && known.status === status && update.sessionUpdate === "tool_call_update") {
      known.title = title;
      return;
    }
    if (this.#calls.size >= mostOpenCalls) this.#calls.clear();
    this.#calls.set(id, { title, status });
    const kind = known === undefined && asText(update.kind) !== "" ? ` [${asText(update.kind)}]` : "";
    this.note(`${marks[status] ?? "·"} ${title}${kind} ${status}`);
  }

  #plan(entries: unknown): void {
    const list = asList(entries).slice(0, mostPlanEntries).map(asRecord);
    if (list.length === 0) return;
    this.note("Plan:");
    for (const { status, content } of list) {
      this.note(`  ${marks[asText(status)] ?? "·"} ${textOf(content) || asText(content)}`);
    }
  }

  #closeLine(): void {
    if (this.#open === undefined) return;
    const write = this.#open === "answer" ? this.#options.text : this.#options.notes;
    this.#open = undefined;
    write("\n");
  }
}

/** The text of a content block; other kinds of block are named in brackets. */
function textOf(content: unknown): string {
  const block = asRecord(content);
  if (typeof block.text === "string") return block.text;
  if (block.type === "resource_link") return `[link ${asText(block.uri)}]`;
  return typeof block.type === "string" && block.type !== "text" ? `[${block.type}]` : "";
}
