// A session's updates as rows that can be shown one by one. It keeps a bounded number of them and looks into no contents.
import { asList, asRecord, asText, type JsonRecord } from "./json-value.ts";
import { MessageBlocks } from "./message-blocks.ts";
import { isOver, mergedCall, type ShownCall } from "./tool-call.ts";

/** A person (from whichever client), the agent, the agent to itself, the agent about what was said before. */
export type Speaker = "person" | "agent" | "thought" | "summary";

export type Row = TextRow | BlockRow | PlanRow | CallRow | NoticeRow;

/** A part of a message that can be rendered alone. */
export interface TextRow {
  readonly key: string;
  readonly type: "text";
  readonly speaker: Speaker;
  /** The first row of its message. */
  readonly begins: boolean;
  readonly text: string;
}

/** A content block that is no text: an image, a link, a resource. */
export interface BlockRow {
  readonly key: string;
  readonly type: "block";
  readonly speaker: Speaker;
  readonly begins: boolean;
  readonly block: JsonRecord;
}

export interface PlanRow {
  readonly key: string;
  readonly type: "plan";
  readonly entries: readonly { readonly content: string; readonly status: string; readonly priority: string }[];
}

export interface CallRow {
  readonly key: string;
  readonly type: "call";
  readonly call: ShownCall;
}

export interface NoticeRow {
  readonly key: string;
  readonly type: "notice";
  readonly severity: string;
  readonly title: string;
  readonly text: string;
}

/** Beyond either the oldest rows go. */
export interface TranscriptBounds {
  readonly rows: number;
  readonly characters: number;
}

interface OpenMessage {
  readonly speaker: Speaker;
  readonly messageId: string;
  readonly blocks: MessageBlocks;
  /** It has a row. */
  readonly begun: boolean;
  /** Its open block has a row, the last one. */
  readonly isShown: boolean;
}

const speakers: Readonly<Record<string, Speaker>> = {
  user_message_chunk: "person",
  agent_message_chunk: "agent",
  agent_thought_chunk: "thought",
  compaction_summary_chunk: "summary",
};

export class Transcript {
  /** A row that changes is replaced; the array is the same one all the time. */
  readonly rows: Row[] = [];
  /** How many old rows are not kept. */
  left = 0;
  readonly #bounds: TranscriptBounds;
  #made = 0;
  #characters = 0;
  #message: OpenMessage | undefined;
  /** Positions count the rows that have gone, too. */
  #plan = -1;
  readonly #calls = new Map<string, number>();

  constructor(bounds: TranscriptBounds = { rows: 50_000, characters: 50_000_000 }) {
    this.#bounds = bounds;
  }

  /** What is no part of the conversation (modes, commands, usage, unknown kinds) changes nothing. */
  add(update: unknown): void {
    const fields = asRecord(update);
    const kind = asText(fields.sessionUpdate);
    const speaker = speakers[kind];
    if (speaker !== undefined) this.#chunk(speaker, fields);
    else if (kind === "tool_call" || kind === "tool_call_update") this.#call(fields, kind === "tool_call");
    else if (kind === "plan") this.#planned(fields);
    else if (kind === "notice") this.note(asText(fields.severity), asText(fields.title), asText(fields.message));
    this.#trim();
  }

  /** A line of its own. */
  note(severity: string, title: string, text = ""): void {
    this.#message = undefined;
    this.#push({ key: this.#key(), type: "notice", severity, title, text });
  }

  /** The call last announced under this id. */
  callOf(toolCallId: string): ShownCall | undefined {
    const row = this.rows[(this.#calls.get(toolCallId) ?? -1) - this.left];
    return row?.type === "call" ? row.call : undefined;
  }

  #chunk(speaker: Speaker, fields: JsonRecord): void {
    const messageId = asText(fields.messageId);
    const open = this.#message;
    const goesOn = open?.speaker === speaker && (messageId === "" || messageId === open.messageId);
    // What a person says begins a turn, and with it a plan of its own.
    if (!goesOn && speaker === "person") this.#plan = -1;
    const blocks = new MessageBlocks();
    const message = goesOn ? open : { speaker, messageId, blocks, begun: false, isShown: false };
    const block = asRecord(fields.content);
    if (block.type === "text") {
      this.#message = this.#text(message, asText(block.text));
    } else {
      this.#push({ key: this.#key(), type: "block", speaker, begins: !message.begun, block });
      // Text behind a picture goes into rows of its own.
      this.#message = { ...message, blocks, begun: true, isShown: false };
    }
  }

  #text(message: OpenMessage, added: string): OpenMessage {
    let { begun, isShown } = message;
    for (const [at, text] of message.blocks.add(added).entries()) {
      if (at > 0) isShown = false;
      const last = this.rows.at(-1);
      if (isShown && last?.type === "text") {
        this.#characters += text.length - last.text.length;
        this.rows[this.rows.length - 1] = { ...last, text };
      } else if (text.trim() !== "") {
        this.#push({ key: this.#key(), type: "text", speaker: message.speaker, begins: !begun, text });
        begun = true;
        isShown = true;
      }
    }
    return { ...message, begun, isShown };
  }

  #call(fields: JsonRecord, isAnnounced: boolean): void {
    const toolCallId = asText(fields.toolCallId);
    this.#message = undefined;
    const position = this.#calls.get(toolCallId) ?? -1;
    const row = this.rows[position - this.left];
    // After its end a call may be told more; announced again it is another call.
    if (row?.type === "call" && !(isAnnounced && isOver(row.call))) {
      this.rows[position - this.left] = { ...row, call: mergedCall(row.call, fields) };
      return;
    }
    this.#calls.set(toolCallId, this.left + this.rows.length);
    this.#push({ key: this.#key(), type: "call", call: mergedCall(undefined, fields) });
  }

  #planned(fields: JsonRecord): void {
    const entries = asList(fields.entries).map((entry) => {
      const { content, status, priority } = asRecord(entry);
      return { content: asText(content), status: asText(status), priority: asText(priority) };
    });
    const row = this.rows[this.#plan - this.left];
    if (row?.type === "plan") {
      this.rows[this.#plan - this.left] = { ...row, entries };
      return;
    }
    this.#message = undefined;
    this.#plan = this.left + this.rows.length;
    this.#push({ key: this.#key(), type: "plan", entries });
  }

  #push(row: Row): void {
    this.rows.push(row);
    if (row.type === "text") this.#characters += row.text.length;
  }

  #key(): string {
    this.#made += 1;
    return String(this.#made);
  }

  /** A tenth at once, so that the cost is paid seldom. */
  #trim(): void {
    if (this.rows.length <= this.#bounds.rows && this.#characters <= this.#bounds.characters) return;
    const gone = this.rows.splice(0, Math.ceil(this.rows.length / 10));
    this.left += gone.length;
    for (const row of gone) if (row.type === "text") this.#characters -= row.text.length;
    for (const [id, position] of this.#calls) if (position < this.left) this.#calls.delete(id);
  }
}
