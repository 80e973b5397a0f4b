// Writes the journals of a daemon, after the clients were served: at once when a turn has ended or much has come, else when nothing
// more is on its way or a moment later; those that cannot be written are tried again. It knows nothing of sessions.

import { randomBytes } from "node:crypto";
import { DescriptorCache } from "./descriptor-cache.ts";
import { Journal, type JournalBounds, type JournalHost } from "./journal.ts";
import { notSoon, soon } from "../soon.ts";
import type { SessionFolder } from "./session-folder.ts";

const MIB = 1024 * 1024;
/** So long may a frame wait while others keep coming, and a patient one for others. */
const BATCH_MS = 1;

export interface JournalSettings extends JournalBounds {
  /** What one journal may hold in memory while it cannot be written, and all of them together. */
  readonly memoryBytes: number;
  readonly totalMemoryBytes: number;
  readonly retryMs: number;
  readonly maxDescriptors: number;
  /** A file that was not used for so long is closed. */
  readonly idleMs: number;
}

export const journalSettings: JournalSettings = {
  maxBytes: 256 * MIB,
  pendingBytes: 8 * MIB,
  memoryBytes: 16 * MIB,
  totalMemoryBytes: 256 * MIB,
  retryMs: 1000,
  maxDescriptors: 128,
  idleMs: 2000,
};

/**
 *     await using writer = new JournalWriter({ report: (what) => log.warn({ what }, "journal") });
 *     const journal = writer.open(new SessionFolder(places.stateDir, agent, agentId));
 *     const position = journal.append(frames);
 */
export class JournalWriter implements JournalHost, AsyncDisposable {
  readonly run = randomBytes(4).toString("hex");
  readonly files: DescriptorCache;
  readonly bounds: JournalBounds;
  readonly #settings: JournalSettings;
  readonly #report: (what: string) => void;
  readonly #journals = new Set<Journal>();
  readonly #dirty = new Set<Journal>();
  /** To be written in this tick. */
  readonly #due = new Set<Journal>();
  readonly #marked = new Set<Journal>();
  readonly #failing = new Set<Journal>();
  #batch: NodeJS.Immediate | undefined;
  #patience: NodeJS.Timeout | undefined;
  #deciding = false;
  /** When the first frame of the batch came, and whether none came in the last turn of the event loop. */
  #batchSince = 0;
  #quiet = true;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: { readonly report: (what: string) => void; readonly settings?: Partial<JournalSettings> }) {
    this.#settings = { ...journalSettings, ...options.settings };
    this.#report = options.report;
    this.bounds = this.#settings;
    const { maxDescriptors, idleMs } = this.#settings;
    this.files = new DescriptorCache({ most: maxDescriptors, idleMs });
  }

  /** Reads nothing yet. One journal per folder at a time. */
  open(folder: SessionFolder): Journal {
    const journal = new Journal(folder, this);
    this.#journals.add(journal);
    return journal;
  }

  /** Writes the rest of it and closes it. */
  async close(journal: Journal): Promise<void> {
    await journal[Symbol.asyncDispose]();
    this.#forget(journal);
  }

  /** Closes it without writing; its folder may be removed then. */
  async drop(journal: Journal): Promise<void> {
    this.#forget(journal);
    await journal.drop();
  }

  /** Each journal that cannot be written says why and what to do. */
  get problems(): string[] {
    return [...this.#failing].flatMap((journal) => journal.problem ?? []);
  }

  get memoryBytes(): number {
    const { memoryBytes, totalMemoryBytes } = this.#settings;
    return Math.min(memoryBytes, Math.floor(totalMemoryBytes / Math.max(1, this.#failing.size)));
  }

  dirty(journal: Journal): void {
    this.#dirty.add(journal);
    this.#quiet = false;
    if (this.#batch !== undefined || this.#deciding) return;
    // The end of the turn may stand right behind, and then there is nothing to wait for.
    this.#deciding = true;
    process.nextTick(this.#decide);
  }

  patient(journal: Journal): void {
    this.#dirty.add(journal);
    this.#patience ??= setTimeout(this.#endPatience, BATCH_MS);
  }

  readonly #endPatience = (): void => {
    this.#patience = undefined;
    this.#flush(this.#dirty, (each) => each.flushFrames());
  };

  readonly #decide = (): void => {
    this.#deciding = false;
    if (this.#dirty.size === 0 || this.#batch !== undefined) return;
    this.#batchSince = performance.now();
    this.#batch = setImmediate(() => this.#endBatch());
  };

  /** What is on its way already, often the end of a turn behind its last words, goes first. */
  #endBatch(): void {
    if (!this.#quiet && performance.now() - this.#batchSince < BATCH_MS) {
      this.#quiet = true;
      this.#batch = setImmediate(() => this.#endBatch());
      return;
    }
    this.#batch = undefined;
    this.#flush(this.#dirty, (each) => each.flushFrames());
  }

  due(journal: Journal): void {
    this.#dirty.delete(journal);
    if (this.#due.size === 0) process.nextTick(this.#afterClients);
    this.#due.add(journal);
  }

  turnEnded(journal: Journal): void {
    if (this.#dirty.has(journal)) this.due(journal);
    // One write for the marks of many short turns.
    this.#marked.add(journal);
    soon(this.#writeMarks);
  }

  /** What its clients get at the end of this tick may have come into the queue behind this. */
  readonly #afterClients = (): void => process.nextTick(this.#writeDue);

  readonly #writeDue = (): void => this.#flush(this.#due, (each) => each.flushFrames());

  readonly #writeMarks = (): void => this.#flush(this.#marked, (each) => each.flush());

  failing(journal: Journal): void {
    this.#failing.add(journal);
    this.#retry ??= setTimeout(() => this.#tryAgain(), this.#settings.retryMs).unref();
  }

  recovered(journal: Journal): void {
    this.#failing.delete(journal);
  }

  report(what: string): void {
    this.#report(what);
  }

  /** Writes at once what is not written yet. */
  flush(): void {
    this.#flush(this.#dirty, (each) => each.flush());
    this.#flush(this.#due, (each) => each.flush());
    this.#flush(this.#marked, (each) => each.flush());
  }

  /** Those that fail are tried at a time of their own. */
  #flush(due: Set<Journal>, write: (journal: Journal) => void): void {
    const journals = [...due];
    due.clear();
    for (const journal of journals) if (journal.problem === undefined) write(journal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const journal of Array.from(this.#journals)) await this.close(journal);
    clearImmediate(this.#batch);
    clearTimeout(this.#patience);
    notSoon(this.#writeMarks);
    clearTimeout(this.#retry);
    this.files[Symbol.dispose]();
  }

  #tryAgain(): void {
    this.#retry = undefined;
    for (const journal of Array.from(this.#failing)) journal.flush();
    if (this.#failing.size > 0) this.#retry ??= setTimeout(() => this.#tryAgain(), this.#settings.retryMs).unref();
  }

  #forget(journal: Journal): void {
    this.#journals.delete(journal);
    this.#dirty.delete(journal);
    this.#due.delete(journal);
    this.#marked.delete(journal);
    this.#failing.delete(journal);
  }
}
