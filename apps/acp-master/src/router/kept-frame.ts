// A frame that is kept longer than the chunk it came in, with its own envelope.

import { Envelope, peek, type Span, splice } from "@acp-master/wire";

/** A copy of the frame; spans of the returned envelope refer to the copy. */
export function keep(envelope: Envelope): Envelope {
  return reopened(copied(envelope));
}

/** A copy of the frame, LF included. */
export function copied({ bytes, start, end }: Envelope): Buffer {
  return Buffer.from(bytes.subarray(start, end + 1));
}

/** The envelope of a whole frame, LF included. */
export function reopened(frame: Buffer): Envelope {
  const envelope = new Envelope();
  peek(frame, 0, frame.length - 1, envelope);
  return envelope;
}

/** Exact text of the frame's id. */
export const idText = (envelope: Envelope): string =>
  envelope.bytes.toString("latin1", envelope.id.start, envelope.id.end);

export const isObjectSpan = (bytes: Buffer, span: Span): boolean => span.start >= 0 && bytes[span.start] === 0x7b;

export const isArraySpan = (bytes: Buffer, span: Span): boolean => span.start >= 0 && bytes[span.start] === 0x5b;

/** The frame with another id, given as its exact text. */
export function underId(envelope: Envelope, id: string): Buffer {
  const edit = { start: envelope.id.start, end: envelope.id.end, bytes: Buffer.from(id, "latin1") };
  return splice(envelope.bytes, envelope.start, envelope.end, [edit]);
}
