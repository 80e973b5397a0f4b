// Checks the whole decision record against its chain and its head. It reads only, also while a daemon writes.
import { existsSync } from "node:fs";
import { errorCode } from "../config/error-code.ts";
import { ChainCheck, type Finding } from "./chain-check.ts";
import { currentPath, rotatedPaths } from "./chain-files.ts";
import { headPath, readHead } from "./head-file.ts";
import { rawLines } from "./raw-lines.ts";

export type { Finding } from "./chain-check.ts";

export interface AuditVerification {
  readonly ok: boolean;
  readonly records: number;
  readonly files: number;
  /** Records that were changed, cut, moved or removed, and what makes that impossible to rule out. */
  readonly problems: readonly Finding[];
  /** What happened and lost nothing, such as a torn line that the daemon marked. */
  readonly notices: readonly Finding[];
}

/** A running daemon can rotate or write between two of our reads. */
const attempts = 5;

/**
 * Never throws. The chain has no key: it shows accidents and edits, not the work of somebody who rewrites every line and the head.
 *
 *     const { ok, problems } = verifyAudit(places.stateDir);
 */
export function verifyAudit(stateDir: string): AuditVerification {
  for (let attempt = 1; ; attempt++) {
    const before = headText(stateDir);
    const found = verifyOnce(stateDir);
    if (found.ok || attempt === attempts || headText(stateDir) === before) return found;
  }
}

function verifyOnce(stateDir: string): AuditVerification {
  const current = currentPath(stateDir);
  try {
    // The head first: records that come later only lengthen the chain behind it.
    const head = readHead(stateDir);
    const rotated = existsSync(stateDir) ? rotatedPaths(stateDir) : [];
    const files = existsSync(current) ? [...rotated, current] : rotated;
    if (files.length === 0 && head === "absent") {
      return failed(current, "there is no decision record: no daemon has run here, or it was removed");
    }
    const check = new ChainCheck(typeof head === "string" ? undefined : head);
    for (const raw of rawLines(files)) check.line(raw);
    check.finish();
    const problems = check.problems.map((problem) => (problem.file === "" ? { ...problem, file: current } : problem));
    if (typeof head === "string") {
      const what = head === "absent" ? "the head is missing" : "the head is damaged";
      problems.push({ file: headPath(stateDir), line: 1, what: `${what}, so a cut tail cannot be ruled out` });
    }
    if (files.at(-1) !== current) problems.push({ file: current, line: 0, what: "the file in use is missing" });
    return { ok: problems.length === 0, records: check.records, files: files.length, problems, notices: check.notices };
  } catch (error) {
    return failed(current, `the decision record cannot be read (${errorCode(error)})`);
  }
}

function failed(file: string, what: string): AuditVerification {
  return { ok: false, records: 0, files: 0, problems: [{ file, line: 0, what }], notices: [] };
}

function headText(stateDir: string): string {
  try {
    return JSON.stringify(readHead(stateDir));
  } catch (error) {
    return errorCode(error);
  }
}
