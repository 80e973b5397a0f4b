// All sessions that are kept on disk, for the start of the daemon. It opens no journal.

import { type Dirent, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { folderName, isFolderName, readRecord, removedName, sessionsDir } from "./session-folder.ts";
import type { SessionRecord } from "./session-record.ts";

export interface KeptSessions {
  readonly records: readonly SessionRecord[];
  /** Each says what cannot be read and what to do. Nothing of it was changed. */
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 100;

/** Reads one small file per session. What a removal left behind when it was interrupted is removed. */
export function listKeptSessions(stateDir: string): KeptSessions {
  const dir = sessionsDir(stateDir);
  const problems: string[] = [];
  const records: SessionRecord[] = [];
  for (const entry of entriesOf(dir, problems)) {
    const path = join(dir, entry.name);
    if (isRemoval(entry)) rmSync(path, { recursive: true, force: true });
    if (!isFolderName(entry.name)) continue;
    if (!entry.isDirectory()) {
      problems.push(`${path} is no folder, so it is not listed as a session. Remove it.`);
      continue;
    }
    const read = readRecord(path);
    if (!read.ok) problems.push(read.message);
    else if (folderName(read.record.agent, read.record.agentId) === entry.name) records.push(read.record);
    else problems.push(`${path} holds the record of another session and is not listed. Remove the folder.`);
  }
  const surplus = problems.length - MAX_PROBLEMS;
  if (surplus > 0) problems.splice(MAX_PROBLEMS, surplus, `${dir}: ${surplus} more folders cannot be read.`);
  return { records, problems };
}

function entriesOf(dir: string, problems: string[]): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT") problems.push(`${dir} cannot be read (${code}), so no session of before is listed.`);
    return [];
  }
}

function isRemoval(entry: Dirent): boolean {
  const prefix = removedName("");
  return entry.name.startsWith(prefix) && isFolderName(entry.name.slice(prefix.length)) && entry.isDirectory();
}
