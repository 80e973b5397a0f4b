// Changes chosen spans of a frame and copies every other byte as it is. It knows positions and keys, never what a value means.
import { Scanner } from "./scanner.ts";
import type { Span } from "./spans.ts";
import { stringEquals } from "./string-equals.ts";
import { WireError } from "./wire-error.ts";

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA_BYTES = Buffer.from(",");

/** Puts `bytes` in the place of `[start, end)`, positions in the frame's buffer. `start === end` inserts. */
export interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
}

/**
 * A new frame with its line feed, of the frame `bytes[start, end)` and the edits, which have to be sorted and apart. Edits of
 * one object or array that insert or remove members know nothing of each other: apply them one after the other.
 */
export function splice(bytes: Buffer, start: number, end: number, edits: readonly Edit[]): Buffer {
  let length = end - start;
  let last = start;
  for (const edit of edits) {
    if (edit.start < last || edit.end < edit.start || edit.end > end) {
      throw new WireError(
        "edits_out_of_order",
        `An edit of bytes ${edit.start} to ${edit.end} does not lie after byte ${last} and inside the frame that ends at ${end}; sort the edits and keep them apart.`,
      );
    }
    length += edit.bytes.length - (edit.end - edit.start);
    last = edit.end;
  }
  const frame = Buffer.allocUnsafe(length + 1);
  let from = start;
  let at = 0;
  for (const edit of edits) {
    at += bytes.copy(frame, at, from, edit.start);
    at += edit.bytes.copy(frame, at);
    from = edit.end;
  }
  at += bytes.copy(frame, at, from, end);
  frame[at] = LF;
  return frame;
}

/** Adds a first member. The key must not be there; `setMember` looks, this does not. */
export function insertMember(bytes: Buffer, object: Span, key: string, value: Buffer): Edit {
  requireOpening(bytes, object, OPEN_BRACE);
  const at = object.start + 1;
  const isEmpty = bytes[skipSpace(bytes, at)] === CLOSE_BRACE;
  return {
    start: at,
    end: at,
    bytes: Buffer.concat([memberBytes(key, value), isEmpty ? Buffer.alloc(0) : COMMA_BYTES]),
  };
}

/** Replaces the value of the key, or inserts the member. An object that has the key twice has it once afterwards. */
export function setMember(bytes: Buffer, object: Span, key: string, value: Buffer): Edit {
  const found = membersOf(bytes, object, key);
  const [first, second] = found.matching;
  if (first === undefined) return insertMember(bytes, object, key, value);
  if (second === undefined) return { start: first.valueStart, end: first.end, bytes: value };
  return rebuilt(bytes, object, [memberBytes(key, value), ...found.others]);
}

/** Removes the key with its comma, every occurrence in every spelling; undefined if it is not there. */
export function removeMember(bytes: Buffer, object: Span, key: string): Edit | undefined {
  const { matching, others } = membersOf(bytes, object, key);
  const [first, second] = matching;
  if (first === undefined) return undefined;
  if (second !== undefined) return rebuilt(bytes, object, others);
  const after = skipSpace(bytes, first.end);
  if (bytes[after] === COMMA) return { start: first.start, end: skipSpace(bytes, after + 1), bytes: Buffer.alloc(0) };
  return { start: first.commaBefore === -1 ? first.start : first.commaBefore, end: first.end, bytes: Buffer.alloc(0) };
}

/** Adds a last element. */
export function appendElement(bytes: Buffer, array: Span, value: Buffer): Edit {
  requireOpening(bytes, array, OPEN_BRACKET);
  const at = array.end - 1;
  const isEmpty = skipSpace(bytes, array.start + 1) === at;
  return { start: at, end: at, bytes: isEmpty ? value : Buffer.concat([COMMA_BYTES, value]) };
}

interface MemberSpan {
  /** -1 for the first member. */
  readonly commaBefore: number;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** The members with this key, keys compared as what they mean; and, where there are several, the raw bytes of all others. */
function membersOf(bytes: Buffer, object: Span, key: string): { matching: MemberSpan[]; others: Buffer[] } {
  requireOpening(bytes, object, OPEN_BRACE);
  const text = Buffer.from(key);
  const scanner = new Scanner();
  scanner.open(bytes, object.end);
  const matching: MemberSpan[] = [];
  const others: Buffer[] = [];
  let commaBefore = -1;
  let at = skipSpace(bytes, object.start + 1);
  if (at === object.end - 1) return { matching, others };
  for (;;) {
    const start = at;
    const keyEnd = bytes[start] === QUOTE ? scanner.string(start + 1) : -1;
    if (keyEnd === -1) throw malformed(object);
    const colon = skipSpace(bytes, keyEnd);
    const valueStart = skipSpace(bytes, colon + 1);
    const end = bytes[colon] === COLON ? scanner.value(valueStart) : -1;
    if (end === -1) throw malformed(object);
    if (stringEquals(bytes, { start, end: keyEnd }, text)) matching.push({ commaBefore, start, valueStart, end });
    else others.push(bytes.subarray(start, end));
    at = skipSpace(bytes, end);
    if (at === object.end - 1) return { matching, others };
    if (bytes[at] !== COMMA) throw malformed(object);
    commaBefore = at;
    at = skipSpace(bytes, at + 1);
  }
}

function rebuilt(bytes: Buffer, object: Span, members: readonly Buffer[]): Edit {
  const parts = members.flatMap((member, index) => (index === 0 ? [member] : [COMMA_BYTES, member]));
  return { start: object.start + 1, end: object.end - 1, bytes: Buffer.concat(parts) };
}

function memberBytes(key: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), value]);
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at += 1;
  return at;
}

function requireOpening(bytes: Buffer, span: Span, opening: number): void {
  const isObject = opening === OPEN_BRACE;
  const closing = isObject ? CLOSE_BRACE : CLOSE_BRACKET;
  if (span.start >= 0 && span.end - span.start >= 2 && bytes[span.start] === opening && bytes[span.end - 1] === closing)
    return;
  throw new WireError(
    isObject ? "not_an_object" : "not_an_array",
    `The bytes ${span.start} to ${span.end} are not one JSON ${isObject ? "object" : "array"}; use a span that peek has found and look at its first byte.`,
  );
}

function malformed(object: Span): WireError {
  return new WireError(
    "not_an_object",
    `The object at bytes ${object.start} to ${object.end} is not valid JSON; only frames that peek has accepted can be changed.`,
  );
}
