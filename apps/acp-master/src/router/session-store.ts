// What of sessions is kept on disk: one folder each, with the record of who it is and the journal of what was seen. Saving
// fails quietly for the session and loudly for status.

import { listKeptSessions } from "../journal/kept-sessions.ts";
import type { Journal } from "../journal/journal.ts";
import { type JournalWriter } from "../journal/journal-writer.ts";
import { SessionFolder } from "../journal/session-folder.ts";
import type { SessionRecord } from "../journal/session-record.ts";

export class SessionStore {
  readonly #stateDir: string;
  readonly #writer: JournalWriter;
  readonly #report: (what: string) => void;
  #unsaved: string | undefined;

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
    this.#unsaved = saved.ok ? undefined : saved.message;
    if (!saved.ok) this.#report(saved.message);
  }

  /** The session is no more: nothing of it stays. */
  remove(journal: Journal): void {
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
    return [...this.#writer.problems, ...(this.#unsaved === undefined ? [] : [this.#unsaved])];
  }
}
