// What the shim says to a new daemon before the editor's messages go on: who it is, and which sessions it comes back for. The
// answers are its own and reach nobody else.
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Envelope, parseFrame, readString } from "@acp-master/wire";
import { visibleLine } from "../display/untrusted-text.ts";
import { asRecord, asText } from "../protocol/json-value.ts";
import type { AttachedSessions } from "./attached-sessions.ts";

/** An agent may have to be started for each session. */
const patienceMs = 120_000;

/** The editor was introduced: what it sent, and what it was promised. */
export interface Introduced {
  /** Raw JSON. */
  readonly params: Buffer;
  readonly promised: Promised;
}

/** Of the answer to `initialize`, what an editor relies on. */
export interface Promised {
  readonly protocolVersion: unknown;
  readonly agentCapabilities: unknown;
}

export function promisedIn({ bytes, result }: Envelope): Promised {
  const { protocolVersion, agentCapabilities } = asRecord(parseFrame(bytes, result.start, result.end));
  return { protocolVersion, agentCapabilities };
}

/** `undefined`: all of it goes on. Else why it cannot, for people. */
export type Resumed = (problem: string | undefined) => void;

interface Answer {
  readonly result: unknown;
  readonly error: unknown;
}

export class Resumption implements Disposable {
  readonly #write: (frame: Buffer) => void;
  readonly #prefix = `acp-master-shim-${randomBytes(8).toString("hex")}-`;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  readonly #done: Resumed;
  readonly #timer: NodeJS.Timeout;
  #asked = 0;
  #sessions = 0;

  constructor(introduced: Introduced, sessions: AttachedSessions, write: (frame: Buffer) => void, done: Resumed) {
    this.#write = write;
    this.#done = done;
    this.#timer = setTimeout(() => this.#end("the new daemon has not answered in time"), patienceMs);
    this.#ask("initialize", introduced.params, (answer) => this.#initialized(introduced.promised, sessions, answer));
  }

  /** Whether the answer was one of these. */
  takes({ bytes, id, result, error }: Envelope): boolean {
    const key = readString(bytes, id);
    const waiting = key === undefined ? undefined : this.#waiting.get(key);
    if (key === undefined || waiting === undefined) return false;
    this.#waiting.delete(key);
    const valueOf = (span: Envelope["result"]): unknown =>
      span.start === -1 ? undefined : parseFrame(bytes, span.start, span.end);
    waiting({ result: valueOf(result), error: valueOf(error) });
    return true;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #initialized(promised: Promised, sessions: AttachedSessions, { result, error }: Answer): void {
    if (error !== undefined) return this.#end(`the new daemon refuses this connection: ${messageOf(error)}`);
    const { protocolVersion, agentCapabilities } = asRecord(result);
    if (!isDeepStrictEqual({ protocolVersion, agentCapabilities }, promised)) {
      return this.#end("the agent has other capabilities than before, of which this editor does not know");
    }
    const resumed = sessions.resumed();
    this.#sessions = resumed.length;
    if (resumed.length === 0) this.#end(undefined);
    for (const { sessionId, params } of resumed) {
      this.#ask("session/resume", Buffer.from(JSON.stringify(params)), (answer) => this.#resumed(sessionId, answer));
    }
  }

  #resumed(sessionId: string, { error }: Answer): void {
    // This daemon ends too, and the one after it is asked again.
    if (asRecord(asRecord(error)["data"])["reason"] === "stopping") return;
    if (error !== undefined) {
      return this.#end(`session ${visibleLine(sessionId).slice(0, 100)} cannot be resumed: ${messageOf(error)}`);
    }
    this.#sessions -= 1;
    if (this.#sessions === 0) this.#end(undefined);
  }

  #end(problem: string | undefined): void {
    this[Symbol.dispose]();
    this.#done(problem);
  }

  #ask(method: string, params: Buffer, answered: (answer: Answer) => void): void {
    const id = `${this.#prefix}${++this.#asked}`;
    this.#waiting.set(id, answered);
    const head = Buffer.from(`{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":`);
    this.#write(Buffer.concat([head, params, Buffer.from("}\n")]));
  }
}

const messageOf = (error: unknown): string => visibleLine(asText(asRecord(error)["message"]));
