// Lets one process at a time do a step for one run folder. The kernel owns the lock where it can: nothing is left behind by a process that died.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { realPathOf } from "../config/places.ts";

/**
 * `start`: whoever wants a daemon starts it. `open`: a daemon takes or gives back the socket. `state`: a daemon uses the
 * state folder, from before it reads the records until it has written the last one. `console`: whoever wants a console
 * starts it.
 */
export type LockPurpose = "start" | "open" | "state" | "console";

export interface StartLock {
  /** Frees the lock; those who wait get the word (it may say why a start failed). Doing it twice is fine. */
  release(word?: string): void;
}

export type LockAttempt =
  | { readonly held: true; readonly lock: StartLock }
  /** `freed` ends when the holder let go or died, with its word; `stop` gives up waiting. */
  | { readonly held: false; readonly freed: Promise<string>; readonly stop: () => void };

/**
 * Linux: an abstract socket, named after the user and the real path of the folder; Windows: a named pipe. Both exist in
 * one process at most and vanish with it. They are seen within one network namespace or machine: daemons in two
 * containers that share a folder do not see each other's lock (the socket itself still tells them apart). Another user who
 * takes the name on purpose can make a start fail, and nothing worse.
 * Elsewhere: a file, see `tryFileLock`.
 */
export async function tryStartLock(runDir: string, purpose: LockPurpose): Promise<LockAttempt> {
  const name = `acp-master-${process.getuid?.() ?? "user"}-${purpose}-${digest(realPathOf(runDir))}`;
  if (process.platform === "linux") return await tryKernelLock(`\0${name}`);
  if (process.platform === "win32") return await tryKernelLock(`\\\\.\\pipe\\${name}`);
  return tryFileLock(join(runDir, `${purpose}.lock`));
}

/** Waits for the lock; `undefined` after `timeoutMs`: somebody holds it and does not go on. */
export async function startLockWithin(
  runDir: string,
  purpose: LockPurpose,
  timeoutMs: number,
): Promise<StartLock | undefined> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const attempt = await tryStartLock(runDir, purpose);
    if (attempt.held) return attempt.lock;
    const freed = await within(attempt, deadline - Date.now());
    if (freed === undefined) return undefined;
  }
}

/** The holder's word, or `undefined` when the time is over first. */
export async function within(
  waiting: Extract<LockAttempt, { held: false }>,
  timeoutMs: number,
): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, timeoutMs), undefined);
  });
  try {
    return await Promise.race([waiting.freed, timeout]);
  } finally {
    clearTimeout(timer);
    waiting.stop();
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

async function tryKernelLock(name: string): Promise<LockAttempt> {
  const waiters = new Set<Socket>();
  const server = createServer((waiter) => {
    waiters.add(waiter);
    waiter.on("error", () => waiter.destroy());
    waiter.on("close", () => waiters.delete(waiter));
    waiter.unref();
  });
  const failure = await new Promise<string | undefined>((resolve) => {
    server.once("error", (error) => resolve(errorCode(error)));
    server.listen(name, () => resolve(undefined));
  });
  if (failure !== undefined) return waitForKernelLock(name);
  server.on("error", () => {}); // a waiter that could not be accepted tries again by itself
  server.unref();
  return {
    held: true,
    lock: {
      release(word = "") {
        if (server.listening) server.close();
        for (const waiter of waiters) waiter.end(word);
        waiters.clear();
      },
    },
  };
}

const longestWord = 4096;
/** Where the end of the holder cannot be seen as an event. */
const retryMs = 20;

function waitForKernelLock(name: string): LockAttempt {
  const socket = connect(name);
  let word = "";
  let timer: NodeJS.Timeout | undefined;
  const freed = new Promise<string>((resolve) => {
    socket.setEncoding("utf8");
    socket.on("data", (part) => {
      word = (word + String(part)).slice(0, longestWord);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", (failed) => {
      // Refused: the holder just went, or cannot take another waiter.
      if (failed) timer = setTimeout(resolve, retryMs, "");
      else resolve(word);
    });
  });
  return {
    held: false,
    freed,
    stop() {
      clearTimeout(timer);
      socket.destroy();
    },
  };
}

/**
 * A file that only one process can make, with the maker's process id. A file of a process that is gone is taken over.
 * Limits: a process id that was given to another process keeps the lock until somebody removes the file, and three
 * processes that take over the same dead lock in the same instant can go astray; so it is used only where the kernel has
 * nothing better.
 */
export function tryFileLock(file: string): LockAttempt {
  const content = JSON.stringify({
    pid: process.pid,
    startedAt: new Date().toISOString(),
    id: randomBytes(8).toString("hex"),
  });
  if (makeLockFile(file, content) || (takeOverDeadLock(file) && makeLockFile(file, content))) {
    return { held: true, lock: { release: () => removeLockFile(file, content) } };
  }
  let timer: NodeJS.Timeout | undefined;
  const freed = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, retryMs, "");
  });
  return { held: false, freed, stop: () => clearTimeout(timer) };
}

function makeLockFile(file: string, content: string): boolean {
  try {
    const descriptor = openSync(file, "wx", 0o600);
    try {
      writeSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

function removeLockFile(file: string, content: string): void {
  if (readLockFile(file) === content) unlinkSync(file);
}

function readLockFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // released meanwhile
  }
}

/** Moves the file aside before it is removed, and puts it back when it was not the dead one after all. */
function takeOverDeadLock(file: string): boolean {
  const content = readLockFile(file);
  if (content === undefined) return true;
  if (ownerLives(content)) return false;
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readLockFile(aside) !== content) linkSync(aside, file);
    unlinkSync(aside);
    return true;
  } catch {
    return false; // another process was faster
  }
}

function ownerLives(content: string): boolean {
  const pid = Number(/"pid":(\d+)/.exec(content)?.[1]);
  // A file without a process id is one that is being written.
  if (!Number.isSafeInteger(pid) || pid < 1) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== "ESRCH";
  }
}
