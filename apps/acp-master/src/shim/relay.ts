// Carries frames between an editor and the daemon, with back-pressure both ways, and goes on with the next daemon where one
// ends. It changes `initialize` only.
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Envelope, FrameReader, FrameWriter, peek, readString, spanBytes } from "@acp-master/wire";
import { visibleLine } from "../display/untrusted-text.ts";
import { fault, type RpcError } from "../protocol/reasons.ts";
import { Conversation } from "./conversation.ts";
import { DaemonConnection } from "./daemon-connection.ts";
import { delivered } from "./delivered.ts";
import type { EditorStdio } from "./editor-stdio.ts";
import type { ReachedDaemon } from "./ensure-daemon.ts";
import { errorFrame, lostDaemon, restarted, whyGone } from "./error-frame.ts";
import { FrameRun } from "./frame-run.ts";
import { HeldInput } from "./held-input.ts";
import { intentOf } from "./intent.ts";
import { asksForEvents, introduced, type Introduction } from "./introduction.ts";
import { longestFrame } from "./longest-frame.ts";
import { type Look, LookLater } from "./look-later.ts";
import { closingReason, othersBegin, ownNotification } from "./own-notification.ts";
import { ParentWatch } from "./parent-watch.ts";
import { Resumption } from "./resumption.ts";

/** How long an editor that has said nothing yet may take for its first request. */
const patienceMs = 10_000;

/** Daemons that end again and again before they did anything are not waited for for ever. */
const mostLosses = 5;
const firstPauseMs = 100;

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface RelayOptions {
  readonly introduction: Introduction;
  /** `announced`: somebody restarts the daemon. */
  nextDaemon(announced: boolean): Promise<ReachedDaemon>;
}

/** Takes over the connection. Resolves to the exit code when nothing is left to deliver. */
export async function relay(stdio: EditorStdio, connection: Socket, options: RelayOptions): Promise<number> {
  return await new Relay(stdio, connection, options).over;
}

/** `holding`: the daemon ends, is gone, or does not know the sessions yet. `refusing`: there will be none. */
type Phase = "relaying" | "holding" | "refusing" | "over";

class Relay {
  readonly over: Promise<number>;
  readonly #stdio: EditorStdio;
  readonly #options: RelayOptions;
  readonly #envelope = new Envelope();
  readonly #conversation = new Conversation((sessionId) => this.#startsOver(sessionId));
  readonly #held = new HeldInput();
  readonly #later = new LookLater(() => this.#editorRun.flush());
  readonly #toEditor: FrameWriter;
  readonly #editorRun: FrameRun;
  readonly #fromEditor: FrameReader;
  readonly #parent = new ParentWatch(() => this.#endNow(0));
  /** Aborted when nobody is there any more to deliver to. */
  readonly #nobody = new AbortController();
  #resolve: (exitCode: number) => void = () => {};
  #phase: Phase = "holding";
  #daemon: DaemonConnection | undefined;
  #resumption: Resumption | undefined;
  /** In a row, of daemons that did nothing. */
  #losses = 0;
  #editorSpoke = false;
  #editorEnded = false;
  #events = false;
  /** While refusing: what with. */
  #refusal: { readonly error: RpcError; readonly exitCode: number } | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(stdio: EditorStdio, connection: Socket, options: RelayOptions) {
    this.#stdio = stdio;
    this.#options = options;
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#toEditor = new FrameWriter(stdio.output, {
      onDrain: () => this.#daemon?.resume(),
      onError: () => this.#endNow(0),
    });
    this.#editorRun = new FrameRun(this.#toEditor);
    this.#fromEditor = new FrameReader(stdio.input, longestFrame, {
      arrives: (chunk, begins) => this.#editorArrives(chunk, begins),
      frame: (bytes, start, end) => this.#editorFrame(bytes, start, end, false),
      chunkEnd: () => {
        this.#daemon?.run.flush();
        if (this.#refusal !== undefined && this.#editorSpoke) void this.#end(this.#refusal.exitCode, undefined);
        else if (this.#held.full || this.#daemon?.writer.congested === true) this.#fromEditor.pause();
      },
      tooLong: () => void this.#end(1, "The editor sent a message that no daemon would take; it is cut off."),
      ended: () => this.#editorIsDone(),
    });
    for (const signal of signals) process.on(signal, this.#interrupted);
    this.#use(connection);
  }

  readonly #interrupted = (): void => this.#endNow(130);

  // -- the editor

  #editorArrives(chunk: Buffer, begins: boolean): boolean {
    const { looksAtEditor } = this.#conversation;
    if (
      !begins ||
      !LookLater.suits(chunk) ||
      this.#phase !== "relaying" ||
      looksAtEditor ||
      this.#daemon === undefined
    ) {
      this.#later.now();
      return false;
    }
    this.#later.pass(chunk, 0, this.#daemon.writer, this.#editorFrame);
    return true;
  }

  readonly #editorFrame: Look = (bytes, start, end, hasLeft) => {
    if (this.#phase === "over") return;
    const envelope = this.#envelope;
    peek(bytes, start, end, envelope);
    this.#editorSpoke = true;
    if (envelope.kind === "response") {
      if (this.#conversation.answers(envelope) && !hasLeft) this.#daemon?.run.add(bytes, start, end);
    } else if (this.#phase === "relaying") {
      if (envelope.kind === "request") this.#handOn(envelope, hasLeft);
      else if (!hasLeft) this.#daemon?.run.add(bytes, start, end);
    } else if (this.#refusal !== undefined) {
      this.#refuse(envelope, this.#refusal.error);
    } else {
      this.#held.hold(envelope);
    }
  };

  #handOn(envelope: Envelope, hasLeft: boolean): void {
    const intent = intentOf(envelope);
    const { bytes, start, end } = envelope;
    if (intent?.what === "initialize" && !hasLeft) {
      this.#events = asksForEvents(envelope);
      const frame = introduced(envelope, this.#options.introduction);
      if (frame !== undefined) {
        // As the next daemon will get it too.
        peek(frame, 0, frame.length - 1, envelope);
        const params = spanBytes(frame, envelope.params);
        this.#conversation.asks(envelope, { ...intent, params });
        this.#daemon?.run.flush();
        this.#daemon?.writer.write(frame);
        return;
      }
    }
    this.#conversation.asks(envelope, intent);
    if (!hasLeft) this.#daemon?.run.add(bytes, start, end);
  }

  #refuse({ kind, bytes, id }: Envelope, error: RpcError): void {
    if (kind === "request") this.#toEditor.write(errorFrame(spanBytes(bytes, id), error));
  }

  /** The daemon still delivers what is due, then ends the connection. */
  #editorIsDone(): void {
    this.#later.now();
    this.#editorEnded = true;
    if (this.#parent.isGone) this.#endNow(0);
    else if (this.#refusal !== undefined) void this.#end(this.#refusal.exitCode, undefined);
    else if (this.#daemon !== undefined && this.#resumption === undefined) this.#daemon.writer.end();
    else if (!this.#held.hasRequests) void this.#end(0, undefined);
  }

  // -- the daemon

  #use(connection: Socket): void {
    const daemon = new DaemonConnection(connection, {
      arrives: (chunk, begins) => this.#daemonArrives(chunk, begins),
      frame: (bytes, start, end) => this.#daemonFrame(bytes, start, end, false),
      chunkEnd: () => {
        this.#editorRun.flush();
        if (this.#toEditor.congested) daemon.pause();
      },
      tooLong: () => void this.#end(1, "The daemon sent a message that is too long; run: acp-master doctor"),
      drained: () => this.#readOn(),
      lost: () => this.#lost(daemon),
    });
    this.#daemon = daemon;
    const { introduced: known, sessions } = this.#conversation;
    if (known === undefined) return this.#goOn(daemon);
    const write = (frame: Buffer): void => daemon.writer.write(frame);
    this.#resumption = new Resumption(known, sessions, write, (problem) => {
      this.#resumption = undefined;
      if (problem !== undefined) return this.#fail(restarted(`This editor's sessions cannot go on: ${problem}`));
      this.#stdio.say("The next daemon runs, and the sessions go on.");
      this.#losses = 0;
      if (daemon.closing === undefined) this.#goOn(daemon);
    });
  }

  /** What the editor said meanwhile comes first. */
  #goOn(daemon: DaemonConnection): void {
    this.#phase = "relaying";
    for (const frame of this.#held.take()) this.#editorFrame(frame, 0, frame.length - 1, false);
    daemon.run.flush();
    if (this.#editorEnded) daemon.writer.end();
    else this.#readOn();
  }

  #readOn(): void {
    if (!this.#held.full) this.#fromEditor.resume();
  }

  #daemonArrives(chunk: Buffer, begins: boolean): boolean {
    const isRelaying = this.#phase === "relaying" && this.#resumption === undefined;
    const from = begins && isRelaying && LookLater.suits(chunk) ? othersBegin(chunk) : undefined;
    if (from === undefined) {
      this.#later.now();
      return false;
    }
    this.#later.pass(chunk, from, this.#toEditor, this.#daemonFrame);
    return true;
  }

  readonly #daemonFrame: Look = (bytes, start, end, hasLeft) => {
    const daemon = this.#daemon;
    if (this.#phase === "over" || daemon === undefined) return;
    const envelope = this.#envelope;
    peek(bytes, start, end, envelope);
    if (this.#resumption?.takes(envelope) === true) return;
    if (this.#phase === "relaying") this.#losses = 0;
    const own = ownNotification(envelope);
    if (own === "closing") {
      daemon.closing = closingReason(envelope);
      if (daemon.closing === "restart") this.#phase = "holding";
    } else if (own === "position") {
      this.#conversation.sessions.told(envelope);
    } else if (own === "detached") {
      this.#conversation.sessions.ended(readString(bytes, envelope.sessionId) ?? "");
    } else if (own === undefined || this.#events) {
      this.#conversation.hears(envelope);
      if (!hasLeft) this.#editorRun.add(bytes, start, end);
    }
  };

  #lost({ closing }: DaemonConnection): void {
    this.#later.now();
    if (this.#phase === "over" || this.#refusal !== undefined) return;
    this.#daemon = undefined;
    this.#resumption?.[Symbol.dispose]();
    this.#resumption = undefined;
    this.#phase = "holding";
    const isRestart = closing === "restart";
    const why = whyGone(closing);
    const closed = isRestart || closing === "stop" ? undefined : closing;
    const { frames, failed, again } = this.#conversation.lost(lostDaemon(closed));
    for (const frame of frames) this.#toEditor.write(frame);
    this.#held.holdFirst(again);
    if (this.#editorEnded && !this.#held.hasRequests) {
      return void (failed === 0 ? this.#end(0, undefined) : this.#end(1, why));
    }
    if (closing !== undefined && !isRestart) return this.#fail(restarted(why));
    // It has asked for something else before it was introduced: nothing is left that could go on.
    if (failed > 0 && this.#conversation.introduced === undefined) return this.#fail(lostDaemon());
    if (this.#conversation.sessions.incomplete) {
      return this.#fail(restarted(`${why} It had more sessions of this editor than can be resumed; load them again.`));
    }
    this.#readOn();
    if (this.#losses === 0) this.#stdio.say(`${why} This editor goes on with the next one.`);
    this.#losses += 1;
    void this.#reconnect(isRestart);
  }

  async #reconnect(announced: boolean): Promise<void> {
    if (this.#losses > mostLosses) {
      const message = `The daemon ended before it answered, ${this.#losses} times in a row. Try: acp-master logs`;
      return this.#fail(restarted(message));
    }
    if (this.#losses > 1) await pause(firstPauseMs * 2 ** (this.#losses - 2));
    const reached = await this.#options.nextDaemon(announced);
    if (this.#phase !== "holding") {
      if (reached.ok) reached.connection.destroy();
    } else if (reached.ok) {
      this.#use(reached.connection);
    } else {
      this.#fail(fault("no_daemon", reached.message), reached.reason === "no_daemon" ? 3 : 1);
    }
  }

  #startsOver(sessionId: string): void {
    const name = visibleLine(sessionId).slice(0, 100);
    this.#stdio.say(`Session ${name} is shown from its beginning again: its end was lost with the daemon.`);
  }

  // -- the end

  /** Nothing more can be handed on. An editor that has just been started waits for the answer to its first request. */
  #fail(error: RpcError, exitCode = 1): void {
    if (this.#phase === "over") return;
    if (!this.#editorSpoke && !this.#editorEnded) {
      this.#phase = "refusing";
      this.#refusal = { error, exitCode };
      this.#stdio.say(error.message);
      this.#patience = setTimeout(() => void this.#end(exitCode, undefined), patienceMs);
      return;
    }
    for (const frame of this.#held.take()) {
      peek(frame, 0, frame.length - 1, this.#envelope);
      this.#refuse(this.#envelope, error);
    }
    void this.#end(exitCode, error.message);
  }

  #endNow(exitCode: number): void {
    this.#nobody.abort();
    void this.#end(exitCode, undefined);
  }

  async #end(exitCode: number, message: string | undefined): Promise<void> {
    if (this.#phase === "over") return;
    this.#phase = "over";
    if (message !== undefined) this.#stdio.say(message);
    clearTimeout(this.#patience);
    this.#resumption?.[Symbol.dispose]();
    this.#later[Symbol.dispose]();
    this.#fromEditor.pause();
    this.#daemon?.drop();
    this.#toEditor.flush();
    await delivered(this.#stdio.output, this.#nobody.signal);
    this.#parent[Symbol.dispose]();
    for (const signal of signals) process.removeListener(signal, this.#interrupted);
    this.#resolve(exitCode);
  }
}
