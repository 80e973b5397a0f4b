// What is remembered of an editor's conversation with a daemon, so that the next daemon can take it up: ids, places and
// positions, no content.
import { type Envelope, readString } from "@acp-master/wire";
import type { RpcError } from "../protocol/reasons.ts";
import { AttachedSessions } from "./attached-sessions.ts";
import { Dialogs } from "./dialogs.ts";
import { errorFrame } from "./error-frame.ts";
import type { Intent } from "./intent.ts";
import { type Introduced, promisedIn } from "./resumption.ts";
import { Unanswered } from "./unanswered.ts";

export interface Lost {
  /** They say so to the editor. */
  readonly frames: readonly Buffer[];
  /** How many requests failed. */
  readonly failed: number;
  /** For the next daemon, before all else. */
  readonly again: readonly Buffer[];
}

export class Conversation {
  readonly sessions: AttachedSessions;
  readonly #unanswered = new Unanswered();
  readonly #dialogs = new Dialogs();
  #introduced: Introduced | undefined;

  constructor(startsOver: (sessionId: string) => void) {
    this.sessions = new AttachedSessions(startsOver);
  }

  /** Undefined until `initialize` is answered: there is nothing to take up. */
  get introduced(): Introduced | undefined {
    return this.#introduced;
  }

  /** What the editor says is not only handed on: it introduces itself, or an answer of its own may be nobody's any more. */
  get looksAtEditor(): boolean {
    return this.#introduced === undefined || this.#dialogs.awaitsCancelled;
  }

  /** The editor's request is handed on. */
  asks({ bytes, id }: Envelope, intent: Intent | undefined): void {
    this.#unanswered.add(bytes, id, intent);
  }

  /** Whether anybody waits for this answer of the editor's: the daemon that asked may be gone. */
  answers({ bytes, id }: Envelope): boolean {
    return this.#dialogs.answered(bytes, id);
  }

  /** A frame is handed to the editor. */
  hears(envelope: Envelope): void {
    const { kind, bytes, id } = envelope;
    if (kind === "request") this.#dialogs.asked(bytes, id);
    if (kind === "response") {
      const intent = this.#unanswered.answered(bytes, id);
      if (intent !== undefined) this.#answered(intent, envelope);
    }
    this.sessions.passed(envelope);
  }

  /** The daemon is gone. No request is handed on twice, but for an `initialize`, which does nothing. */
  lost(error: RpcError): Lost {
    const unanswered = this.#unanswered.take();
    const again: Buffer[] = [];
    const failed: Buffer[] = [];
    for (const { id, intent } of unanswered) {
      if (intent?.what === "initialize") again.push(intent.frame);
      else failed.push(errorFrame(id, error));
    }
    return { frames: [...failed, ...this.#dialogs.cancel()], failed: failed.length, again };
  }

  #answered(intent: Intent, envelope: Envelope): void {
    const isResult = envelope.result.start !== -1;
    if (intent.what === "initialize") {
      if (isResult) this.#introduced = { params: intent.params, promised: promisedIn(envelope) };
      return;
    }
    const sessionId = intent.sessionId ?? readString(envelope.bytes, envelope.resultSessionId);
    if (sessionId === undefined) return;
    if (intent.what === "end") {
      if (isResult) this.sessions.ended(sessionId);
    } else if (isResult) this.sessions.opened(sessionId, intent.place);
    else this.sessions.notOpened(sessionId);
  }
}
