// Carries frames between an editor and the daemon, with back-pressure both ways. It changes `initialize` only, and keeps ids, no content.
import type { Socket } from "node:net";
import { Envelope, FrameReader, FrameWriter, parseFrame, peek, spanBytes, stringEquals } from "@acp-master/wire";
import { delivered } from "./delivered.ts";
import type { EditorStdio } from "./editor-stdio.ts";
import { errorFrame, lostDaemon } from "./error-frame.ts";
import { FrameRun } from "./frame-run.ts";
import { asksForEvents, introduced, type Introduction } from "./introduction.ts";
import { ParentWatch } from "./parent-watch.ts";
import { Unanswered } from "./unanswered.ts";

/** Above what the daemon can be configured to take: the daemon's limit is the one that is met and explained. */
export const longestFrame = 300 * 1024 * 1024;

/** How long an editor that has said nothing yet may take for its first request. */
const patienceMs = 10_000;

const initialize = Buffer.from("initialize");
const ownPrefix = Buffer.from('"_acp-master/');
const closing = Buffer.from("_acp-master/closing");
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Takes over the connection. Resolves to the exit code when nothing is left to deliver. */
export async function relay(stdio: EditorStdio, connection: Socket, introduction: Introduction): Promise<number> {
  return await new Relay(stdio, connection, introduction).over;
}

class Relay {
  readonly over: Promise<number>;
  readonly #stdio: EditorStdio;
  readonly #connection: Socket;
  readonly #introduction: Introduction;
  readonly #envelope = new Envelope();
  readonly #unanswered = new Unanswered();
  readonly #toEditor: FrameWriter;
  readonly #toMaster: FrameWriter;
  readonly #editorRun: FrameRun;
  readonly #masterRun: FrameRun;
  readonly #fromEditor: FrameReader;
  readonly #fromMaster: FrameReader;
  readonly #parent = new ParentWatch(() => this.#endNow(0));
  /** Aborted when nobody is there any more to deliver to. */
  readonly #nobody = new AbortController();
  #resolve: (exitCode: number) => void = () => {};
  #editorSpoke = false;
  #editorEnded = false;
  /** There is no daemon any more, and the editor's first requests are still to come. */
  #refusing = false;
  #ending = false;
  #events = false;
  #closingReason: string | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(stdio: EditorStdio, connection: Socket, introduction: Introduction) {
    this.#stdio = stdio;
    this.#connection = connection;
    this.#introduction = introduction;
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#toEditor = new FrameWriter(stdio.output, {
      onDrain: () => this.#fromMaster.resume(),
      onError: () => this.#endNow(0),
    });
    this.#toMaster = new FrameWriter(connection, { onDrain: () => this.#fromEditor.resume() });
    this.#editorRun = new FrameRun(this.#toEditor);
    this.#masterRun = new FrameRun(this.#toMaster);
    this.#fromEditor = new FrameReader(stdio.input, longestFrame, {
      frame: (bytes, start, end) => this.#editorFrame(bytes, start, end),
      chunkEnd: () => {
        this.#masterRun.flush();
        if (this.#refusing && this.#editorSpoke) void this.#end(1, undefined);
        else if (this.#toMaster.congested) this.#fromEditor.pause();
      },
      tooLong: () => void this.#end(1, "The editor sent a message that no daemon would take; it is cut off."),
      ended: () => this.#editorIsDone(),
    });
    this.#fromMaster = new FrameReader(connection, longestFrame, {
      frame: (bytes, start, end) => this.#masterFrame(bytes, start, end),
      chunkEnd: () => {
        this.#editorRun.flush();
        if (this.#toEditor.congested) this.#fromMaster.pause();
      },
      tooLong: () => void this.#end(1, "The daemon sent a message that is too long; run: acp-master doctor"),
      ended: () => void this.#masterIsGone(),
    });
    for (const signal of signals) process.on(signal, this.#interrupted);
  }

  readonly #interrupted = (): void => this.#endNow(130);

  #editorFrame(bytes: Buffer, start: number, end: number): void {
    if (this.#ending) return;
    const envelope = this.#envelope;
    peek(bytes, start, end, envelope);
    this.#editorSpoke = true;
    if (this.#refusing) {
      if (envelope.kind === "request") this.#toEditor.write(errorFrame(spanBytes(bytes, envelope.id), lostDaemon()));
      return;
    }
    if (envelope.kind === "request") {
      this.#unanswered.add(bytes, envelope.id);
      if (stringEquals(bytes, envelope.method, initialize)) {
        this.#events = asksForEvents(envelope);
        const frame = introduced(envelope, this.#introduction);
        if (frame !== undefined) {
          this.#masterRun.flush();
          this.#toMaster.write(frame);
          return;
        }
      }
    }
    this.#masterRun.add(bytes, start, end);
  }

  #masterFrame(bytes: Buffer, start: number, end: number): void {
    if (this.#ending) return;
    const envelope = this.#envelope;
    peek(bytes, start, end, envelope);
    if (envelope.kind === "response") {
      this.#unanswered.answered(bytes, envelope.id);
    } else if (envelope.kind === "notification" && startsWith(bytes, envelope.method.start, ownPrefix)) {
      const closes = stringEquals(bytes, envelope.method, closing);
      if (closes) this.#closingReason = reasonOf(bytes, start, end);
      if (closes || !this.#events) return;
    }
    this.#editorRun.add(bytes, start, end);
  }

  /** The daemon still delivers what is due, then ends the connection. */
  #editorIsDone(): void {
    this.#editorEnded = true;
    if (this.#parent.isGone) this.#endNow(0);
    else if (this.#refusing) void this.#end(1, undefined);
    else this.#toMaster.end();
  }

  async #masterIsGone(): Promise<void> {
    if (this.#ending || this.#refusing) return;
    if (!this.#editorSpoke && !this.#editorEnded) return this.#refuseFirst();
    const lost = this.#unanswered.take();
    const closedFor = this.#closedFor;
    for (const id of lost) this.#toEditor.write(errorFrame(id, lostDaemon(closedFor)));
    if (this.#editorEnded && lost.length === 0) await this.#end(0, undefined);
    else await this.#end(1, this.#whyGone());
  }

  /** An editor that has just been started waits for the answer to its first request. */
  #refuseFirst(): void {
    this.#refusing = true;
    this.#stdio.say(this.#whyGone());
    this.#patience = setTimeout(() => void this.#end(1, undefined), patienceMs);
  }

  /** What the daemon had against this connection; it itself goes on. */
  get #closedFor(): string | undefined {
    return this.#closingReason === "stop" || this.#closingReason === "restart" ? undefined : this.#closingReason;
  }

  #whyGone(): string {
    if (this.#closedFor !== undefined) return `The daemon closed this connection: ${this.#closedFor}.`;
    switch (this.#closingReason) {
      case "stop":
        return "The daemon was stopped. The next connect starts it again.";
      case "restart":
        return "The daemon restarts. Connect again and load the session.";
      default:
        return "The connection to the daemon ended. Connect again and load the session; acp-master logs may say why.";
    }
  }

  #endNow(exitCode: number): void {
    this.#nobody.abort();
    void this.#end(exitCode, undefined);
  }

  async #end(exitCode: number, message: string | undefined): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    if (message !== undefined) this.#stdio.say(message);
    clearTimeout(this.#patience);
    this.#fromEditor.pause();
    this.#connection.destroy();
    await delivered(this.#stdio.output, this.#nobody.signal);
    this.#parent[Symbol.dispose]();
    for (const signal of signals) process.removeListener(signal, this.#interrupted);
    this.#resolve(exitCode);
  }
}

function startsWith(bytes: Buffer, at: number, text: Buffer): boolean {
  return bytes[at + 1] === text[1] && bytes.compare(text, 0, text.length, at, at + text.length) === 0;
}

function reasonOf(bytes: Buffer, start: number, end: number): string | undefined {
  const message = parseFrame(bytes, start, end);
  if (typeof message !== "object" || message === null || !("params" in message)) return undefined;
  const { params } = message;
  if (typeof params !== "object" || params === null || !("reason" in params)) return undefined;
  return typeof params.reason === "string" ? params.reason : undefined;
}
