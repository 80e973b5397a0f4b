// Appends records to the chain on disk: opens, goes on after an interruption, rotates. It throws the system's error and is then closed until the next append.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, unlinkSync } from "node:fs";
import { basename } from "node:path";
import { currentPath, readEnd, readFirstLine, rotatedPath, rotatedPaths } from "./chain-files.ts";
import { encodeHead, headPath, readHead } from "./head-file.ts";
import { OpenFile } from "./open-file.ts";
import { emptyHead, encodeRecord, type Head, hashOf, parseRecord } from "./record.ts";
import { resumeFrom } from "./resumption.ts";

export interface AuditBounds {
  /** A file that has reached this many bytes is rotated before the next record. */
  readonly fileBytes: number;
  /** All files together, the one in use included; at least 2. */
  readonly files: number;
}

export interface ChainOptions {
  readonly stateDir: string;
  readonly bounds: AuditBounds;
  /** Each append is on disk before it returns. */
  readonly durable: boolean;
  /** A failure that does not lose a record. */
  readonly fault: (error: unknown, what: string) => void;
}

interface OpenFiles {
  readonly records: OpenFile;
  readonly head: OpenFile;
}

export class ChainWriter implements Disposable {
  readonly #options: ChainOptions;
  #files: OpenFiles | undefined;
  #head: Head | undefined;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  get head(): Head {
    return this.#head ?? emptyHead;
  }

  append(type: string, fields: Readonly<Record<string, unknown>>): void {
    try {
      let files = this.open();
      if (files.records.size >= this.#options.bounds.fileBytes) files = this.#rotate(files);
      this.#write(files, this.head, type, fields);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** The files, opened anew when they were removed, replaced, cut or lengthened by somebody else. Two `lstat` calls if not. */
  open(): OpenFiles {
    const files = this.#files;
    if (files?.records.unchanged() === true && files.head.unchanged()) return files;
    this[Symbol.dispose]();
    return this.#resume();
  }

  /** Off the event loop. */
  syncSoon(): void {
    const failed = (error: Error) => this.#options.fault(error, "the decision record could not be flushed to disk");
    this.#files?.records.syncSoon(failed);
    this.#files?.head.syncSoon(failed);
  }

  /** Flushes and closes; another append opens again. */
  [Symbol.dispose](): void {
    this.#files?.records[Symbol.dispose]();
    this.#files?.head[Symbol.dispose]();
    this.#files = undefined;
  }

  #resume(): OpenFiles {
    const { stateDir } = this.#options;
    // What this process wrote last counts more than a head file that somebody changed meanwhile.
    const read = this.#head ?? readHead(stateDir);
    const known = typeof read === "string" ? undefined : read;
    const files = this.#openFiles();
    const inUse = files.records.size > 0;
    const end = readEnd(inUse ? files.records.path : (rotatedPaths(stateDir).at(-1) ?? files.records.path));
    const { from, recovered } = resumeFrom(end, known);
    const unfinished = inUse && end.fragment.length > 0;
    if (recovered !== undefined) {
      this.#write(files, from, "recovered", { ...recovered }, unfinished);
      this.#options.fault(undefined, "the decision record did not end where it should; run `acp-master audit verify`");
      return files;
    }
    if (unfinished) files.records.append(Buffer.from("\n"), this.#options.durable);
    this.#moveHead(files, from);
    return files;
  }

  #openFiles(): OpenFiles {
    const { stateDir } = this.#options;
    const head = new OpenFile(headPath(stateDir), "overwrite");
    try {
      const records = new OpenFile(currentPath(stateDir), "append");
      if (records.size === 0) syncFolder(stateDir);
      return (this.#files = { head, records });
    } catch (error) {
      head[Symbol.dispose]();
      throw error;
    }
  }

  #write(
    files: OpenFiles,
    before: Head,
    type: string,
    fields: Readonly<Record<string, unknown>>,
    newLine = false,
  ): void {
    const line = encodeRecord(before, type, fields);
    files.records.append(newLine ? Buffer.concat([Buffer.from("\n"), line]) : line, this.#options.durable);
    this.#moveHead(files, { seq: before.seq + 1, hash: hashOf(line.subarray(0, -1)) });
  }

  /** The record counts without it: a head that lags behind is judged at the next opening. */
  #moveHead(files: OpenFiles, head: Head): void {
    this.#head = head;
    try {
      files.head.overwrite(encodeHead(head), this.#options.durable);
    } catch (error) {
      this.#options.fault(error, "the head of the decision record could not be written");
    }
  }

  #rotate(full: OpenFiles): OpenFiles {
    const { stateDir, bounds } = this.#options;
    try {
      const name = rotatedPath(stateDir, this.head.seq);
      if (existsSync(name)) throw Object.assign(new Error("the name is taken"), { code: "EEXIST" });
      renameSync(full.records.path, name);
    } catch (error) {
      // A record that grows past its bound is better than none.
      this.#options.fault(error, "the decision record could not be rotated and grows past its bound");
      return full;
    }
    this[Symbol.dispose]();
    const files = this.#openFiles();
    const rotated = rotatedPaths(stateDir);
    const surplus = rotated.slice(0, Math.max(0, rotated.length - (bounds.files - 1)));
    const oldest = rotated[surplus.length];
    if (surplus.length > 0 && oldest !== undefined) this.#drop(files, surplus, oldest);
    return files;
  }

  /** The chain itself says where it now begins, before anything is removed. */
  #drop(files: OpenFiles, surplus: readonly string[], oldest: string): void {
    const first = parseRecord(readFirstLine(oldest) ?? Buffer.alloc(0));
    this.#write(files, this.head, "dropped", {
      files: surplus.map((path) => basename(path)),
      keptSeq: first?.seq ?? null,
      keptPrev: first?.prev ?? null,
    });
    try {
      surplus.forEach((path) => unlinkSync(path));
    } catch (error) {
      this.#options.fault(error, "an old file of the decision record could not be removed");
    }
  }
}

/** A new name survives a power cut only when its folder was flushed. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Windows and some file systems cannot flush a folder.
  }
}
