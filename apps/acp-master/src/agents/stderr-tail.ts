// The last lines that an agent wrote beside the protocol, kept for diagnostics. Bounded; it is never logged by this file.
const maxLines = 64;
const maxBytes = 16 * 1024;
const maxNoiseBytes = 1024;
const LF = 0x0a;

// Terminal control sequences as a whole: CSI, then OSC and the other string kinds, then two-character escapes.
// oxlint-disable-next-line no-control-regex
const escapes = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]/g;
// Controls but tab and line feed; invisible format characters, among them those that reorder text.
const controls = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Holds at most 32 KiB however much is pushed; `text()` gives at most 64 lines and 16 KiB of it, cleaned. */
export class StderrTail {
  readonly #kept = Buffer.allocUnsafe(2 * maxBytes);
  #used = 0;

  push(chunk: Buffer): void {
    const last = chunk.length > maxBytes ? chunk.subarray(chunk.length - maxBytes) : chunk;
    if (this.#used + last.length > this.#kept.length) {
      this.#kept.copyWithin(0, this.#used - maxBytes, this.#used);
      this.#used = maxBytes;
    }
    last.copy(this.#kept, this.#used);
    this.#used += last.length;
  }

  /** A line of stdout that was no message. Its beginning is kept, marked as what it is. */
  pushNoise(line: Buffer): void {
    const marker = this.#used > 0 && this.#kept[this.#used - 1] !== LF ? "\nstdout: " : "stdout: ";
    this.push(Buffer.from(marker));
    this.push(line.subarray(0, maxNoiseBytes));
    this.push(Buffer.from("\n"));
  }

  text(): string {
    let start = Math.max(0, this.#used - maxBytes);
    // A cut may have fallen inside a character.
    if (start > 0) while (start < this.#used && (this.#kept[start]! & 0xc0) === 0x80) start++;
    const cleaned = this.#kept
      .toString("utf8", start, this.#used)
      .replaceAll("\r\n", "\n")
      .replaceAll("\r", "\n")
      .replace(escapes, "")
      .replace(controls, "");
    const lines = cleaned.split("\n").filter((line) => line.trim() !== "");
    return lastBytes(lines.slice(-maxLines).join("\n"));
  }
}

// Bytes that were no UTF-8 grow when they are decoded.
function lastBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}
