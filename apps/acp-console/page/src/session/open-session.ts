// The session that this page shows: attached, its transcript, its settings, and this page's prompts that are not answered yet.
import { signal } from "@preact/signals";
import type { JsonObject, Opened, Preset, UpdatesMessage } from "../../../src/protocol.ts";
import { RequestFailed, type Link } from "../connection/link.ts";
import { asList, asRecord, asText } from "../model/json-value.ts";
import { openedAfter } from "../model/settings.ts";
import { Transcript } from "../model/transcript.ts";

export interface OwnPrompt {
  readonly id: number;
  readonly text: string;
  /** The agent has it; until then it waits behind others and can be taken back. */
  readonly isHandedOn: boolean;
}

export interface SlashCommand {
  readonly name: string;
  readonly description: string;
  readonly hint: string;
}

export type Attachment =
  | { readonly state: "attaching" }
  | { readonly state: "attached" }
  | { readonly state: "failed"; readonly problem: string };

export class OpenSession {
  readonly sessionId: string;
  /** Replaced when a new attachment has brought the whole transcript. */
  transcript = new Transcript();
  /** Grows with every change of the transcript, at most once a frame. */
  readonly version = signal(0);
  readonly attachment = signal<Attachment>({ state: "attaching" });
  readonly opened = signal<Opened>({});
  readonly commands = signal<readonly SlashCommand[]>([]);
  readonly usage = signal<JsonObject>({});
  readonly presets = signal<readonly Preset[]>([]);
  readonly prompts = signal<readonly OwnPrompt[]>([]);
  /** Why the last prompt came to nothing. */
  readonly problem = signal("");
  /** What stands in the composer. */
  readonly draft = signal("");
  readonly #link: () => Link | undefined;
  /** The attachment whose updates count, and the transcript that they go into. */
  #current = -1;
  #incoming = this.transcript;
  #frame = 0;

  constructor(sessionId: string, link: () => Link | undefined) {
    this.sessionId = sessionId;
    this.#link = link;
  }

  /**
   * Anew when it was attached before: the replay is the truth, and shown when it is whole. A closed session is only
   * shown, unless a person goes on with it.
   */
  async attach(goesOn = false): Promise<void> {
    const { sessionId } = this;
    const link = this.#link();
    if (link === undefined) return;
    const isFirst = this.transcript.rows.length === 0;
    const { id, reply } = link.send("attach", goesOn ? { sessionId, reopen: true } : { sessionId });
    this.#current = id;
    this.#incoming = isFirst ? this.transcript : new Transcript();
    this.attachment.value = { state: "attaching" };
    try {
      const { opened } = await reply;
      if (this.#current !== id) return;
      this.transcript = this.#incoming;
      this.opened.value = opened;
      this.attachment.value = { state: "attached" };
      this.#changed();
      this.presets.value = (await link.request("presets", { sessionId })).presets;
    } catch (error) {
      if (this.#current === id) this.lose(error instanceof RequestFailed ? error.message : String(error));
    }
  }

  /** An attach is under way, done, or has failed: the next one is a person's, or comes with the next connection. */
  get isAsked(): boolean {
    return this.#current >= 0 || this.attachment.value.state === "failed";
  }

  /** What was attached is not any more; its transcript stays readable. */
  lose(problem: string): void {
    this.#current = -1;
    this.attachment.value = { state: "failed", problem };
  }

  /** The connection or the daemon went: the next attach comes by itself. */
  interrupt(): void {
    this.#current = -1;
    this.attachment.value = { state: "attaching" };
  }

  detach(): void {
    this.interrupt();
    cancelAnimationFrame(this.#frame);
    this.#link()
      ?.request("detach", { sessionId: this.sessionId })
      .catch(() => {}); // gone is detached
  }

  isCurrent(attachment: number): boolean {
    return attachment === this.#current;
  }

  updates({ attachment, updates }: UpdatesMessage): void {
    if (!this.isCurrent(attachment)) return;
    for (const update of updates) {
      this.#incoming.add(update);
      this.#setting(update);
      if (update.sessionUpdate === "user_message_chunk") this.#handedOn(asText(asRecord(update.content).text));
    }
    if (this.#incoming === this.transcript) this.#changed();
  }

  /** Answered when its turn is over; a failure is shown, and gives the text back where nothing new was written. */
  async prompt(text: string): Promise<void> {
    const link = this.#link();
    if (link === undefined) return;
    const { sessionId } = this;
    const { id, reply } = link.send("prompt", { sessionId, content: [{ type: "text", text }] });
    this.prompts.value = [...this.prompts.value, { id, text, isHandedOn: false }];
    this.problem.value = "";
    try {
      const { stopReason } = await reply;
      const reason = stopReasons[stopReason];
      if (reason !== undefined) this.problem.value = reason;
    } catch (error) {
      this.problem.value = error instanceof Error ? error.message : String(error);
      const wasHandedOn = this.prompts.value.some((prompt) => prompt.id === id && prompt.isHandedOn);
      if (!wasHandedOn && this.draft.value === "") this.draft.value = text;
    } finally {
      this.prompts.value = this.prompts.value.filter((prompt) => prompt.id !== id);
    }
  }

  /** One prompt comes back as one chunk for each of its content blocks, and this page sends one block. */
  #handedOn(text: string): void {
    const at = this.prompts.value.findIndex((prompt) => !prompt.isHandedOn && prompt.text === text);
    const prompt = this.prompts.value[at];
    if (prompt !== undefined) this.prompts.value = this.prompts.value.with(at, { ...prompt, isHandedOn: true });
  }

  #setting(update: JsonObject): void {
    const opened = openedAfter(this.opened.value, update);
    if (opened !== undefined) this.opened.value = opened;
    if (update.sessionUpdate === "usage_update") this.usage.value = update;
    if (update.sessionUpdate !== "available_commands_update") return;
    this.commands.value = asList(update.availableCommands).map((entry) => {
      const { name, description, input } = asRecord(entry);
      return { name: asText(name), description: asText(description), hint: asText(asRecord(input).hint) };
    });
  }

  #changed(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value += 1;
    });
  }
}

/** What ends a turn early; a turn that simply ends or was cancelled needs no words. */
const stopReasons: Readonly<Record<string, string>> = {
  max_tokens: "The turn ended: the model reached its longest answer.",
  max_turn_requests: "The turn ended: it asked the model as often as it may.",
  refusal: "The agent refused to go on.",
};
