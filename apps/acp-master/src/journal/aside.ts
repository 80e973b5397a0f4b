// Puts what is not ours, or no longer part of a journal, under another name beside it, so that nothing is lost from disk.

import { closeSync, existsSync, fsyncSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { CREATE, openRegular, READ } from "./open-regular.ts";

const SLICE_BYTES = 1024 * 1024;
const MAX_NAMES = 1000;

/** `<stem>-1`, or the next number that is free. */
function freeName(stem: string): string {
  for (let n = 1; n <= MAX_NAMES; n++) if (!existsSync(`${stem}-${n}`)) return `${stem}-${n}`;
  throw Object.assign(new Error(`${stem}-1 and so on are all taken`), { code: "EEXIST" });
}

/** Moves the file whole; returns its new path. */
export function moveAside(path: string, stem: string): string {
  const name = freeName(stem);
  renameSync(path, name);
  return name;
}

/** Copies the file from byte `from` on; returns the path of the copy, which is on disk. */
export function copyAside(path: string, from: number, stem: string): string {
  const name = freeName(stem);
  const source = openRegular(path, READ).descriptor;
  try {
    const target = openRegular(name, CREATE).descriptor;
    try {
      copyBytes(source, target, { from, to: Number.POSITIVE_INFINITY, at: 0 });
      fsyncSync(target);
    } catch (error) {
      rmSync(name, { force: true });
      throw error;
    } finally {
      closeSync(target);
    }
    return name;
  } finally {
    closeSync(source);
  }
}

export interface Range {
  readonly from: number;
  readonly to: number;
  /** Where the copy begins in the target. */
  readonly at: number;
}

/** Copies what there is of the range. */
export function copyBytes(source: number, target: number, { from, to, at }: Range): void {
  const window = Buffer.allocUnsafe(Math.min(SLICE_BYTES, to - from));
  for (let position = from; position < to;) {
    const count = readSync(source, window, 0, Math.min(window.length, to - position), position);
    if (count === 0) return;
    writeFully(target, window.subarray(0, count), at + position - from);
    position += count;
  }
}

/** `position` null: where the file ends. */
export function writeFully(descriptor: number, bytes: Buffer, position: number | null): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position === null ? null : position + done);
  }
}
