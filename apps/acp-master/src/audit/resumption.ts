// Decides how a chain goes on from what its files and its head say. Pure; it repairs nothing itself.
import type { FileEnd } from "./chain-files.ts";
import { emptyHead, type Head, hashOf, parseRecord } from "./record.ts";

/** What a `recovered` record says, for verification to judge: the last record found, and what the head named. */
export interface RecoveredFields {
  /** Bytes of a torn line right before this record. */
  readonly torn: number;
  /** null: the last line is not a record. */
  readonly lastSeq: number | null;
  readonly lastHash: string | null;
  /** null: there was no readable head. */
  readonly headSeq: number | null;
  readonly headHash: string | null;
}

export interface Resumption {
  /** The next record follows this one. */
  readonly from: Head;
  /** To be written first. */
  readonly recovered: RecoveredFields | undefined;
}

/** `head` is undefined when none can be read. */
export function resumeFrom(end: FileEnd, head: Head | undefined): Resumption {
  const { fragment, lastLine } = end;
  if (fragment.length > 0) {
    // A record that lacks nothing but its line feed is whole.
    const whole = follows(fragment, head);
    if (whole !== undefined) return { from: whole, recovered: undefined };
  } else if (lastLine !== undefined) {
    const whole = follows(lastLine, head);
    if (whole !== undefined) return { from: whole, recovered: undefined };
  } else if (head === undefined || head.seq === 0) {
    return { from: emptyHead, recovered: undefined };
  }
  const last = lastLine === undefined ? emptyHead : placeOf(lastLine);
  const lastBytes = fragment.length > 0 ? fragment : lastLine;
  return {
    from: {
      seq: Math.max(last?.seq ?? 0, head?.seq ?? 0),
      hash: lastBytes === undefined ? emptyHead.hash : hashOf(lastBytes),
    },
    recovered: {
      torn: fragment.length,
      lastSeq: last?.seq ?? null,
      lastHash: last?.hash ?? null,
      headSeq: head?.seq ?? null,
      headHash: head?.hash ?? null,
    },
  };
}

/** The line's place when it is the head's record or the one after it: a crash can come between a record and its head. */
function follows(line: Buffer, head: Head | undefined): Head | undefined {
  const record = parseRecord(line);
  if (record === undefined || head === undefined) return undefined;
  const place = { seq: record.seq, hash: hashOf(line) };
  const same = place.seq === head.seq && place.hash === head.hash;
  return same || (place.seq === head.seq + 1 && record.prev === head.hash) ? place : undefined;
}

function placeOf(line: Buffer): Head | undefined {
  const record = parseRecord(line);
  return record === undefined ? undefined : { seq: record.seq, hash: hashOf(line) };
}
