// Compares a raw JSON string with a text, escapes resolved, without making a string of the frame's bytes.
import type { Span } from "./spans.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const SHORT_ESCAPES: Readonly<Record<number, number>> = {
  0x22: 0x22,
  0x5c: 0x5c,
  0x2f: 0x2f,
  0x62: 0x08,
  0x66: 0x0c,
  0x6e: 0x0a,
  0x72: 0x0d,
  0x74: 0x09,
};

/**
 * Whether the span is a string that means `text` (UTF-8, without quotes), however it is spelled: `"id"` and `"\u0069d"`
 * both mean `id`. The frame has to be valid JSON. A lone surrogate equals nothing.
 */
export function stringEquals(bytes: Buffer, span: Span, text: Buffer): boolean {
  const { start, end } = span;
  if (start === -1 || bytes[start] !== QUOTE) return false;
  const last = end - 1;
  let at = start + 1;
  let matched = 0;
  while (at < last) {
    const byte = bytes[at]!;
    if (byte !== BACKSLASH) {
      if (text[matched] !== byte) return false;
      at += 1;
      matched += 1;
      continue;
    }
    const escape = bytes[at + 1]!;
    if (escape !== LOWER_U) {
      if (text[matched] !== SHORT_ESCAPES[escape]) return false;
      at += 2;
      matched += 1;
      continue;
    }
    let codePoint = codeUnit(bytes, at + 2);
    at += 6;
    if (isHighSurrogate(codePoint) && bytes[at] === BACKSLASH && bytes[at + 1] === LOWER_U) {
      const low = codeUnit(bytes, at + 2);
      if (!isLowSurrogate(low)) return false;
      codePoint = 0x10000 + ((codePoint - 0xd800) << 10) + (low - 0xdc00);
      at += 6;
    }
    const length = matchCodePoint(text, matched, codePoint);
    if (length === 0) return false;
    matched += length;
  }
  return matched === text.length;
}

function codeUnit(bytes: Buffer, at: number): number {
  let unit = 0;
  for (let digit = at; digit < at + 4; digit += 1) {
    const byte = bytes[digit]!;
    unit = unit * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return unit;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** How many bytes of the text at this place spell the code point in UTF-8; 0 if they do not. */
function matchCodePoint(text: Buffer, at: number, codePoint: number): number {
  if (codePoint < 0x80) return text[at] === codePoint ? 1 : 0;
  const trailing = codePoint < 0x800 ? 1 : codePoint < 0x10000 ? 2 : 3;
  const lead = trailing === 1 ? 0xc0 : trailing === 2 ? 0xe0 : 0xf0;
  if (text[at] !== (lead | (codePoint >> (6 * trailing)))) return 0;
  for (let index = 1; index <= trailing; index += 1) {
    if (text[at + index] !== (0x80 | ((codePoint >> (6 * (trailing - index))) & 0x3f))) return 0;
  }
  return trailing + 1;
}
