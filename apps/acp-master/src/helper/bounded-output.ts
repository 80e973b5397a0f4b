// What waits unwritten for one Helper, in order. It tells when lanes must stop handing over and when the Helper has
// stopped reading; it never drops a message and never waits for ever.
import type { Writable } from "node:stream";
import { wait } from "../wait.ts";

export const maxWaitingMessages = 256;
export const maxWaitingBytes = 8 * 1024 * 1024;
/** Small control messages may pass the soft bound; at this many the Helper is at fault. */
const hardMaxMessages = 4 * maxWaitingMessages;
/** Progress of a slow reader is seen at this grain. */
const pieceBytes = 64 * 1024;

export interface OutputEvents {
  /** There is room again. */
  drained(): void;
  /** `stalled`: nothing was read for the given time. `overflow`: far over the bound. `broken`: the pipe failed. */
  fault(fault: "stalled" | "overflow" | "broken"): void;
}

export class BoundedOutput implements Disposable {
  readonly #stream: Writable;
  readonly #stallMs: number;
  readonly #events: OutputEvents;
  #waiting: { bytes: Buffer; readonly endsMessage: boolean }[] = [];
  #messages = 0;
  #bytes = 0;
  #full = false;
  #writing = false;
  #ending = false;
  #over = false;
  #soon: NodeJS.Immediate | undefined;
  #stopWatching = (): void => {};

  constructor(stream: Writable, stallMs: number, events: OutputEvents) {
    this.#stream = stream;
    this.#stallMs = stallMs;
    this.#events = events;
    stream.on("error", () => this.#fault("broken"));
    stream.on("close", () => this.#fault("broken"));
  }

  /** Whether another message may be handed over. One that alone passes the byte bound is taken by an empty output. */
  canTake(bytes = 0): boolean {
    if (this.#over || this.#ending) return false;
    const fits = this.#messages < maxWaitingMessages && this.#bytes + bytes <= maxWaitingBytes;
    if (fits || this.#messages === 0) return true;
    this.#full = true;
    return false;
  }

  /** One message, in its two parts. */
  write(header: Buffer, body: Buffer): void {
    if (this.#over) return;
    this.#messages++;
    this.#bytes += header.length + body.length;
    if (this.#messages > hardMaxMessages) return this.#fault("overflow");
    this.#waiting.push({ bytes: header, endsMessage: false }, { bytes: body, endsMessage: true });
    // Agents and clients come first: what this turn of the event loop has for the Helper leaves as one write behind theirs.
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.#pump();
    });
  }

  /** What was written leaves now, and does not wait for more of this turn of the event loop. */
  flush(): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    this.#pump();
  }

  /** Closes the stream after the last waiting byte. */
  end(): void {
    this.#ending = true;
    if (this.#messages === 0 && !this.#over) this.#stream.end();
  }

  [Symbol.dispose](): void {
    this.#over = true;
    this.#waiting = [];
    clearImmediate(this.#soon);
    this.#stopWatching();
  }

  #pump(): void {
    if (this.#writing || this.#over) return;
    const piece = this.#nextPiece();
    if (piece === undefined) {
      this.#stopWatching();
      if (this.#ending && this.#messages === 0) this.#stream.end();
      return;
    }
    this.#writing = true;
    this.#watch();
    this.#stream.write(piece.bytes, (error) => {
      this.#writing = false;
      if (error) return; // the stream's error event reports it
      this.#messages -= piece.messages;
      this.#bytes -= piece.bytes.length;
      this.#pump();
      if (this.#full && !this.#over && this.#messages < maxWaitingMessages / 2 && this.#bytes <= maxWaitingBytes / 2) {
        this.#full = false;
        this.#events.drained();
      }
    });
  }

  #nextPiece(): { bytes: Buffer; messages: number } | undefined {
    const parts: Buffer[] = [];
    let size = 0;
    let messages = 0;
    let taken = 0;
    for (const entry of this.#waiting) {
      const room = pieceBytes - size;
      if (room === 0) break;
      if (entry.bytes.length > room) {
        parts.push(entry.bytes.subarray(0, room));
        entry.bytes = entry.bytes.subarray(room);
        break;
      }
      parts.push(entry.bytes);
      size += entry.bytes.length;
      if (entry.endsMessage) messages++;
      taken++;
    }
    if (parts.length === 0) return undefined;
    this.#waiting.splice(0, taken);
    return { bytes: Buffer.concat(parts), messages };
  }

  #watch(): void {
    this.#stopWatching();
    this.#stopWatching = wait(this.#stallMs, () => this.#fault("stalled"));
  }

  #fault(fault: "stalled" | "overflow" | "broken"): void {
    if (this.#over) return;
    this[Symbol.dispose]();
    this.#events.fault(fault);
  }
}
