// The open files of all journals: few, and none for a journal that rests. It reads and writes nothing.

import { closeSync, type Stats } from "node:fs";
import { errorCode } from "../config/error-code.ts";
import { openRegular, READ, READ_WRITE } from "./open-regular.ts";

export interface FileOwner {
  readonly path: string;
  /** Its file was not used for a while and is closed next. Must not throw. */
  resting(): void;
}

export interface OpenedFile {
  readonly descriptor: number;
  readonly stat: Stats;
}

interface Entry extends OpenedFile {
  readonly writable: boolean;
  usedAt: number;
}

export class DescriptorCache implements Disposable {
  /** The one that was not used for longest comes first. */
  readonly #entries = new Map<FileOwner, Entry>();
  readonly #most: number;
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { readonly most: number; readonly idleMs: number }) {
    this.#most = options.most;
    this.#idleMs = options.idleMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Throws the system's error. The descriptor is good until the next call of any kind. */
  reading(owner: FileOwner): OpenedFile {
    return this.#touch(owner, false) ?? this.#open(owner, false);
  }

  /** As `reading`; makes the file where it is not there. */
  writing(owner: FileOwner): OpenedFile {
    return this.#touch(owner, true) ?? this.#open(owner, true);
  }

  /** What it is open as, if it is open. */
  peek(owner: FileOwner): Readonly<Entry> | undefined {
    return this.#entries.get(owner);
  }

  close(owner: FileOwner): void {
    const entry = this.#entries.get(owner);
    if (entry === undefined) return;
    this.#entries.delete(owner);
    try {
      closeSync(entry.descriptor);
    } catch {
      // It is closed all the same; what a disk could not take shows when the file is next looked at.
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const owner of Array.from(this.#entries.keys())) this.close(owner);
  }

  #touch(owner: FileOwner, writable: boolean): Entry | undefined {
    const entry = this.#entries.get(owner);
    if (entry === undefined) return undefined;
    if (writable && !entry.writable) {
      this.close(owner);
      return undefined;
    }
    this.#entries.delete(owner);
    this.#entries.set(owner, entry);
    entry.usedAt = Date.now();
    return entry;
  }

  #open(owner: FileOwner, writable: boolean): Entry {
    const opened = this.#openWithRoom(owner.path, writable ? READ_WRITE : READ);
    const entry = { ...opened, writable, usedAt: Date.now() };
    this.#entries.set(owner, entry);
    while (this.#entries.size > this.#most) this.#closeOldest();
    this.#timer ??= setTimeout(() => this.#sweep(), this.#idleMs).unref();
    return entry;
  }

  #openWithRoom(path: string, access: number): OpenedFile {
    try {
      return openRegular(path, access);
    } catch (error) {
      const code = errorCode(error);
      if ((code !== "EMFILE" && code !== "ENFILE") || this.#entries.size === 0) throw error;
      this.#closeOldest();
      return openRegular(path, access);
    }
  }

  #closeOldest(): void {
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.close(oldest.value);
  }

  #sweep(): void {
    this.#timer = undefined;
    const before = Date.now() - this.#idleMs;
    for (const [owner, entry] of Array.from(this.#entries)) {
      // A clock that was put back must not keep a file open for ever.
      if (entry.usedAt > before && entry.usedAt <= Date.now()) continue;
      owner.resting();
      this.close(owner);
    }
    if (this.#entries.size > 0) this.#timer = setTimeout(() => this.#sweep(), this.#idleMs).unref();
  }
}
