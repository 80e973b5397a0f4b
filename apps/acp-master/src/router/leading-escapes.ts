// Terminal control sequences in front of a line: where they end. It judges nothing that comes after them.

const ESCAPE = 0x1b;
const BELL = 0x07;
const BACKSLASH = 0x5c;
/** A title is short; what looks longer is no prefix of a message. */
const MAX_BYTES = 4096;

const isBetween = (byte: number | undefined, first: number, last: number): boolean =>
  byte !== undefined && byte >= first && byte <= last;

/** Position behind all leading sequences; `start` where there is none, or where one has no end. */
export function afterEscapes(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + MAX_BYTES);
  let at = start;
  while (at < limit && bytes[at] === ESCAPE) {
    const next = afterSequence(bytes, at + 1, limit);
    if (next === -1) return start;
    at = next;
  }
  return at;
}

/** From the byte after the escape to the byte after its sequence; -1 where it does not end. */
function afterSequence(bytes: Buffer, from: number, limit: number): number {
  const kind = bytes[from];
  let at = from + 1;
  // CSI: parameters, intermediates, one final byte.
  if (kind === 0x5b) {
    while (at < limit && isBetween(bytes[at], 0x20, 0x3f)) at++;
    return at < limit && isBetween(bytes[at], 0x40, 0x7e) ? at + 1 : -1;
  }
  // OSC and the other strings: up to BEL or ESC \.
  if (kind === 0x5d || kind === 0x50 || kind === 0x58 || kind === 0x5e || kind === 0x5f) {
    for (; at < limit; at++) {
      if (bytes[at] === BELL) return at + 1;
      if (bytes[at] === ESCAPE && bytes[at + 1] === BACKSLASH) return at + 2 <= limit ? at + 2 : -1;
    }
    return -1;
  }
  at = from;
  while (at < limit && isBetween(bytes[at], 0x20, 0x2f)) at++;
  return at < limit && isBetween(bytes[at], 0x30, 0x7e) ? at + 1 : -1;
}
