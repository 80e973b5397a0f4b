// Whole frames as objects, for the messages that are our own business. Frames that only pass are never read or written here.
import { WireError } from "./wire-error.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The frame's value, as a strict parser reads it (of two equal keys the last wins; `peek` has refused them where they
 * matter). Throws a `WireError` on anything but JSON in valid UTF-8; the message holds no part of the frame.
 */
export function parseFrame(bytes: Buffer, start: number, end: number): unknown {
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

/** A message as one frame with its line feed. */
export function frameOf(message: object): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}
