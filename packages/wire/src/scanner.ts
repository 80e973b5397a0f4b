// Strict JSON (RFC 8259) as a walk over bytes: it finds where a value ends and refuses what is no JSON. It builds nothing, allocates
// nothing per value and nests no calls, so that neither size nor depth of a frame matters. It does not check UTF-8, it only says when to.

import { BLOCK_BYTES, LongString } from "./long-string.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Words are compared lowest byte first; on a big-endian machine the byte loop does all the work. */
const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
/** A view is kept from frame to frame of one chunk, but a big buffer is not held alive for it. */
const KEPT_WORDS = 1 << 18;
const INITIAL_DEPTH_BITS = 1 << 10;
const KEPT_DEPTH_BITS = 1 << 16;

/** What may follow a backslash: 1 stands alone, 2 needs four hexadecimal digits. */
const ESCAPE = new Uint8Array(256);
for (const char of Buffer.from('"\\/bfnrt')) ESCAPE[char] = 1;
ESCAPE[0x75] = 2;
/** 1 for every byte that is no hexadecimal digit. */
const NOT_HEX = new Uint8Array(256).fill(1);
for (const char of Buffer.from("0123456789abcdefABCDEF")) NOT_HEX[char] = 0;

/** Looks at strings from `longWords` on. Loaded with the first of them; where it cannot be had, none is long. */
let longString: LongString | undefined;
let longWords = 512 >> 2;

const NO_BYTES = Buffer.alloc(0);
const NO_VIEW = new DataView(new ArrayBuffer(0));
const NO_WORDS = new Int32Array(0);

export class Scanner {
  /** Some string had an escape since this was last set to false. */
  sawEscape = false;
  /** White space held a carriage return. */
  sawReturn = false;
  /** The text of the string value that was watched for; -1: none was there. */
  watchedFrom = -1;
  watchedTo = -1;
  private watchAt = -1;
  private bytes: Buffer = NO_BYTES;
  private end = 0;
  private base = 0;
  private words: Int32Array = NO_WORDS;
  private viewed: Buffer = NO_BYTES;
  private viewOfViewed: DataView = NO_VIEW;
  private wordLimit = 0;
  private highBits = 0;
  /** One bit per open object or array that is not the innermost one: 1 for an object. */
  private depthBits: Int32Array = new Int32Array(INITIAL_DEPTH_BITS >> 5);

  open(bytes: Buffer, end: number): void {
    this.end = end;
    this.highBits = 0;
    this.sawEscape = false;
    this.sawReturn = false;
    if (this.bytes !== bytes) this.view(bytes);
    this.wordLimit = Math.min(this.words.length, (this.base + end + 3) >> 2);
  }

  /** The string value at this place is of interest; -1: none is. */
  watch(at: number): void {
    this.watchAt = at;
    this.watchedFrom = -1;
  }

  /** Lets go of a big frame; a small chunk stays until it is let go, as it often holds the next frame too. */
  close(): void {
    if (this.words.length > KEPT_WORDS) this.letGo();
    if (this.depthBits.length > KEPT_DEPTH_BITS >> 5) this.depthBits = new Int32Array(INITIAL_DEPTH_BITS >> 5);
  }

  /** Holds no bytes any more. */
  letGo(): void {
    this.bytes = NO_BYTES;
    this.words = NO_WORDS;
    this.viewed = NO_BYTES;
    this.viewOfViewed = NO_VIEW;
  }

  private view(bytes: Buffer): void {
    const { buffer } = bytes;
    if (this.words.buffer !== buffer) {
      this.words = LITTLE_ENDIAN ? new Int32Array(buffer, 0, buffer.byteLength >> 2) : NO_WORDS;
    }
    this.bytes = bytes;
    this.base = bytes.byteOffset;
    this.viewed = NO_BYTES;
    this.viewOfViewed = NO_VIEW;
  }

  /** The bytes of a chunk, for words at any place. */
  dataView(bytes: Buffer): DataView {
    if (this.viewed !== bytes) {
      this.viewed = bytes;
      this.viewOfViewed = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.viewOfViewed;
  }

  /** False means that all strings were ASCII. True means that the frame's UTF-8 has to be checked. */
  get sawHighBytes(): boolean {
    return (this.highBits & 0x80808080) !== 0;
  }

  /** The first position from here on that is no white space, at most the end. */
  space(from: number): number {
    const { bytes, end } = this;
    let at = from;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte > 0x20) return at;
      if (byte === 0x0d) this.sawReturn = true;
      else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x09) return at;
      at += 1;
    }
    return at;
  }

  /** From the byte after the opening quote to the byte after the closing one; -1 where it is no JSON string. */
  string(from: number): number {
    const { bytes, words, base, end } = this;
    const wordLimit = Math.min(this.wordLimit, ((base + from) >> 2) + longWords);
    let high = 0;
    let at = from;
    for (;;) {
      let index = (base + at) >> 2;
      if (index >= wordLimit) break;
      // The bytes of the word before `at` are replaced by letters.
      const kept = -1 << (((base + at) & 3) << 3);
      let word = (words[index]! & kept) | (0x61616161 & ~kept);
      let stops = stopBits(word);
      while (stops === 0) {
        high |= word;
        index += 1;
        if (index >= wordLimit) break;
        word = words[index]!;
        stops = stopBits(word);
      }
      if (stops === 0) {
        at = (index << 2) - base;
        break;
      }
      high |= word;
      at = (index << 2) - base + ((31 - Math.clz32(stops & -stops)) >> 3);
      if (at >= end) return -1;
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.highBits |= high;
        return at + 1;
      }
      if (byte !== BACKSLASH) return -1;
      do {
        at = this.escape(at);
        if (at < 0) return -1;
      } while (at < end && bytes[at] === BACKSLASH);
    }
    this.highBits |= high;
    return wordLimit < this.wordLimit && end - at >= BLOCK_BYTES ? this.longString(at) : this.stringByBytes(at);
  }

  /** From within a string on, not within an escape. */
  private longString(from: number): number {
    const { bytes, end } = this;
    longString ??= LongString.load();
    if (longString === undefined) {
      longWords = Number.MAX_SAFE_INTEGER;
      return this.string(from);
    }
    longString.sawEscape = false;
    longString.sawHighBytes = false;
    const found = longString.end(bytes, from, end);
    if (longString.sawEscape) this.sawEscape = true;
    if (longString.sawHighBytes) this.highBits = -1;
    return found >= -1 ? found : this.stringByBytes(-2 - found);
  }

  /** The last bytes of a string; where words are read the other way round, all of it. */
  private stringByBytes(from: number): number {
    const { bytes, end } = this;
    let at = from;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at + 1;
      if (byte < 0x20) return -1;
      if (byte === BACKSLASH) {
        at = this.escape(at);
        if (at < 0) return -1;
      } else {
        if (byte >= 0x80) this.highBits = -1;
        at += 1;
      }
    }
    return -1;
  }

  private escape(at: number): number {
    const { bytes, end } = this;
    this.sawEscape = true;
    if (at + 1 >= end) return -1;
    const kind = ESCAPE[bytes[at + 1]!];
    if (kind === 1) return at + 2;
    if (kind === 0 || at + 6 > end) return -1;
    const bad =
      NOT_HEX[bytes[at + 2]!]! | NOT_HEX[bytes[at + 3]!]! | NOT_HEX[bytes[at + 4]!]! | NOT_HEX[bytes[at + 5]!]!;
    return bad === 0 ? at + 6 : -1;
  }

  /** From the first byte of a key's quote to the first byte of its value; -1 where there is no `"key":`. */
  private key(from: number): number {
    const { bytes, end } = this;
    if (from >= end || bytes[from] !== QUOTE) return -1;
    let at = this.string(from + 1);
    if (at < 0) return -1;
    if (at < end && bytes[at]! <= SPACE) at = this.space(at);
    if (at >= end || bytes[at] !== COLON) return -1;
    at += 1;
    return at < end && bytes[at]! <= SPACE ? this.space(at) : at;
  }

  /** From the first byte of a value to the byte after it; -1 where there is no valid JSON value. */
  value(from: number): number {
    const { bytes, end } = this;
    let { depthBits } = this;
    let at = from;
    let depth = 0;
    let inObject = false;
    for (;;) {
      if (at >= end) return -1;
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        const text = at + 1;
        at = this.string(text);
        if (text <= this.watchAt && this.watchAt < at) {
          this.watchedFrom = text;
          this.watchedTo = at - 1;
        }
      } else if (byte === MINUS || isDigit(byte)) {
        at = this.number(at);
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        const opensObject = byte === OPEN_BRACE;
        at += 1;
        if (at < end && bytes[at]! <= SPACE) at = this.space(at);
        if (at < end && bytes[at] === (opensObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
          at += 1;
        } else {
          if (depth >> 5 >= depthBits.length) depthBits = this.deepen();
          if (inObject) depthBits[depth >> 5]! |= 1 << (depth & 31);
          else depthBits[depth >> 5]! &= ~(1 << (depth & 31));
          depth += 1;
          inObject = opensObject;
          if (inObject) at = this.key(at);
          if (at < 0) return -1;
          continue;
        }
      } else {
        at = this.literal(at, byte);
      }
      if (at < 0) return -1;
      // After a value: close what ends here, or go on to the next value.
      for (;;) {
        if (depth === 0) return at;
        if (at < end && bytes[at]! <= SPACE) at = this.space(at);
        if (at >= end) return -1;
        const next = bytes[at]!;
        at += 1;
        if (next === COMMA) {
          if (at < end && bytes[at]! <= SPACE) at = this.space(at);
          if (inObject) at = this.key(at);
          if (at < 0) return -1;
          break;
        }
        if (next !== (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) return -1;
        depth -= 1;
        inObject = (depthBits[depth >> 5]! & (1 << (depth & 31))) !== 0;
      }
    }
  }

  private deepen(): Int32Array {
    const deeper = new Int32Array(this.depthBits.length * 2);
    deeper.set(this.depthBits);
    this.depthBits = deeper;
    return deeper;
  }

  private literal(at: number, byte: number): number {
    if (byte === 0x74) return this.word(at, 0x72, 0x75, 0x65);
    if (byte === 0x6e) return this.word(at, 0x75, 0x6c, 0x6c);
    if (byte === 0x66)
      return this.end - at >= 5 && this.bytes[at + 1] === 0x61 ? this.word(at + 1, 0x6c, 0x73, 0x65) : -1;
    return -1;
  }

  private word(at: number, second: number, third: number, fourth: number): number {
    const { bytes } = this;
    if (this.end - at < 4) return -1;
    return bytes[at + 1] === second && bytes[at + 2] === third && bytes[at + 3] === fourth ? at + 4 : -1;
  }

  private number(from: number): number {
    const { bytes, end } = this;
    let at = bytes[from] === MINUS ? from + 1 : from;
    const whole = at;
    while (at < end && isDigit(bytes[at]!)) at += 1;
    if (at === whole || (at > whole + 1 && bytes[whole] === ZERO)) return -1;
    if (at >= end || bytes[at]! < POINT) return at; // Most numbers end here, with a comma.
    if (bytes[at] === POINT) {
      at += 1;
      const fraction = at;
      while (at < end && isDigit(bytes[at]!)) at += 1;
      if (at === fraction) return -1;
    }
    if (at < end && (bytes[at]! | 0x20) === 0x65) {
      at += 1;
      if (at < end && (bytes[at] === 0x2b || bytes[at] === MINUS)) at += 1;
      const exponent = at;
      while (at < end && isDigit(bytes[at]!)) at += 1;
      if (at === exponent) return -1;
    }
    return at;
  }
}

/** The top bit of each byte that is a quote, a backslash or a control character; above the lowest such byte also of others. */
function stopBits(word: number): number {
  const flipped = word ^ 0x02020202; // A quote becomes 0x20, so that one comparison finds it and the control characters.
  const slashes = word ^ 0x5c5c5c5c;
  return (((flipped - 0x21212121) & ~flipped) | ((slashes - 0x01010101) & ~slashes)) & 0x80808080;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
