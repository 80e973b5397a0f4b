// The numbers that the demo agent's /flood writes at the beginning of each text, and what is wrong with their order.
const SESSION = Buffer.from('"sessionId":"');
const TEXT = Buffer.from('"text":"');
const QUOTE = 0x22;
const DIGITS = 10;

/** Undefined: this update is none of a flood. */
export function numberOf(bytes: Buffer, start: number, end: number): number | undefined {
  const at = bytes.indexOf(TEXT, start) + TEXT.length;
  if (at < TEXT.length || at + DIGITS >= end) return undefined;
  let number = 0;
  for (let i = at; i < at + DIGITS; i++) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}

export function sessionOf(bytes: Buffer, start: number): string {
  const from = bytes.indexOf(SESSION, start) + SESSION.length;
  return bytes.toString("latin1", from, bytes.indexOf(QUOTE, from));
}
