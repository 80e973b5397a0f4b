// Reads the envelope of one frame: a strict check of the whole frame in one walk, and the positions of the members in the table.
// It agrees with a strict parser or says `invalid`; it decodes no content and follows no nesting that is not in the table.
import { isUtf8 } from "node:buffer";
import type { Envelope } from "./envelope.ts";
import type { Level, Member } from "./member-table.ts";
import { OPTION, OPTION_ID, TOP } from "./member-table.ts";
import { repeatsShape } from "./repeated-shape.ts";
import { Scanner } from "./scanner.ts";
import type { Span } from "./spans.ts";
import { absentSpan, spanEquals } from "./spans.ts";
import { stringEquals } from "./string-equals.ts";

const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_N = 0x6e;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const VERSION = Buffer.from('"2.0"');
const VERSION_TEXT = Buffer.from("2.0");
const ID_TEXT = Buffer.from("id");

const scanner = new Scanner();
/** The frame being walked names its id twice or in an escaped spelling. */
let idInDoubt = false;

/**
 * Fills the envelope with what is known of the frame `bytes[start, end)`. Synchronous, never throws on any input. Carriage
 * returns between the tokens of valid JSON become spaces in place: a frame that is passed on must not hold a second line end.
 */
export function peek(bytes: Buffer, start: number, end: number, into: Envelope): void {
  scanner.watch(-1);
  if (repeatsShape(bytes, start, end, into, scanner)) return;
  into.reset(bytes, start, end);
  idInDoubt = false;
  scanner.open(bytes, end);
  const from = scanner.space(start);
  const first = from < end ? bytes[from] : 0;
  const past = first === OPEN_BRACE ? walkObject(bytes, from, end, TOP, into) : scanner.value(from);
  const complete = past !== -1 && scanner.space(past) === end;
  const checkUtf8 = scanner.sawHighBytes;
  const { sawReturn } = scanner;
  scanner.close();
  if (!complete || (checkUtf8 && !isUtf8(bytes.subarray(start, end)))) {
    into.reset(bytes, start, end);
    into.problem = "not_json";
    return;
  }
  if (sawReturn) blankReturns(bytes, start, end);
  if (first !== OPEN_BRACE) {
    into.problem = first === OPEN_BRACKET ? "batch" : "not_object";
  } else {
    judge(bytes, into);
    if (scanner.watchedFrom !== -1) into.varies(scanner.watchedFrom, scanner.watchedTo);
  }
}

/** A string holds no raw control character, so each of them is white space. */
function blankReturns(bytes: Buffer, start: number, end: number): void {
  for (let at = bytes.indexOf(RETURN, start); at !== -1 && at < end; at = bytes.indexOf(RETURN, at)) bytes[at] = SPACE;
}

/** The chunk has passed: nothing of what was peeked is held until the next one comes. */
export function letGoOfPeeked(): void {
  scanner.letGo();
}

/** From an object's brace to the byte after it, -1 if it is no JSON. Calls nest as deep as the table, whatever the frame holds. */
function walkObject(bytes: Buffer, from: number, end: number, level: Level, into: Envelope): number {
  const { keys } = level;
  keys.clear();
  let at = scanner.space(from + 1);
  if (at < end && bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (at >= end || bytes[at] !== QUOTE) return -1;
    const keyStart = at + 1;
    scanner.sawEscape = false;
    const keyPast = scanner.string(keyStart);
    if (keyPast === -1) return -1;
    const escaped = scanner.sawEscape;
    at = keyPast;
    if (at < end && bytes[at]! <= SPACE) at = scanner.space(at);
    if (at >= end || bytes[at] !== COLON) return -1;
    at += 1;
    if (at < end && bytes[at]! <= SPACE) at = scanner.space(at);
    if (at >= end) return -1;

    const member = escaped ? undefined : level.find(bytes, keyStart, keyPast - 1);
    const isNew = member === undefined ? escaped || keys.add(bytes, keyStart, keyPast - 1) : isAbsent(member, into);
    if (escaped || !isNew) {
      into.problem ??= escaped ? "escaped_key" : "duplicate_key";
      if (level === TOP && meansId(bytes, keyStart - 1, keyPast)) idInDoubt = true;
      at = scanner.value(at);
    } else if (member === undefined) {
      at = scanner.value(at);
    } else {
      const valueStart = at;
      const opening = bytes[at];
      if (opening === OPEN_BRACE && member.level !== undefined) at = walkObject(bytes, at, end, member.level, into);
      else if (opening === OPEN_BRACKET && member.list === "options") at = walkOptions(bytes, at, end, into);
      else if (opening === OPEN_BRACKET && member.list === "prompt") at = walkPrompt(bytes, at, end, into);
      else at = scanner.value(at);
      place(member, valueStart, at, into);
    }
    if (at === -1) return -1;

    if (at < end && bytes[at]! <= SPACE) at = scanner.space(at);
    if (at >= end) return -1;
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at += 1;
    if (at < end && bytes[at]! <= SPACE) at = scanner.space(at);
  }
}

function isAbsent(member: Member, into: Envelope): boolean {
  return (member.slot === -1 ? optionSpan(member, into) : into.spans[member.slot]!).start === -1;
}

function place(member: Member, start: number, end: number, into: Envelope): void {
  if (member.slot !== -1) {
    into.place(member.slot, start, end);
    return;
  }
  const span = optionSpan(member, into);
  span.start = start;
  span.end = end;
}

function optionSpan(member: Member, into: Envelope): Span {
  return (member === OPTION_ID ? into.optionIds : into.optionKinds)[into.optionCount]!;
}

/** An option that is no object counts too, with neither id nor kind. */
function walkOptions(bytes: Buffer, from: number, end: number, into: Envelope): number {
  let at = scanner.space(from + 1);
  if (at < end && bytes[at] === CLOSE_BRACKET) return at + 1;
  for (;;) {
    emptySpanAt(into.optionIds, into.optionCount);
    emptySpanAt(into.optionKinds, into.optionCount);
    at = at < end && bytes[at] === OPEN_BRACE ? walkObject(bytes, at, end, OPTION, into) : scanner.value(at);
    if (at === -1) return -1;
    into.optionCount += 1;
    at = scanner.space(at);
    if (at >= end) return -1;
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = scanner.space(at + 1);
  }
}

function walkPrompt(bytes: Buffer, from: number, end: number, into: Envelope): number {
  let at = scanner.space(from + 1);
  if (at < end && bytes[at] === CLOSE_BRACKET) return at + 1;
  for (;;) {
    const element = emptySpanAt(into.promptElements, into.promptElementCount);
    const start = at;
    at = scanner.value(at);
    if (at === -1) return -1;
    element.start = start;
    element.end = at;
    into.promptElementCount += 1;
    at = scanner.space(at);
    if (at >= end) return -1;
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = scanner.space(at + 1);
  }
}

function emptySpanAt(spans: Span[], index: number): Span {
  const kept = spans[index];
  if (kept === undefined) {
    const added = absentSpan();
    spans.push(added);
    return added;
  }
  kept.start = -1;
  return kept;
}

function meansId(bytes: Buffer, start: number, end: number): boolean {
  return stringEquals(bytes, { start, end }, ID_TEXT);
}

/** The JSON-RPC rules, for an object without a doubtful key. */
function judge(bytes: Buffer, into: Envelope): void {
  const { id, method, params, result, error } = into;
  const idIsLegal = id.start === -1 || isIdStart(bytes[id.start]!);
  if (!idIsLegal || idInDoubt) id.start = -1;
  if (into.problem !== undefined) return;

  const hasMethod = method.start !== -1;
  const answers = (result.start === -1 ? 0 : 1) + (error.start === -1 ? 0 : 1);
  const paramsAreLegal =
    params.start === -1 || bytes[params.start] === OPEN_BRACE || bytes[params.start] === OPEN_BRACKET;
  const shapeIsLegal = hasMethod ? bytes[method.start] === QUOTE && answers === 0 : id.start !== -1 && answers === 1;
  if (!idIsLegal || !paramsAreLegal || !shapeIsLegal || !isVersion2(bytes, into.jsonrpc)) {
    into.problem = "bad_envelope";
  } else if (!hasMethod) {
    into.kind = "response";
  } else {
    into.kind = id.start === -1 ? "notification" : "request";
  }
}

function isVersion2(bytes: Buffer, jsonrpc: Span): boolean {
  return spanEquals(bytes, jsonrpc, VERSION) || stringEquals(bytes, jsonrpc, VERSION_TEXT);
}

/** A string, a number or null. */
function isIdStart(byte: number): boolean {
  return byte === QUOTE || byte === MINUS || byte === LETTER_N || (byte >= 0x30 && byte <= 0x39);
}
