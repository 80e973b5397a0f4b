// Tells one client where in a session's log it is, in lines of their own between the frames. Between two marks the client
// counts the bytes of the session's frames by itself, so that a stream of them costs nothing.
//
//     {"sessionId", "run", "at": 120}              everything before 120 is behind this line
//     {"sessionId", "run", "at": 120, "next": 200} and the line that follows takes it to 200, however long it is

import type { SessionLog } from "./session-log.ts";

export class PositionMarks {
  readonly #sessionId: string;
  readonly #log: SessionLog;
  /** Where the client knows itself to be, and in which run; undefined: nowhere yet. */
  #at: number | undefined;
  #run: string | undefined;
  /** How the marks of a run begin. */
  #head = "";
  #headRun: string | undefined;

  constructor(sessionId: string, log: SessionLog) {
    this.#sessionId = sessionId;
    this.#log = log;
  }

  /** The mark that takes the client to `position`; empty when it is there already. */
  reach(position: number): Buffer {
    if (this.#at === position && this.#run === this.#log.run) return NOTHING;
    const mark = this.at(position);
    this.left(position);
    return mark;
  }

  /** The client counts these bytes of the log by itself. */
  counted(length: number): void {
    if (this.#at !== undefined) this.#at += length;
  }

  /** The mark for a frame that the client cannot count: it stands at `position` and ends at `next`. */
  frame(position: number, next: number): Buffer {
    const mark = this.#mark(position, next);
    this.left(next);
    return mark;
  }

  /** A frame that is not in the log, or not there at this place, as it leaves at `position`. */
  aside(frame: Buffer, position: number): Buffer {
    return Buffer.concat([this.#mark(position, position), frame]);
  }

  /** A mark that leaves later; `left` is called then. */
  at(position: number): Buffer {
    return this.#mark(position);
  }

  left(position: number): void {
    this.#at = position;
    this.#run = this.#log.run;
  }

  #mark(at: number, next?: number): Buffer {
    const { run } = this.#log;
    if (this.#headRun !== run) {
      this.#headRun = run;
      const place = JSON.stringify({ sessionId: this.#sessionId, run, at: 0 });
      this.#head = `{"jsonrpc":"2.0","method":"_acp-master/position","params":${place.slice(0, -"0}".length)}`;
    }
    return Buffer.from(next === undefined ? `${this.#head}${at}}}\n` : `${this.#head}${at},"next":${next}}}\n`);
  }
}

const NOTHING = Buffer.alloc(0);
