// Looks whether the decision record can be read and its last line is whole. It verifies no chain and repairs nothing.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { errorCode } from "../config/error-code.ts";
import type { Finding } from "./doctor.ts";

const longestLine = 1024 * 1024;

export function checkRecord(file: string): Finding {
  const check = "record";
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return { check, ok: true, found: `${file} (made at the first decision)` };
    return { check, ok: false, found: `${file} cannot be read (${code})`, next: `Run: chmod u+rw '${file}'` };
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size === 0) return { check, ok: true, found: `${file} is empty` };
    const length = Math.min(size, longestLine);
    const end = Buffer.alloc(length);
    readSync(descriptor, end, 0, length, size - length);
    return lastLineIsWhole(end)
      ? { check, ok: true, found: `${file}, ${size} bytes` }
      : {
          check,
          ok: false,
          found: `${file} ends in a torn line`,
          next: "Start the daemon: it marks the line and goes on.",
        };
  } catch (error) {
    const code = errorCode(error);
    return { check, ok: false, found: `${file} cannot be read (${code})`, next: "Put a regular file there, or none." };
  } finally {
    closeSync(descriptor);
  }
}

function lastLineIsWhole(end: Buffer): boolean {
  const text = end.toString("utf8");
  if (!text.endsWith("\n")) return false;
  const last = text.trimEnd().split("\n").at(-1) ?? "";
  try {
    JSON.parse(last);
    return true;
  } catch {
    return false;
  }
}
