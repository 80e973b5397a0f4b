// The members of one JSON object as spans. It walks text that a strict scanner has accepted; it validates nothing and
// decodes nothing but plain keys.
import type { Span } from "@acp-master/wire";

export interface Member {
  /** `undefined` for a key that is escaped or long: none of ours is. */
  readonly key: string | undefined;
  readonly value: Span;
}

const maxKeyBytes = 64;
const quote = 0x22;
const backslash = 0x5c;

/** `undefined` when the value is no object. */
export function members(bytes: Buffer, object: Span): Member[] | undefined {
  if (object.start < 0 || bytes[object.start] !== 0x7b) return undefined;
  const found: Member[] = [];
  let at = skipSpace(bytes, object.start + 1);
  while (bytes[at] === quote) {
    const keyEnd = skipString(bytes, at);
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1); // over the colon
    const end = skipValue(bytes, start);
    found.push({ key: plainKey(bytes, at + 1, keyEnd - 1), value: { start, end } });
    at = skipSpace(bytes, end);
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1);
  }
  return found;
}

/** Where the elements of an array lie. */
export function elements(bytes: Buffer, array: Span): Span[] {
  const found: Span[] = [];
  let at = skipSpace(bytes, array.start + 1);
  while (at < array.end - 1) {
    const end = skipValue(bytes, at);
    found.push({ start: at, end });
    at = skipSpace(bytes, skipSpace(bytes, end) + 1); // over the comma
  }
  return found;
}

/** A copy of an array's bytes that fits into one line, or `undefined` when the value is no array or an empty one. */
export function elementsOnOneLine(bytes: Buffer, array: Span): Buffer | undefined {
  if (bytes[array.start] !== 0x5b || bytes[skipSpace(bytes, array.start + 1)] === 0x5d) return undefined;
  const copy = Buffer.from(bytes.subarray(array.start, array.end));
  // Inside strings JSON has no raw line ends, so each one is white space between tokens.
  for (let at = 0; at < copy.length; at++) if (copy[at] === 0x0a || copy[at] === 0x0d) copy[at] = 0x20;
  return copy;
}

function plainKey(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start > maxKeyBytes || bytes.subarray(start, end).includes(backslash)) return undefined;
  return bytes.toString("latin1", start, end);
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** From the opening quote to behind the closing one. */
function skipString(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    at = bytes.indexOf(quote, at);
    let slashes = 0;
    while (bytes[at - 1 - slashes] === backslash) slashes++;
    at++;
    if (slashes % 2 === 0) return at;
  }
}

function skipValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === quote) return skipString(bytes, from);
  let at = from;
  if (first !== 0x7b && first !== 0x5b) {
    while (!isScalarEnd(bytes[at])) at++;
    return at;
  }
  let depth = 0;
  for (;;) {
    const byte = bytes[at];
    if (byte === quote) {
      at = skipString(bytes, at);
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
    at++;
    if (depth === 0) return at;
  }
}

function isScalarEnd(byte: number | undefined): boolean {
  return byte === undefined || byte === 0x2c || byte === 0x7d || byte === 0x5d || byte <= 0x20;
}
