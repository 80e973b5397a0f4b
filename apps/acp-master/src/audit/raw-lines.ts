// Cuts the files of a chain into their raw lines, oldest file first. It judges nothing.
import { readFileSync } from "node:fs";

export interface RawLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Without the line feed. */
  readonly bytes: Buffer;
  readonly terminated: boolean;
}

/** One file in memory at a time. Throws when a file cannot be read. */
export function* rawLines(files: readonly string[]): Generator<RawLine> {
  for (const file of files) {
    const bytes = readFileSync(file);
    let line = 1;
    for (let start = 0; start < bytes.length; line++) {
      const end = bytes.indexOf(0x0a, start);
      yield { file, line, bytes: bytes.subarray(start, end === -1 ? bytes.length : end), terminated: end !== -1 };
      start = end === -1 ? bytes.length : end + 1;
    }
  }
}
