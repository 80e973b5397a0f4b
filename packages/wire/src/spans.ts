// Spans of a frame and the only places where bytes of one become a string: ids, methods, kinds and statuses, never contents.

/** Where a raw JSON value lies in its frame's bytes, strings with their quotes. `start` -1: absent. */
export interface Span {
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function absentSpan(): Span {
  return { start: -1, end: -1 };
}

/** Whether the raw bytes of the span are exactly these. Two spellings of one string differ here; see `stringEquals`. */
export function spanEquals(bytes: Buffer, span: Span, literal: Buffer): boolean {
  const { start, end } = span;
  if (start === -1 || end - start !== literal.length) return false;
  for (let at = 0; at < literal.length; at += 1) {
    if (bytes[start + at] !== literal[at]) return false;
  }
  return true;
}

/** The string a span holds, escapes resolved; undefined if the span is absent or no string. The frame has to be valid JSON. */
export function readString(bytes: Buffer, span: Span): string | undefined {
  const { start, end } = span;
  if (start === -1 || bytes[start] !== QUOTE) return undefined;
  if (hasEscape(bytes, start, end)) {
    const value: unknown = JSON.parse(bytes.toString("utf8", start, end));
    return typeof value === "string" ? value : undefined;
  }
  return bytes.toString("utf8", start + 1, end - 1);
}

/** A copy, to keep longer than the frame. Empty for an absent span. */
export function spanBytes(bytes: Buffer, span: Span): Buffer {
  return span.start === -1 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(span.start, span.end));
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === BACKSLASH) return true;
  }
  return false;
}
