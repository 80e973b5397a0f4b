// Whole frames as objects, for the messages that are our own business. Frames that only pass are never read or written here.
import { WireError } from "./wire-error.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Walking or writing what is nested deeper could end the process; no message of ours comes near it. */
const MAX_DEPTH = 500;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The frame's value, as a strict parser reads it (of two equal keys the last wins; `peek` has refused them where they
 * matter). Throws a `WireError` on anything but JSON in valid UTF-8, and on very deep nesting; the message holds no part of the frame.
 */
export function parseFrame(bytes: Buffer, start: number, end: number): unknown {
  if (isTooDeep(bytes, start, end)) {
    throw new WireError(
      "too_deep",
      `A frame of ${end - start} bytes is nested deeper than ${MAX_DEPTH} levels. Send it flatter.`,
    );
  }
  try {
    return JSON.parse(decoder.decode(bytes.subarray(start, end)));
  } catch {
    // The parser's own message quotes the text, so it is dropped.
    throw new WireError(
      "not_json",
      `A frame of ${end - start} bytes is not valid JSON. The peer has to send one message per line.`,
    );
  }
}

/** Of text that is no JSON the answer means nothing. */
function isTooDeep(bytes: Buffer, start: number, end: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}

/** A message as one frame with its line feed. */
export function frameOf(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}
