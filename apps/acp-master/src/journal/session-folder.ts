// The folder of one session: its place, its session.json, its end. No id is ever a path, and nothing outside it is touched.

import { createHash } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, mkdirSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { CREATE, InTheWayError, openRegular, READ } from "./open-regular.ts";
import { decodeRecord, encodeRecord, type SessionRecord } from "./session-record.ts";

export type RecordRead =
  | { readonly ok: true; readonly record: SessionRecord }
  | { readonly ok: false; readonly reason: "absent" | "unreadable"; readonly message: string };

export type Done = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** A longer one was not written by us. */
const MAX_RECORD_BYTES = 1024 * 1024;
const NAME = /^[0-9a-f]{32}$/;

export const sessionsDir = (stateDir: string): string => join(stateDir, "sessions");
export const isFolderName = (name: string): boolean => NAME.test(name);
/** Where a folder stands while it is being removed. */
export const removedName = (name: string): string => `.removed-${name}`;

export function folderName(agent: string, agentId: string): string {
  return createHash("sha256").update(`${agent}\0${agentId}`).digest("hex").slice(0, 32);
}

export class SessionFolder {
  readonly path: string;
  readonly #sessions: string;
  readonly #name: string;
  #record: SessionRecord | undefined;

  /** Touches nothing. */
  constructor(stateDir: string, agent: string, agentId: string) {
    this.#sessions = sessionsDir(stateDir);
    this.#name = folderName(agent, agentId);
    this.path = join(this.#sessions, this.#name);
  }

  /** A record that belongs to another session counts as unreadable. */
  read(): RecordRead {
    const read = readRecord(this.path);
    if (!read.ok) return read;
    if (folderName(read.record.agent, read.record.agentId) !== this.#name) return unreadable(this.path, "misplaced");
    this.#record = read.record;
    return read;
  }

  /** Replaces session.json as a whole, also on a power cut. */
  save(record: SessionRecord): Done {
    this.#record = record;
    try {
      this.#make();
      writeRecord(this.path, record);
      return { ok: true };
    } catch (error) {
      return {
        ok: false,
        message:
          `${join(this.path, "session.json")} cannot be written (${errorCode(error)}). ` +
          "Free space there, or make the folder writable; the session goes on, but a restart would not know its latest state.",
      };
    }
  }

  /** Makes the folder, with what was last read or saved in it, where it is not there. Throws the system's error. */
  ensure(): void {
    if (!this.#make() || this.#record === undefined) return;
    writeRecord(this.path, this.#record);
  }

  /** Removes the folder and all in it. A link in its place is not followed and not removed. */
  delete(): Done {
    try {
      const found = lstatSync(this.path, { throwIfNoEntry: false });
      if (found === undefined) return { ok: true };
      if (!found.isDirectory() || !lstatSync(this.#sessions).isDirectory()) {
        return { ok: false, message: `${this.path} is no folder of ours and was left alone. Remove it yourself.` };
      }
      // Under its own name it is gone at once, whatever happens while its files are removed.
      const removed = join(this.#sessions, removedName(this.#name));
      rmSync(removed, { recursive: true, force: true });
      renameSync(this.path, removed);
      rmSync(removed, { recursive: true, force: true });
      return { ok: true };
    } catch (error) {
      return {
        ok: false,
        message: `${this.path} cannot be removed (${errorCode(error)}). Make the folder writable, then remove it.`,
      };
    }
  }

  /** Whether it was not there. */
  #make(): boolean {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return false;
    if (found !== undefined) throw new InTheWayError(`${this.path} is not a folder`);
    mkdirSync(this.#sessions, { recursive: true, mode: 0o700 });
    mkdirSync(this.path, { mode: 0o700 });
    return true;
  }
}

/** The record in that folder, whichever session it names. */
export function readRecord(folder: string): RecordRead {
  const path = join(folder, "session.json");
  try {
    const { descriptor, stat } = openRegular(path, READ);
    try {
      if (stat.size > MAX_RECORD_BYTES) return unreadable(folder, "too long");
      const bytes = Buffer.allocUnsafe(stat.size);
      const record = decodeRecord(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)));
      return record === undefined ? unreadable(folder, "not a record") : { ok: true, record };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return { ok: false, reason: "absent", message: `${path} is not there.` };
    return unreadable(folder, code);
  }
}

function unreadable(folder: string, why: string): RecordRead {
  return {
    ok: false,
    reason: "unreadable",
    message: `${join(folder, "session.json")} cannot be read (${why}), so this session is not listed. Repair it, or remove the folder.`,
  };
}

function writeRecord(folder: string, record: SessionRecord): void {
  const path = join(folder, "session.json");
  const next = `${path}.next`;
  rmSync(next, { force: true });
  const { descriptor } = openRegular(next, CREATE);
  try {
    const bytes = encodeRecord(record);
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(next, path);
}
