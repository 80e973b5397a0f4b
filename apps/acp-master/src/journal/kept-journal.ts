// Finds out what a journal on disk holds: its index and its file, which may disagree. It changes nothing on disk.

import { closeSync, fstatSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { type FrameScan, scanFrames } from "./frame-scan.ts";
import type { OpenedTicket } from "./index-lines.ts";
import type { IndexState } from "./index-state.ts";
import { openRegular, READ } from "./open-regular.ts";
import { SessionIndex } from "./session-index.ts";

export interface KeptJournal {
  readonly index: SessionIndex;
  readonly base: number;
  readonly goodBytes: number;
  readonly torn: boolean;
  readonly identity: { readonly dev: number; readonly ino: number } | undefined;
  /** What was found amiss, for people. */
  readonly findings: readonly string[];
}

export const journalPath = (folder: string): string => join(folder, "journal.ndjson");
const indexPath = (folder: string): string => join(folder, "index.ndjson");

/** Yields between slices of a long journal. Never throws: what cannot be read counts as not there, and is reported. */
export function* readKeptJournal(folder: string): Generator<undefined, KeptJournal> {
  const index = new SessionIndex(indexPath(folder));
  const { state } = index;
  const findings = index.problem === undefined ? [] : [index.problem];
  const path = journalPath(folder);
  // Once frames are written again the file's size no longer tells, so the index has to say it before.
  if (state.moving) index.mustRewrite();
  const file = yield* readFile(path, state);
  const { goodBytes, rest } = file.scan;
  if (file.code !== undefined) findings.push(`${path} cannot be read (${file.code})`);
  if (rest === "torn") findings.push(`${path}: its last frame was not written to its end and is cut off`);
  if (rest === "foreign") {
    findings.push(
      `${path}: from byte ${goodBytes} on, ${file.size - goodBytes} bytes are none of its own; ` +
        "they are not shown, and moved to journal.foreign-<n> before anything is written behind them",
    );
  }
  if (!index.wasRead && file.size > 0) findings.push(`${index.path} is missing or unreadable; positions begin anew`);
  if (goodBytes === 0 && state.highest > 0) {
    // Positions that were given out are not given out again.
    state.startOver(state.highest);
    index.mustRewrite();
  }
  state.cutAt(state.base + goodBytes);
  state.start = Math.max(state.start, state.base);
  return { index, base: state.base, goodBytes, torn: rest === "torn", identity: file.identity, findings };
}

/** Tickets that a former run opened and did not settle. Reads the index alone, so it is cheap for many sessions. */
export function readKeptTickets(folder: string): readonly OpenedTicket[] {
  return [...new SessionIndex(indexPath(folder)).state.tickets.values()];
}

interface FoundFile {
  readonly size: number;
  readonly scan: FrameScan;
  readonly identity: KeptJournal["identity"];
  readonly code: string | undefined;
}

const NOTHING: FoundFile = { size: 0, scan: { goodBytes: 0, rest: "nothing" }, identity: undefined, code: undefined };

function* readFile(path: string, state: IndexState): Generator<undefined, FoundFile> {
  try {
    const { descriptor } = openRegular(path, READ);
    try {
      const stat = fstatSync(descriptor, { bigint: true });
      const size = Number(stat.size);
      const identity = { dev: Number(stat.dev), ino: Number(stat.ino) };
      state.settleMove(size);
      const rested = state.rest?.bytes === size && state.rest.modified === String(stat.mtimeNs);
      const scan: FrameScan = rested ? { goodBytes: size, rest: "nothing" } : yield* scanFrames(descriptor, size);
      return { size, scan, identity, code: undefined };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    state.settleMove(0);
    const code = errorCode(error);
    return { ...NOTHING, code: code === "ENOENT" || code === "ENOTDIR" ? undefined : code };
  }
}
