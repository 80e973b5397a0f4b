// Judges a chain line by line: is each record the one that the next vouches for, and is none missing? It reads no file and repairs nothing.
import type { RawLine } from "./raw-lines.ts";
import { type AuditRecord, emptyHead, type Head, hashOf, isHash, isSequence, parseRecord } from "./record.ts";

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

interface Seen extends Head {
  readonly file: string;
  readonly line: number;
}

/** What the next record must carry; `prev` is undefined where nothing can vouch for it. */
interface Expected {
  readonly prev: string | undefined;
  readonly lowest: number;
  readonly highest: number;
}

/** Enough to look up what a `recovered` record names; it names something near. */
const rememberedHashes = 4096;
const mostProblems = 1000;

/** Feed every line to `line`, oldest first, then call `finish` once. */
export class ChainCheck {
  readonly problems: Finding[] = [];
  /** What happened and lost nothing. */
  readonly notices: Finding[] = [];
  records = 0;
  readonly #head: Head | undefined;
  #headRecord: Seen | undefined;
  readonly #hashes = new Map<number, string>();
  readonly #starts: { readonly seq: unknown; readonly prev: unknown }[] = [{ seq: 1, prev: emptyHead.hash }];
  #start: (Seen & { readonly prev: string }) | undefined;
  #last: Seen | undefined;
  /** Lines since the last record that are none. */
  #unread: { readonly raw: RawLine; readonly hash: string }[] = [];
  /** Two records of which one was changed: the line after says which. */
  #suspects: { readonly before: Seen; readonly after: Seen } | undefined;
  readonly #said = new Set<string>();
  #unsaid = 0;

  constructor(head: Head | undefined) {
    this.#head = head;
  }

  line(raw: RawLine): void {
    const hash = hashOf(raw.bytes);
    const record = parseRecord(raw.bytes);
    if (record === undefined) {
      this.#unread.push({ raw, hash });
      return;
    }
    this.records++;
    const place = { file: raw.file, line: raw.line, hash };
    this.#settleSuspects(record.prev);
    const from = this.#last ?? this.#origin(record, { ...place, seq: record.seq });
    const expected =
      record.type === "recovered" ? this.#judgeRecovered(record, place, from) : this.#judgeUnread(this.#unread, from);
    this.#unread = [];
    const here = { ...place, seq: this.#judgeLink(record, place, from, expected) };
    if (record.type === "dropped") this.#starts.push({ seq: record.fields.keptSeq, prev: record.fields.keptPrev });
    this.#remember(here);
    if (!raw.terminated) this.#notice(here, "the last line has no line feed; the daemon adds it when it next starts");
  }

  finish(): void {
    const head = this.#head;
    const last = this.#last;
    this.#settleSuspects(head !== undefined && head.seq === last?.seq ? head.hash : undefined);
    this.#judgeStart();
    const lost = head !== undefined && head.seq > (last?.seq ?? 0);
    const end = this.#unread.at(-1)?.raw;
    const torn = end !== undefined && !end.terminated && !lost;
    this.#judgeUnread(torn ? this.#unread.slice(0, -1) : this.#unread, last ?? emptyPlace);
    if (torn) this.#notice(end, "the last line is torn; the daemon marks it when it next starts");
    if (lost) this.#problem(end ?? last ?? emptyPlace, `${numbers((last?.seq ?? 0) + 1, head.seq)} cut off the end`);
    else if (head !== undefined) this.#judgeHead(head, last ?? emptyPlace);
    if (this.#unsaid > 0)
      this.problems.push({ ...(last ?? emptyPlace), what: `there are ${this.#unsaid} more problems` });
  }

  /** What the first record in reach follows: nothing, or what was dropped before it. */
  #origin(record: AuditRecord, here: Seen): Seen {
    if (record.prev === emptyHead.hash || (this.#unread.length > 0 && record.fields.lastSeq === 0))
      return { ...here, ...emptyHead };
    if (this.#unread.length === 0) this.#start = { ...here, prev: record.prev };
    const lastSequence = record.type === "recovered" ? record.fields.lastSeq : undefined;
    return { ...here, seq: isSequence(lastSequence) ? lastSequence : record.seq - 1, hash: record.prev };
  }

  #judgeUnread(unread: readonly { readonly raw: RawLine }[], from: Seen): Expected {
    for (const { raw } of unread) this.#problem(raw, "this line is not a record: it was overwritten, torn or put in");
    const lowest = from.seq + 1;
    return { prev: unread.length > 0 ? undefined : from.hash, lowest, highest: lowest + unread.length };
  }

  /** The daemon found an end that it had not left so; what it names there is compared with what is here. */
  #judgeRecovered(record: AuditRecord, here: Omit<Seen, "seq">, from: Seen): Expected {
    const { torn, lastSeq, lastHash, headSeq, headHash } = record.fields;
    const fragment = this.#unread.at(-1);
    const explained = fragment?.hash === record.prev && fragment.raw.bytes.length === torn;
    const expected = this.#judgeUnread(explained ? this.#unread.slice(0, -1) : this.#unread, from);
    const place = explained ? fragment.raw : here;
    if (isSequence(lastSeq) && lastSeq > from.seq) {
      this.#problem(place, `${numbers(from.seq + 1, lastSeq)} missing before this line`);
    } else if (lastSeq === from.seq && isHash(lastHash) && lastHash !== from.hash) {
      this.#problem(from, `record ${from.seq} was changed: record ${record.seq} holds another hash of it`);
    }
    if (!isSequence(headSeq)) {
      this.#problem(
        here,
        "the head was gone or unreadable when the daemon went on here, so a cut before it cannot be ruled out",
      );
    } else if (isSequence(lastSeq) && headSeq > lastSeq) {
      this.#problem(place, `${numbers(lastSeq + 1, headSeq)} cut off here before the daemon went on`);
    } else if (headSeq > 0 && (this.#hashes.get(headSeq) ?? headHash) !== headHash) {
      this.#problem(
        from,
        `record ${headSeq} is not the one that was written: it was changed before the daemon went on`,
      );
    } else if (explained) {
      this.#notice(place, `a line was torn here while it was written; record ${record.seq} notes it`);
    } else {
      this.#notice(here, "the daemon went on here after an interruption");
    }
    const next = Math.max(isSequence(headSeq) ? headSeq : 0, isSequence(lastSeq) ? lastSeq : 0) + 1;
    const prev = explained ? record.prev : expected.prev;
    return { prev, lowest: next, highest: next };
  }

  /** Answers the number that the record should have. */
  #judgeLink(record: AuditRecord, place: Omit<Seen, "seq">, from: Seen, expected: Expected): number {
    const { seq } = record;
    const here = { ...place, seq };
    const linked = expected.prev === undefined || expected.prev === record.prev;
    if (seq >= expected.lowest && seq <= expected.highest) {
      if (!linked) this.#suspects = { before: from, after: here };
      return seq;
    }
    if (linked && expected.prev !== undefined) {
      this.#problem(here, `record ${expected.lowest} was changed: it has the number ${seq}`);
      return expected.lowest;
    }
    if (seq > expected.highest) this.#problem(here, `${numbers(expected.lowest, seq - 1)} missing before this line`);
    else this.#problem(here, `record ${seq} is out of order`);
    return seq;
  }

  #settleSuspects(nextPrev: string | undefined): void {
    if (this.#suspects === undefined) return;
    const { before, after } = this.#suspects;
    this.#suspects = undefined;
    const changed = after.hash === nextPrev ? before : after;
    this.#problem(changed, `record ${changed.seq} was changed: it is not the one that its neighbour holds the hash of`);
  }

  #judgeStart(): void {
    const start = this.#start;
    if (start === undefined || this.#starts.some(({ seq, prev }) => seq === start.seq && prev === start.prev)) return;
    this.#problem(
      start,
      start.seq === 1 ? "record 1 was changed" : `the records before number ${start.seq} are missing`,
    );
  }

  #judgeHead(head: Head, last: Seen): void {
    const named = this.#headRecord;
    if (head.seq > 0 && named === undefined)
      this.#problem(last, `record ${head.seq}, which the head names, is not here`);
    else if (named !== undefined && named.hash !== head.hash) {
      this.#problem(named, `record ${head.seq} was changed: the head holds another hash of it`);
    } else if (last.seq > head.seq + 1) this.#notice(last, `the head is ${last.seq - head.seq} records behind`);
  }

  #remember(here: Seen): void {
    this.#last = here;
    this.#hashes.set(here.seq, here.hash);
    this.#hashes.delete(here.seq - rememberedHashes);
    if (here.seq === this.#head?.seq) this.#headRecord = here;
  }

  #problem({ file, line }: Omit<Finding, "what">, what: string): void {
    const key = `${file}:${line}:${what}`;
    if (this.#said.has(key)) return;
    if (this.problems.length >= mostProblems) {
      this.#unsaid++;
      return;
    }
    this.#said.add(key);
    this.problems.push({ file, line, what });
  }

  #notice({ file, line }: Omit<Finding, "what">, what: string): void {
    if (this.notices.length < mostProblems) this.notices.push({ file, line, what });
  }
}

const emptyPlace: Seen = { ...emptyHead, file: "", line: 0 };

function numbers(first: number, last: number): string {
  return first === last ? `record ${first} is` : `records ${first} to ${last} are`;
}
