// Reads a journal file from its beginning and finds where its own frames end. It changes nothing.

import { readSync } from "node:fs";
import { Envelope, peek, stringEquals } from "@acp-master/wire";

export interface FrameScan {
  /** So many bytes are whole frames. */
  readonly goodBytes: number;
  /** What follows them. A torn frame was not written to its end; anything else was not written by us. */
  readonly rest: "nothing" | "torn" | "foreign";
}

const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const OPENING_BRACE = 0x7b;
const SLICE_BYTES = 256 * 1024;
/** No frame is longer, whatever limit is configured. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const UPDATE = Buffer.from("session/update");

/** Yields after each slice, so that a caller can let others run. Throws the system's error. */
export function* scanFrames(descriptor: number, size: number): Generator<undefined, FrameScan> {
  const envelope = new Envelope();
  let goodBytes = 0;
  let window = Buffer.allocUnsafe(SLICE_BYTES);
  /** Bytes of an unfinished line at the beginning of the window. */
  let held = 0;
  while (goodBytes + held < size) {
    if (held === window.length) {
      if (held >= MAX_FRAME_BYTES) return { goodBytes, rest: "foreign" };
      window = Buffer.concat([window], window.length * 2);
    }
    const count = readSync(descriptor, window, held, window.length - held, goodBytes + held);
    if (count === 0) break;
    const filled = Math.min(held + count, size - goodBytes);
    let start = 0;
    for (let end = window.indexOf(LF, held); end >= 0 && end < filled; end = window.indexOf(LF, start)) {
      if (!isUpdate(window, start, end, envelope)) return { goodBytes: goodBytes + start, rest: "foreign" };
      start = end + 1;
    }
    // The window's bytes change under what was peeked.
    envelope.release();
    window.copyWithin(0, start, filled);
    held = filled - start;
    goodBytes += start;
    yield;
  }
  if (held === 0) return { goodBytes, rest: "nothing" };
  return { goodBytes, rest: couldBecomeFrame(window.subarray(0, held)) ? "torn" : "foreign" };
}

function isUpdate(bytes: Buffer, start: number, end: number, envelope: Envelope): boolean {
  peek(bytes, start, end, envelope);
  return envelope.kind === "notification" && stringEquals(bytes, envelope.method, UPDATE);
}

function couldBecomeFrame(bytes: Buffer): boolean {
  let first = 0;
  while (bytes[first] === SPACE || bytes[first] === TAB) first++;
  return bytes[first] === OPENING_BRACE && bytes.every((byte) => byte >= SPACE || byte === TAB);
}
