// Writes what a raw JSON string means, as bytes: escapes resolved, no string made of them. A lone surrogate keeps three bytes of its own.
import type { Span } from "./spans.ts";

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const SHORT_ESCAPES = new Uint8Array(256);
for (const [from, to] of ['""', "\\\\", "//", "b\b", "f\f", "n\n", "r\r", "t\t"]) {
  SHORT_ESCAPES[from!.charCodeAt(0)] = to!.charCodeAt(0);
}

/** The span is a string with its quotes, of valid JSON. Returns the number of bytes written, never more than it has. */
export function unescape(bytes: Buffer, span: Span, into: Buffer, offset: number): number {
  const last = span.end - 1;
  let to = offset;
  let at = span.start + 1;
  while (at < last) {
    const byte = bytes[at]!;
    if (byte !== BACKSLASH) {
      into[to] = byte;
      to += 1;
      at += 1;
    } else if (bytes[at + 1] !== LOWER_U) {
      into[to] = SHORT_ESCAPES[bytes[at + 1]!]!;
      to += 1;
      at += 2;
    } else {
      let codePoint = codeUnit(bytes, at + 2);
      at += 6;
      if (codePoint >= 0xd800 && codePoint <= 0xdbff && bytes[at] === BACKSLASH && bytes[at + 1] === LOWER_U) {
        const low = codeUnit(bytes, at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
          codePoint = 0x10000 + ((codePoint - 0xd800) << 10) + (low - 0xdc00);
          at += 6;
        }
      }
      to += putCodePoint(into, to, codePoint);
    }
  }
  return to - offset;
}

function codeUnit(bytes: Buffer, at: number): number {
  let unit = 0;
  for (let digit = at; digit < at + 4; digit += 1) {
    const byte = bytes[digit]!;
    unit = unit * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return unit;
}

function putCodePoint(into: Buffer, at: number, codePoint: number): number {
  if (codePoint < 0x80) {
    into[at] = codePoint;
    return 1;
  }
  const trailing = codePoint < 0x800 ? 1 : codePoint < 0x10000 ? 2 : 3;
  const lead = trailing === 1 ? 0xc0 : trailing === 2 ? 0xe0 : 0xf0;
  into[at] = lead | (codePoint >> (6 * trailing));
  for (let index = 1; index <= trailing; index += 1) {
    into[at + index] = 0x80 | ((codePoint >> (6 * (trailing - index))) & 0x3f);
  }
  return trailing + 1;
}
