// The files that hold the chain of records, oldest first, and the ends of one file. It writes nothing.
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/** The file in use. */
export function currentPath(stateDir: string): string {
  return join(stateDir, "audit.ndjson");
}

/** A full file is named by its last record, so one rename rotates and names sort by age. */
export function rotatedPath(stateDir: string, lastSequence: number): string {
  return join(stateDir, `audit.${String(lastSequence).padStart(16, "0")}.ndjson`);
}

/** Full files, oldest first. Throws when the folder cannot be read. */
export function rotatedPaths(stateDir: string): string[] {
  return readdirSync(stateDir)
    .filter((name) => /^audit\.\d{16}\.ndjson$/.test(name))
    .sort()
    .map((name) => join(stateDir, name));
}

export interface FileEnd {
  /** The last line that has its line feed, without it. */
  readonly lastLine: Buffer | undefined;
  /** What comes after the last line feed; empty when the file ends well. */
  readonly fragment: Buffer;
}

const lineFeed = 0x0a;
/** Longer than any record. */
const windowBytes = 1024 * 1024;
/** No file of ours gets this long; a longer one is somebody else's. */
const longestFile = 1024 * 1024 * 1024;

/** The end of one file; an absent file has none. */
export function readEnd(path: string): FileEnd {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return { lastLine: undefined, fragment: Buffer.alloc(0) };
  const near = readPart(path, (size) => [Math.max(0, size - windowBytes), size]);
  const end = endOf(near.bytes);
  if (near.start === 0 || end.startsInside) return end;
  return endOf(readPart(path, (size) => [0, size]).bytes);
}

/** The first line of a file without its line feed, undefined when there is none within reach. */
export function readFirstLine(path: string): Buffer | undefined {
  const { bytes } = readPart(path, (size) => [0, Math.min(size, windowBytes)]);
  const end = bytes.indexOf(lineFeed);
  return end === -1 ? undefined : bytes.subarray(0, end);
}

function endOf(bytes: Buffer): FileEnd & { readonly startsInside: boolean } {
  const last = bytes.lastIndexOf(lineFeed);
  if (last === -1) return { lastLine: undefined, fragment: bytes, startsInside: false };
  const before = last === 0 ? -1 : bytes.lastIndexOf(lineFeed, last - 1);
  return {
    lastLine: bytes.subarray(before + 1, last),
    fragment: bytes.subarray(last + 1),
    startsInside: before !== -1,
  };
}

function readPart(path: string, range: (size: number) => [number, number]): { bytes: Buffer; start: number } {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    const [start, end] = range(size);
    if (end - start > longestFile) throw new RangeError(`${path} is too long to be a decision record`);
    const bytes = Buffer.alloc(end - start);
    const read = readSync(descriptor, bytes, 0, bytes.length, start);
    return { bytes: bytes.subarray(0, read), start };
  } finally {
    closeSync(descriptor);
  }
}
