// Files that one daemon made and may remove: only while they are still the very ones that it made.
import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { withUmask } from "./private-folder.ts";

/** What tells one file from a later one at the same path; an inode number alone is given out again. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
}

export function identityOf(path: string): FileIdentity | undefined {
  try {
    const { dev, ino, mtimeNs } = lstatSync(path, { bigint: true });
    return { dev, ino, mtimeNs };
  } catch {
    return undefined; // gone
  }
}

export function isSameFile(path: string, identity: FileIdentity): boolean {
  const found = identityOf(path);
  return found?.ino === identity.ino && found.dev === identity.dev && found.mtimeNs === identity.mtimeNs;
}

/** Writes the whole file 0600 beside its place and moves it there: a reader sees the old one or the new one. */
export function writeWhole(path: string, content: string): FileIdentity | undefined {
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    withUmask(0o077, () => writeFileSync(beside, content, { flag: "wx", mode: 0o600 }));
    renameSync(beside, path);
  } catch (error) {
    removeQuietly(beside);
    throw error;
  }
  return identityOf(path);
}

/** True when it was ours and is gone. */
export function removeIfSame(path: string, identity: FileIdentity, content?: string): boolean {
  if (!isSameFile(path, identity)) return false;
  try {
    if (content !== undefined && readFileSync(path, "utf8") !== content) return false;
    unlinkSync(path);
    return true;
  } catch {
    return false; // somebody else removed it in between
  }
}

export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never there, or is gone already.
  }
}
