// Gives back the space of what a journal has forgotten: the rest is copied beside it, off the event loop, and takes its
// place. Frames may be written meanwhile. What is begun and not ended changes nothing. It does not choose what goes.

import { constants, rmSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { copyBytes } from "./aside.ts";
import type { JournalFile } from "./journal-file.ts";
import type { SessionIndex } from "./session-index.ts";

const WINDOW_BYTES = 1024 * 1024;
const CAREFUL = constants.O_NOFOLLOW ?? 0;
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

/** So long after a failure it is not tried again. */
const AGAIN_MS = 60_000;

/** At most one compaction of one journal at a time. */
export class Compactor {
  readonly #file: JournalFile;
  readonly #failed: (error: unknown) => void;
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #notBefore = 0;

  constructor(file: JournalFile, failed: (error: unknown) => void) {
    this.#file = file;
    this.#failed = failed;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get mayStart(): boolean {
    return this.#running === undefined && Date.now() >= this.#notBefore;
  }

  /** Afterwards the file begins at position `to`, which must be in it. */
  start(index: SessionIndex, to: number): void {
    const stop = new AbortController();
    const done = compact(this.#file, index, to, stop.signal)
      .catch((error: unknown) => {
        this.#notBefore = Date.now() + AGAIN_MS;
        this.#failed(error);
      })
      .finally(() => {
        this.#running = undefined;
      });
    this.#running = { stop, done };
  }

  /** It changes nothing any more, from now on. */
  stop(): void {
    this.#running?.stop.abort();
  }

  async stopped(): Promise<void> {
    this.stop();
    await this.#running?.done;
  }
}

const nextPath = (path: string): string => `${path}.next`;

/** Removes what a daemon that was killed left behind. */
export function removeUnfinished(path: string): void {
  rmSync(nextPath(path), { force: true });
}

async function compact(file: JournalFile, index: SessionIndex, to: number, signal: AbortSignal): Promise<void> {
  const next = nextPath(file.path);
  await rm(next, { force: true });
  const source = await open(file.path, constants.O_RDONLY | CAREFUL);
  try {
    const target = await open(next, CREATE | CAREFUL, 0o600);
    try {
      if (signal.aborted || !file.isSame(await source.stat())) return;
      const copied = await copyFrames(file, source, target, { to, signal });
      const stat = await target.stat();
      if (signal.aborted) return;
      // From here on in one step: nothing is written meanwhile.
      const { base, written } = file;
      copyBytes(source.fd, target.fd, { from: copied - base, to: written - base, at: copied - to });
      moveIn(file, index, { next, to, stat });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
    await rm(next, { force: true });
  }
}

interface Replacement {
  readonly next: string;
  readonly to: number;
  readonly stat: { readonly dev: number; readonly ino: number };
}

function moveIn(file: JournalFile, index: SessionIndex, { next, to, stat }: Replacement): void {
  try {
    index.write({ type: "move", from: file.base, to, bytes: file.written - to });
    file.replaceBy(next, to, stat);
  } finally {
    try {
      index.write({ type: "base", at: file.base });
    } catch {
      // The index is then written anew before the next frame; until then the file's size tells what happened.
    }
  }
}

/** Copies until little is left; returns the position that it reached. */
async function copyFrames(
  file: JournalFile,
  source: FileHandle,
  target: FileHandle,
  { to, signal }: { readonly to: number; readonly signal: AbortSignal },
): Promise<number> {
  const window = Buffer.allocUnsafe(WINDOW_BYTES);
  let copied = to;
  do {
    while (copied < file.written && !signal.aborted) {
      const length = Math.min(window.length, file.written - copied);
      const { bytesRead } = await source.read(window, 0, length, copied - file.base);
      if (bytesRead === 0) throw Object.assign(new Error(`${file.path} ends too early`), { code: "EIO" });
      for (let done = 0; done < bytesRead;) {
        done += (await target.write(window, done, bytesRead - done, copied - to + done)).bytesWritten;
      }
      copied += bytesRead;
    }
    if (!signal.aborted) await target.sync();
  } while (file.written - copied > WINDOW_BYTES && !signal.aborted);
  return copied;
}
