// The end of a JSON string, 64 bytes at a time, in AssemblyScript: `npm run wasm` makes ../src/string-end-code.ts of it.
//
// The text stands from address 0 on. Of each block bit masks are made, one bit per byte: where quotes, backslashes and control
// characters are, which bytes stand behind a backslash that is not itself escaped, and which have to be hexadecimal digits.
// What text holds costs no branch per byte that way.

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const LETTER_U: u8 = 0x75;
const SPACE: u8 = 0x20;
const EVEN: u64 = 0x5555555555555555;

// What a byte is, looked up by its two halves and combined with "and": the bits 1, 2 and 4 say that it may stand behind a
// backslash (" and / are 2_, b, f, n are 6_, r, t, u are 7_), the bits 8 and 16 that it is a hexadecimal digit (3_ or 4_, 6_).
const ESCAPABLE: u8 = 7;
const HEXADECIMAL: u8 = 24;
const byHighHalf = i8x16(0, 0, 1, 8, 16, 0, 18, 4, 0, 0, 0, 0, 0, 0, 0, 0);
const byLowHalf = i8x16(8, 24, 31, 24, 28, 28, 26, 8, 8, 8, 0, 0, 0, 0, 2, 1);

/** Some byte was above ASCII, at or before the end or less than 64 behind it. */
export let sawHighBytes: i32 = 0;
/** There was a backslash before the end. */
export let sawEscape: i32 = 0;

function equal(bytes: v128, byte: u8): v128 {
  return i8x16.eq(bytes, i8x16.splat(byte));
}

function control(bytes: v128): v128 {
  return i8x16.lt_u(bytes, i8x16.splat(SPACE));
}

function special(bytes: v128): v128 {
  return v128.or(v128.or(equal(bytes, QUOTE), equal(bytes, BACKSLASH)), control(bytes));
}

function classes(bytes: v128): v128 {
  const low = v128.and(bytes, i8x16.splat(15));
  return v128.and(i8x16.swizzle(byHighHalf, i8x16.shr_u(bytes, 4)), i8x16.swizzle(byLowHalf, low));
}

function has(classes: v128, wanted: u8): v128 {
  return i8x16.ne(v128.and(classes, i8x16.splat(wanted)), i8x16.splat(0));
}

function mask(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = (<u32>i8x16.bitmask(a)) | ((<u32>i8x16.bitmask(b)) << 16);
  const high = (<u32>i8x16.bitmask(c)) | ((<u32>i8x16.bitmask(d)) << 16);
  return (<u64>low) | ((<u64>high) << 32);
}

/**
 * Looks at the whole blocks of a text that begins inside a string, not within an escape.
 * Returns the position behind the closing quote; -1: this is no JSON string; else -2 - p, where p is the position before which
 * all is well, with no escape cut in two, and less than 64 bytes before the text's end.
 */
export function stringEnd(length: i32): i32 {
  const whole = length & ~63;
  let at: i32 = 0;
  let seen = i8x16.splat(0);
  /** Bit 0: the block's first byte is escaped. */
  let carried: u64 = 0;
  /** The first bytes of the block that must be hexadecimal digits. */
  let due: u64 = 0;
  let result: i32 = 0;
  sawEscape = 0;
  while (at < whole) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    seen = v128.or(seen, v128.or(v128.or(a, b), v128.or(c, d)));
    const anything = v128.or(v128.or(special(a), special(b)), v128.or(special(c), special(d)));
    if ((carried | due) == 0 && !v128.any_true(anything)) {
      at += 64;
      continue;
    }
    const slashes = mask(equal(a, BACKSLASH), equal(b, BACKSLASH), equal(c, BACKSLASH), equal(d, BACKSLASH));
    let ends = mask(equal(a, QUOTE), equal(b, QUOTE), equal(c, QUOTE), equal(d, QUOTE));
    let bad = mask(control(a), control(b), control(c), control(d));
    let letters: u64 = 0;
    let escapesNext: u64 = 0;
    if ((slashes | carried | due) != 0) {
      // A run of backslashes escapes the byte behind it if it is odd. To add a run's first bit to it carries to that byte; its
      // place then tells the run's parity, with the runs that begin at even and at odd places added apart.
      const open = slashes & ~carried;
      const starts = open & ~(open << 1);
      const behindEven = (open + (starts & EVEN)) & ~open;
      const behindOdd = (open + (starts & ~EVEN)) & ~open;
      const escaped = (behindEven & ~EVEN) | (behindOdd & EVEN) | (carried & ~slashes);
      escapesNext = clz(~open) & 1;
      const ofA = classes(a);
      const ofB = classes(b);
      const ofC = classes(c);
      const ofD = classes(d);
      bad |= escaped & ~mask(has(ofA, ESCAPABLE), has(ofB, ESCAPABLE), has(ofC, ESCAPABLE), has(ofD, ESCAPABLE));
      letters = escaped & mask(equal(a, LETTER_U), equal(b, LETTER_U), equal(c, LETTER_U), equal(d, LETTER_U));
      const digits = due | (letters << 1) | (letters << 2) | (letters << 3) | (letters << 4);
      bad |= digits & ~mask(has(ofA, HEXADECIMAL), has(ofB, HEXADECIMAL), has(ofC, HEXADECIMAL), has(ofD, HEXADECIMAL));
      ends &= ~escaped;
    }
    const stops = ends | bad;
    if (stops != 0) {
      const first = ctz(stops);
      if ((slashes & (((<u64>1) << first) - 1)) != 0) sawEscape = 1;
      result = ((bad >> first) & 1) != 0 ? -1 : at + <i32>first + 1;
      break;
    }
    if (slashes != 0) sawEscape = 1;
    at += 64;
    const dueNext = (letters >> 60) | (letters >> 61) | (letters >> 62) | (letters >> 63);
    if (at == whole && (escapesNext | dueNext) != 0) {
      // An escape goes on behind the last block: whoever goes on begins at its backslash.
      at -= escapesNext != 0 ? 1 : 2 + <i32>clz(letters);
      break;
    }
    carried = escapesNext;
    due = dueNext;
  }
  sawHighBytes = i8x16.bitmask(seen) != 0 ? 1 : 0;
  return result != 0 ? result : -2 - at;
}
