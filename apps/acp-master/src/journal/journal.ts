// What the clients of one session saw, in its file: appended to in memory first, written in batches, read from wherever it
// is. Positions only grow. When the disk fails it goes on in memory within a bound. It knows no clients.

import type { SessionLog } from "../router/session-log.ts";
import { Compactor, removeUnfinished } from "./compaction.ts";
import type { DescriptorCache } from "./descriptor-cache.ts";
import { type OpenedTicket, type SettledTicket, SNAPSHOT_KINDS, type SnapshotKind } from "./index-lines.ts";
import type { IndexState } from "./index-state.ts";
import { JournalFile } from "./journal-file.ts";
import { journalPath, type KeptJournal, readKeptJournal } from "./kept-journal.ts";
import { errorCode } from "../config/error-code.ts";
import { problemText } from "./journal-problem.ts";
import { PendingFrames } from "./pending-frames.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { SessionIndex } from "./session-index.ts";
import { trimPosition } from "./trim-position.ts";

const LF = 0x0a;
/** So much is written at once, while the processor still has it at hand: a millisecond later the copy costs four times as much. */
const HOT_BYTES = 128 * 1024;

export interface JournalBounds {
  /** One journal; beyond it the oldest whole turns go. */
  readonly maxBytes: number;
  /** Not yet written; beyond it an append writes at once. */
  readonly pendingBytes: number;
}

/** What all journals of a daemon share. */
export interface JournalHost {
  /** Names this run of the daemon. */
  readonly run: string;
  readonly bounds: JournalBounds;
  readonly files: DescriptorCache;
  /** How much one journal may hold in memory while it cannot be written. */
  readonly memoryBytes: number;
  /** Its frames or its index are to be written as soon as nothing more is on its way. */
  dirty(journal: Journal): void;
  /** Its frames are to be written with what comes next, or a millisecond later. */
  patient(journal: Journal): void;
  /** Its frames are to be written in this tick. */
  due(journal: Journal): void;
  /** As `due`; the mark of the turn's end has time. */
  turnEnded(journal: Journal): void;
  /** It cannot be written; its `flush` is tried again later. */
  failing(journal: Journal): void;
  recovered(journal: Journal): void;
  /** Something that was found amiss and dealt with. Paths, numbers and system codes only. */
  report(what: string): void;
}

interface Loaded {
  readonly index: SessionIndex;
  readonly state: IndexState;
  readonly pending: PendingFrames;
}

export class Journal implements SessionLog {
  readonly folder: SessionFolder;
  readonly #host: JournalHost;
  readonly #file: JournalFile;
  readonly #compactor: Compactor;
  #loaded: Loaded | undefined;
  #begins = false;
  #runWritten = false;
  #problem: string | undefined;
  #closed = false;

  /** Touches nothing until it is first used. */
  constructor(folder: SessionFolder, host: JournalHost) {
    this.folder = folder;
    this.#host = host;
    this.#file = new JournalFile(journalPath(folder.path), host.files, () => this.#rest());
    this.#compactor = new Compactor(this.#file, (error) => {
      host.report(`${this.#file.path} could not be shortened (${errorCode(error)}); it is tried again later`);
    });
  }

  get start(): number {
    return this.#open().state.start;
  }

  get end(): number {
    return this.#open().pending.end;
  }

  /** What is wrong and what to do, while it lasts. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Reads and checks what is on disk in slices, so that the first use does not hold up others. Needs not be called. */
  async prepare(): Promise<void> {
    if (this.#loaded !== undefined) return;
    const steps = readKeptJournal(this.folder.path);
    let step = steps.next();
    while (step.done !== true) {
      await new Promise((resolve) => setImmediate(resolve));
      step = steps.next();
    }
    // Whoever could not wait has read it too.
    if (this.#loaded === undefined) this.#take(step.value);
  }

  append(frames: Buffer, mayWait = false): number {
    const { pending } = this.#begun();
    pending.append(frames);
    if (this.#problem !== undefined || this.#closed) this.#shed();
    else if (pending.length > this.#host.bounds.pendingBytes) this.flush();
    else if (pending.length >= HOT_BYTES) this.#host.due(this);
    else if (mayWait) this.#host.patient(this);
    else this.#host.dirty(this);
    return pending.end;
  }

  read(from: number, to: number, maxBytes: number): Buffer[] {
    const { state, pending } = this.#open();
    const last = Math.min(to, pending.end);
    if (from < state.start || from >= last) return [];
    if (from >= pending.start) return pending.read(from, last, maxBytes);
    const found = this.#file.read(from, Math.min(last, pending.start), maxBytes);
    if (found === undefined) {
      this.#unreadable();
      return [];
    }
    const next = from + found.length;
    if (next < pending.start || next >= last || found.length >= maxBytes) return [found];
    return [found, ...pending.read(next, last, maxBytes - found.length)];
  }

  turnBoundary(): void {
    const { index, state, pending } = this.#begun();
    if (pending.end === 0 || state.turns.at(-1) === pending.end) return;
    index.note({ type: "turn", at: pending.end, time: Date.now() });
    if (this.#problem === undefined && !this.#closed) this.#host.turnEnded(this);
  }

  trim(keepFrom: number): void {
    const { index, state, pending } = this.#open();
    const { maxBytes } = this.#host.bounds;
    if (pending.end - state.start > maxBytes) {
      const { start, turns } = state;
      const { whole, inTurn } = trimPosition({ start, end: pending.end, turns, maxBytes, keepFrom });
      const most = inTurn ?? whole;
      // An index that was not written with this journal may name any place.
      const cut = most > start ? this.#boundaryFrom(most) : start;
      if (cut > start && cut <= keepFrom) {
        index.note({ type: "start", at: cut });
        this.#noted();
      }
    }
    // Never much less than is copied for it: a client far behind that reads on lets a little go again and again.
    if (state.start - this.#file.base > Math.max(maxBytes, pending.end - state.start)) this.#compact();
  }

  /** The frame of [position, position + length) is the latest of its kind. Kinds that late joiners do not get are ignored. */
  noteSnapshot(kind: string, position: number, length: number): void {
    if (!isSnapshotKind(kind)) return;
    this.#begun().index.note({ type: "snapshot", kind, at: position, bytes: length });
    this.#noted();
  }

  /** The latest frame of that kind; undefined: there is none, or it was forgotten. */
  snapshot(kind: SnapshotKind): Buffer | undefined {
    const place = this.#open().state.snapshots.get(kind);
    if (place === undefined) return undefined;
    const bytes = Buffer.concat(this.read(place.position, place.position + place.length, place.length));
    return bytes.length > 0 && bytes.indexOf(LF) === place.length - 1 ? bytes : undefined;
  }

  /** Tickets that were opened and not settled. At the start of a daemon these are the former run's. */
  get openTickets(): readonly OpenedTicket[] {
    return [...this.#open().state.tickets.values()];
  }

  /** Whether it is in the index; in memory it counts in any case. */
  recordOpening(ticket: OpenedTicket): boolean {
    return this.#writeLine({ type: "opening", ...ticket });
  }

  /** As `recordOpening`. */
  recordDecision(ticket: SettledTicket): boolean {
    return this.#writeLine({ type: "decision", ...ticket });
  }

  get run(): string {
    return this.#open().state.runs.at(-1)?.run ?? this.#host.run;
  }

  resumable(run: string, position: number): boolean {
    const { state, pending } = this.#open();
    if (!Number.isSafeInteger(position) || position < state.start || position > pending.end) return false;
    return state.holds(run, position) && this.#boundaryFrom(position) === position;
  }

  /** As `flush`, and leaves marks of turns for later. */
  flushFrames(): boolean {
    return this.#flush((index) => index.isUrgent);
  }

  /** Writes what is not written yet; false: not all of it could be. */
  flush(): boolean {
    return this.#flush((index) => index.isDirty);
  }

  #flush(isDue: (index: SessionIndex) => boolean): boolean {
    if (this.#loaded === undefined || this.#closed) return true;
    const { index, pending } = this.#loaded;
    try {
      if (pending.length > 0) this.#writeFrames(this.#loaded);
      if (isDue(index)) {
        this.folder.ensure();
        this.#writeRun(this.#loaded);
        index.flush();
      }
    } catch (error) {
      this.#failed(error);
      return false;
    }
    if (this.#problem !== undefined) {
      this.#problem = undefined;
      this.#host.recovered(this);
    }
    return true;
  }

  /** Writes the rest and closes; nothing is written afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#compactor.stopped();
    if (!this.flush() && this.#loaded) {
      this.#host.report(`${this.#file.path}: its last ${this.#loaded.pending.length} bytes could not be written`);
    }
    this.#rest();
    this.#end();
  }

  /** Closes without writing: the folder is about to be removed. */
  async drop(): Promise<void> {
    this.#end();
    await this.#compactor.stopped();
  }

  #open(): Loaded {
    if (this.#loaded !== undefined) return this.#loaded;
    const steps = readKeptJournal(this.folder.path);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return this.#take(step.value);
  }

  /** Something of this run is to be kept. */
  #begun(): Loaded {
    const loaded = this.#open();
    if (!this.#begins) {
      this.#begins = true;
      loaded.state.apply({ type: "run", run: this.#host.run, at: loaded.pending.end, time: Date.now() });
    }
    return loaded;
  }

  #take({ index, base, goodBytes, torn, identity, findings }: KeptJournal): Loaded {
    const { state } = index;
    this.#file.found(base, goodBytes, torn, identity);
    this.#loaded = { index, state, pending: new PendingFrames(base + goodBytes) };
    for (const finding of findings) this.#host.report(finding);
    if (state.start > base) state.start = this.#boundaryFrom(state.start);
    return this.#loaded;
  }

  #noted(): void {
    if (this.#problem === undefined && !this.#closed) this.#host.dirty(this);
  }

  #writeFrames({ index, state, pending }: Loaded): void {
    if (pending.start > this.#file.written) {
      // Frames between the file's and these were forgotten while it could not be written.
      this.#startOver(pending.start, this.#file.path.replace(/ndjson$/, "cut"));
    }
    const ensureFolder = (): void => this.folder.ensure();
    const finding = this.#file.makeReady(ensureFolder);
    if (finding !== "intact") {
      const lost = finding === "lost" || finding.lost;
      const kept = finding === "lost" ? "" : `; what it was is in ${finding.keptAs}`;
      const what = lost ? `was removed or replaced, and goes on at position ${pending.start}` : "was written by others";
      this.#host.report(`${this.#file.path} ${what}${kept}`);
      if (lost) {
        this.#startOver(pending.start);
        this.#file.makeReady(ensureFolder);
      }
    }
    this.#writeRun({ index, state, pending });
    try {
      this.#file.write(pending.pieces);
    } finally {
      pending.forget(this.#file.written);
    }
  }

  /** The index says where this run begins before anything of it is on disk. */
  #writeRun({ index, state }: Loaded): void {
    index.settle();
    const run = state.runs.at(-1);
    if (!this.#begins || this.#runWritten || run === undefined) return;
    if (!this.#compactor.isRunning) removeUnfinished(this.#file.path);
    index.write({ type: "run", ...run });
    this.#runWritten = true;
  }

  #startOver(position: number, keepAs?: string): void {
    const { index, state } = this.#open();
    this.#compactor.stop();
    this.#file.startOver(position, keepAs);
    state.startOver(position);
    index.mustRewrite();
  }

  #writeLine(line: Parameters<SessionIndex["write"]>[0]): boolean {
    const { index } = this.#open();
    if (this.#closed) return false;
    try {
      this.folder.ensure();
      index.write(line);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(error: unknown): void {
    this.#problem = problemText(this.folder.path, errorCode(error), this.#host.memoryBytes);
    this.#host.failing(this);
    this.#loaded?.pending.stay();
    this.#shed();
  }

  /** Keeps to the bound of memory: the oldest whole turns go, and with them all before; far over it also parts of one. */
  #shed(): void {
    const { state, pending } = this.#open();
    const { memoryBytes } = this.#host;
    if (pending.length <= memoryBytes) return;
    const least = pending.end - memoryBytes;
    const turn = state.turns.find((each) => each >= least && each < pending.end);
    const cut = turn ?? (pending.length > 2 * memoryBytes ? pending.boundaryFrom(least) : undefined);
    if (cut === undefined) return;
    pending.forget(cut);
    state.forgetBefore(cut);
  }

  /** What is in the file cannot be had; who reads goes on with what is in memory. */
  #unreadable(): void {
    const { state, pending } = this.#open();
    if (state.start >= pending.start) return;
    this.#host.report(
      `${this.#file.path} cannot be read any more; what it held before position ${pending.start} is not shown`,
    );
    state.start = pending.start;
  }

  #boundaryFrom(position: number): number {
    const { pending } = this.#open();
    if (position >= pending.start) return pending.boundaryFrom(position);
    return this.#file.boundaryFrom(position) ?? pending.start;
  }

  #compact(): void {
    const { index, state, pending } = this.#open();
    if (!this.#compactor.mayStart || this.#problem !== undefined || this.#closed) return;
    if (state.start > pending.start && !this.flush()) return;
    this.#compactor.start(index, state.start);
  }

  /** Nobody uses it at the moment: if nobody changes it either, it need not be checked when it is next read. */
  #rest(): void {
    if (this.#loaded === undefined || this.#closed || this.#problem !== undefined) return;
    const { index, state, pending } = this.#loaded;
    if (pending.length > 0 || this.#compactor.isRunning) return;
    try {
      const mark = this.#file.mark();
      if (mark === undefined || (mark.bytes === state.rest?.bytes && mark.modified === state.rest.modified)) return;
      index.write({ type: "rest", ...mark });
    } catch {
      // Without the mark it is only checked once more.
    }
  }

  #end(): void {
    this.#closed = true;
    this.#file.close();
  }
}

function isSnapshotKind(kind: string): kind is SnapshotKind {
  return SNAPSHOT_KINDS.some((each) => each === kind);
}
