// The sessions of this process, and one small file per session, so that another process can load it.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionInfo } from "@agentclientprotocol/sdk";
import { Session, type StoredSession } from "./session.ts";

export class SessionStore {
  readonly #folder: string;
  readonly #live = new Map<string, Session>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  create(cwd: string): Session {
    return this.#adopt(Session.create(randomUUID(), cwd));
  }

  /** A session that is open in this process. */
  live(sessionId: string): Session | undefined {
    return this.#live.get(sessionId);
  }

  /** A session of this process or of the disk, opened. */
  open(sessionId: string): Session | undefined {
    const live = this.#live.get(sessionId);
    if (live !== undefined) return live;
    const stored = this.#read(this.#file(sessionId));
    return stored === undefined ? undefined : this.#adopt(new Session(stored));
  }

  /** A new session with the history of another. */
  fork(source: Session, cwd: string): Session {
    const copy = structuredClone(source.stored);
    return this.#adopt(new Session({ ...copy, sessionId: randomUUID(), cwd, updatedAt: new Date().toISOString() }));
  }

  /** Newest first. */
  list(): SessionInfo[] {
    const known = new Map<string, StoredSession>();
    for (const name of this.#files()) {
      const stored = this.#read(join(this.#folder, name));
      if (stored !== undefined) known.set(stored.sessionId, stored);
    }
    for (const { stored } of this.#live.values()) known.set(stored.sessionId, stored);
    return [...known.values()]
      .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
      .map(({ sessionId, cwd, title, updatedAt }) => ({
        sessionId,
        cwd,
        updatedAt,
        ...(title === undefined ? {} : { title }),
      }));
  }

  save(session: Session): void {
    session.stored.updatedAt = new Date().toISOString();
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const file = this.#file(session.stored.sessionId);
    const next = `${file}.${process.pid}`;
    writeFileSync(next, JSON.stringify(session.stored), { mode: 0o600 });
    renameSync(next, file);
  }

  /** Ends its turn and forgets it here; the file stays. */
  close(session: Session): void {
    session.cancel();
    this.#live.delete(session.stored.sessionId);
  }

  delete(sessionId: string): void {
    const live = this.#live.get(sessionId);
    if (live !== undefined) this.close(live);
    rmSync(this.#file(sessionId), { force: true });
  }

  closeAll(): void {
    for (const session of this.#live.values()) this.close(session);
  }

  #adopt(session: Session): Session {
    this.#live.set(session.stored.sessionId, session);
    return session;
  }

  /** An id is never a path. */
  #file(sessionId: string): string {
    return join(this.#folder, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}.json`);
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => name.endsWith(".json"));
    } catch {
      return []; // nothing was saved yet
    }
  }

  #read(file: string): StoredSession | undefined {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch {
      return undefined; // absent, or removed meanwhile by another process
    }
  }
}
