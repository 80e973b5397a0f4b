// Lines of bytes and the messages in them, as tests look at them: raw and parsed side by side.
// It is independent of the product's own frame code, so that a fault there cannot hide itself.

/** Tests look into messages of any shape; this is the one place that says so. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any;

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Loose;
  readonly result?: Loose;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Loose };
}

export interface Line {
  /** The bytes without the LF. */
  readonly bytes: Buffer;
  readonly text: string;
  /** The parsed line; an empty object when it is no JSON object. */
  readonly message: Message;
  readonly isJson: boolean;
}

export function lineOf(bytes: Buffer): Line {
  const text = bytes.toString("utf8");
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return { bytes, text, message: isObject ? parsed : {}, isJson: true };
  } catch {
    return { bytes, text, message: {}, isJson: false }; // no JSON is a case that tests look for
  }
}

export const showLine = (line: Line): string =>
  line.text.length > 400 ? `${line.text.slice(0, 400)}… (${line.bytes.length} bytes)` : line.text;

/** Splits on LF only. */
export class LineSplitter {
  readonly #pieces: Buffer[] = [];
  readonly #onLine: (bytes: Buffer) => void;

  constructor(onLine: (bytes: Buffer) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(0x0a, start);
      if (end === -1) break;
      this.#pieces.push(chunk.subarray(start, end));
      this.#onLine(Buffer.concat(this.#pieces.splice(0)));
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  /** What came after the last LF. */
  rest(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

export const isRequest = (message: Message): boolean => message.method !== undefined && message.id !== undefined;
export const isNotification = (message: Message): boolean => message.method !== undefined && message.id === undefined;
export const isResponse = (message: Message): boolean =>
  message.method === undefined && message.id !== undefined && ("result" in message || "error" in message);

/** What goes out for a test's object, string (an LF is added) or Buffer (as it is). */
export function bytesOf(message: object | string | Buffer): Buffer {
  if (Buffer.isBuffer(message)) return message;
  return Buffer.from(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
}
