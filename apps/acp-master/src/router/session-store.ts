// What of sessions is kept on disk: one folder each, with the record of who it is and the journal of what was seen. Saving
// fails quietly for the session and loudly for status.

import { listKeptSessions } from "../journal/kept-sessions.ts";
import type { Journal } from "../journal/journal.ts";
import { type JournalWriter } from "../journal/journal-writer.ts";
import { SessionFolder } from "../journal/session-folder.ts";
import type { SessionRecord } from "../journal/session-record.ts";

const RETRY_MS = 1000;

interface Unsaved {
  readonly record: SessionRecord;
  readonly message: string;
}

export class SessionStore implements Disposable {
  readonly #stateDir: string;
  readonly #writer: JournalWriter;
  readonly #report: (what: string) => void;
  /** Records that could not be written; tried again until they are. */
  readonly #unsaved = new Map<Journal, Unsaved>();
  #retry: NodeJS.Timeout | undefined;

  constructor(stateDir: string, writer: JournalWriter, report: (what: string) => void) {
    this.#stateDir = stateDir;
    this.#writer = writer;
    this.#report = report;
  }

  /** Touches nothing on disk until something is seen. */
  open(agent: string, agentId: string): Journal {
    return this.#writer.open(new SessionFolder(this.#stateDir, agent, agentId));
  }

  save(journal: Journal, record: SessionRecord): void {
    const saved = journal.folder.save(record);
    if (saved.ok) {
      this.#unsaved.delete(journal);
      return;
    }
    if (this.#unsaved.get(journal)?.message !== saved.message) this.#report(saved.message);
    this.#unsaved.set(journal, { record, message: saved.message });
    this.#retry ??= setTimeout(() => this.#tryAgain(), RETRY_MS).unref();
  }

  /** The session is no more: nothing of it stays. */
  remove(journal: Journal): void {
    this.#unsaved.delete(journal);
    // At once: another session may take this place in the same moment.
    void this.#writer.drop(journal);
    const removed = journal.folder.delete();
    if (!removed.ok) this.#report(removed.message);
  }

  /** The sessions of the runs before. */
  kept(): readonly SessionRecord[] {
    const { records, problems } = listKeptSessions(this.#stateDir);
    for (const problem of problems) this.#report(problem);
    return records;
  }

  /** What cannot be written, and what to do. */
  get problems(): string[] {
    return [...this.#writer.problems, ...Array.from(this.#unsaved.values(), ({ message }) => message)];
  }

  /** Tries once more, and never again. */
  [Symbol.dispose](): void {
    this.#tryAgain();
    clearTimeout(this.#retry);
  }

  #tryAgain(): void {
    this.#retry = undefined;
    for (const [journal, { record }] of Array.from(this.#unsaved)) this.save(journal, record);
  }
}
