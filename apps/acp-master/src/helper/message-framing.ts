// Cuts a Helper's output into Content-Length messages, on bytes. It refuses everything that would leave the stream out
// of step (a missing, signed, doubled or too large length, a long header) and never repeats what it refused.

export type FramingFault =
  | "header_too_long"
  | "header_malformed"
  | "length_missing"
  | "length_malformed"
  | "length_conflict"
  | "body_too_long"
  | "ended_inside_message";

export interface MessageReceiver {
  /** One whole body; the receiver may keep it. */
  body(bytes: Buffer): void;
  /** The stream is out of step; nothing is delivered after it. */
  fault(fault: FramingFault): void;
}

export const maxHeaderBytes = 8 * 1024;
/** A message may carry one whole frame; this much is left for its envelope. */
export const envelopeBytes = 64 * 1024;

const LF = 0x0a;
const CR = 0x0d;

export class MessageSplitter {
  readonly #maxBodyBytes: number;
  readonly #receiver: MessageReceiver;
  readonly #header = Buffer.alloc(maxHeaderBytes);
  #headerBytes = 0;
  #lineStart = 0;
  #length: string | undefined;
  #missing = -1; // bytes of the body still to come; -1 while a header is read
  #parts: Buffer[] = [];
  #over = false;

  constructor(maxFrameBytes: number, receiver: MessageReceiver) {
    this.#maxBodyBytes = maxFrameBytes + envelopeBytes;
    this.#receiver = receiver;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#over) {
      at = this.#missing < 0 ? this.#readHeader(chunk, at) : this.#readBody(chunk, at);
    }
  }

  /** End of input. */
  end(): void {
    if (!this.#over && (this.#headerBytes > 0 || this.#missing > 0)) this.#fail("ended_inside_message");
    this.#over = true;
  }

  #readHeader(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (this.#headerBytes === maxHeaderBytes) return this.#fail("header_too_long");
      const byte = chunk.readUInt8(at);
      this.#header[this.#headerBytes++] = byte;
      if (byte !== LF) continue;
      let end = this.#headerBytes - 1;
      if (end > this.#lineStart && this.#header[end - 1] === CR) end--;
      if (end === this.#lineStart) {
        this.#endHeader();
        return at + 1;
      }
      const fault = this.#readLine(this.#header.toString("latin1", this.#lineStart, end));
      if (fault !== undefined) return this.#fail(fault);
      this.#lineStart = this.#headerBytes;
    }
    return chunk.length;
  }

  #readLine(line: string): FramingFault | undefined {
    const colon = line.indexOf(":");
    if (colon <= 0) return "header_malformed";
    if (line.slice(0, colon).trim().toLowerCase() !== "content-length") return undefined;
    const value = line.slice(colon + 1).trim();
    if (!/^[0-9]{1,15}$/.test(value)) return "length_malformed";
    if (this.#length !== undefined && this.#length !== value) return "length_conflict";
    this.#length = value;
    return undefined;
  }

  #endHeader(): void {
    const length = this.#length;
    this.#headerBytes = 0;
    this.#lineStart = 0;
    this.#length = undefined;
    if (length === undefined) {
      this.#fail("length_missing");
    } else if (Number(length) > this.#maxBodyBytes) {
      this.#fail("body_too_long");
    } else {
      this.#missing = Number(length);
      if (this.#missing === 0) this.#deliver();
    }
  }

  #readBody(chunk: Buffer, from: number): number {
    const part = chunk.subarray(from, from + this.#missing);
    this.#parts.push(part);
    this.#missing -= part.length;
    if (this.#missing === 0) this.#deliver();
    return from + part.length;
  }

  #deliver(): void {
    // One copy for each body: a part of a chunk would keep the whole chunk in memory.
    const body = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#missing = -1;
    this.#receiver.body(body);
  }

  #fail(fault: FramingFault): number {
    this.#over = true;
    this.#parts = [];
    this.#receiver.fault(fault);
    return Number.MAX_SAFE_INTEGER;
  }
}
