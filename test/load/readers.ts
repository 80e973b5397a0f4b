// Clients that look at what they read: at the numbers of floods, or at the bytes.
import { createHash } from "node:crypto";
import type { Master } from "../harness/master.ts";
import { numberOf, sessionOf } from "./numbered.ts";
import { StreamClient } from "./stream-client.ts";

/** Counts the updates of floods, of any number of sessions, and notes the first that is not the next one. */
export class Reader {
  client!: StreamClient;
  seen = 0;
  fault: string | undefined;
  readonly #last = new Map<string, number>();

  static async connect(master: Master): Promise<Reader> {
    const reader = new Reader();
    reader.client = await StreamClient.connect(master, { onUpdate: (...line) => reader.#update(...line) });
    return reader;
  }

  #update(bytes: Buffer, start: number, end: number): void {
    const number = numberOf(bytes, start, end);
    if (number === undefined) return;
    const session = sessionOf(bytes, start);
    const due = number === 1 ? 1 : (this.#last.get(session) ?? 0) + 1; // each flood begins anew
    if (number !== due) this.fault ??= `${number} came where ${due} was due`;
    this.#last.set(session, number);
    this.seen++;
  }
}

/** The updates of one session as one hash and a length. */
export class Recorder {
  client!: StreamClient;
  bytes = 0;
  readonly hash = createHash("sha256");

  static async attach(master: Master, sessionId: string): Promise<Recorder> {
    const recorder = new Recorder();
    recorder.client = await StreamClient.connect(master, {
      agent: null,
      onUpdate: (bytes, start, end) => {
        recorder.bytes += end - start;
        recorder.hash.update(bytes.subarray(start, end));
      },
    });
    await recorder.client.load(sessionId);
    return recorder;
  }
}
