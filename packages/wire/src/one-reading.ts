// Whether every strict parser reads a value alike: no object in it, however deep, holds one key twice. It compares keys as what
// they mean, as bytes, and keeps none of them.
import { KeySet } from "./key-set.ts";
import { Scanner } from "./scanner.ts";
import type { Span } from "./spans.ts";
import { unescape } from "./unescape.ts";

/** What is nested deeper is not looked at, and so not vouched for. */
const MAX_DEPTH = 512;

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;

/** The value has to lie in a frame that `peek` has accepted. False also where it is nested too deep to be sure. */
export function hasOneReading(bytes: Buffer, value: Span): boolean {
  const { start, end } = value;
  if (start === -1) return true;
  const scanner = new Scanner();
  scanner.open(bytes, end);
  // All keys side by side, escapes resolved; resolving never makes a string longer.
  const keys = Buffer.allocUnsafe(end - start);
  let used = 0;
  const sets: KeySet[] = [];
  let depth = 0;
  for (let at = start; at < end;) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      const past = scanner.string(at + 1);
      if (bytes[skipSpace(bytes, past)] === COLON && past < end) {
        const length = unescape(bytes, { start: at, end: past }, keys, used);
        if (!sets[depth]!.add(keys, used, used + length)) return false;
        used += length;
      }
      at = past;
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return false;
      if (sets[depth] === undefined) sets[depth] = new KeySet();
      else sets[depth]!.clear();
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
    at += 1;
  }
  return true;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at]! <= SPACE) at += 1;
  return at;
}
