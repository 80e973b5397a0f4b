// Opens the socket that clients connect to, for at most one daemon per run folder. It never removes what it cannot prove to be a dead socket of this user.
import { randomBytes } from "node:crypto";
import { readdirSync, renameSync } from "node:fs";
import { type Server, type Socket, createServer } from "node:net";
import { dirname, join } from "node:path";
import { errorCode } from "../config/error-code.ts";
import { longestSocketPath, type Places } from "../config/places.ts";
import { VERSION } from "../version.ts";
import { type FileIdentity, identityOf, removeIfSame, removeQuietly, writeWhole } from "./owned-file.ts";
import { ensurePrivateFolder, withUmask } from "./private-folder.ts";
import { obstacleAt, probeSocket } from "./probe-socket.ts";
import { startLockWithin } from "./start-lock.ts";

/**
 * So much may wait in memory for a client that is a moment behind; one that is further behind is served from its sessions' journals.
 */
const WAITING_BYTES = 256 * 1024;

export interface MasterSocket extends AsyncDisposable {
  readonly path: string;
  readonly startedAt: string;
  /**
   * Takes the socket away, so that a next daemon can open it, and the file beside it, by whose absence others know that this
   * is no crash. Connections that exist go on. Doing it twice is fine.
   */
  stopAccepting(): Promise<void>;
}

export type OpenedSocket =
  | { readonly ok: true; readonly socket: MasterSocket }
  | {
      readonly ok: false;
      readonly reason: "running" | "in_the_way" | "rights" | "unclear";
      readonly message: string;
    };

const lockMs = 10_000;
const givingBackMs = 2000;
/** A socket that is not in its place yet; a daemon that was killed in that instant leaves it. */
const unplaced = /^m[0-9a-f]{10}$/;

/**
 * Whether a daemon runs is asked of the kernel alone: a connection that is taken means running, also when nobody answers
 * on it. The socket is bound 0600 under another name in a 0700 folder and then moved into place. `onFault` hears of
 * connections that could not be accepted.
 */
export async function openMasterSocket(
  places: Places,
  onConnection: (socket: Socket) => void,
  onFault: (code: string) => void = () => {},
): Promise<OpenedSocket> {
  for (const folder of new Set([
    places.runDir,
    ...(process.platform === "win32" ? [] : [dirname(places.socketPath)]),
  ])) {
    const checked = ensurePrivateFolder(folder);
    if (!checked.ok) return checked;
  }
  if (process.platform !== "win32" && Buffer.byteLength(places.socketPath) > longestSocketPath) {
    return {
      ok: false,
      reason: "rights",
      message: `The socket path ${places.socketPath} is too long for this system.`,
    };
  }
  const lock = await startLockWithin(places.runDir, "open", lockMs);
  if (lock === undefined) {
    const message = `Another process has been starting a daemon for ${places.runDir} for ${lockMs / 1000} s. Look for a stopped one and end it.`;
    return { ok: false, reason: "unclear", message };
  }
  try {
    return await openUnderLock(places, onConnection, onFault);
  } finally {
    lock.release();
  }
}

async function openUnderLock(
  places: Places,
  onConnection: (socket: Socket) => void,
  onFault: (code: string) => void,
): Promise<OpenedSocket> {
  const path = places.socketPath;
  const probe = await probeSocket(path);
  switch (probe.state) {
    case "running":
      probe.connection.destroy();
      return running(path);
    case "crowded":
      return running(path);
    case "in_the_way":
    case "unclear":
      return { ok: false, reason: probe.state, message: probe.message };
    case "stale":
    case "absent":
  }
  const server = createServer({ allowHalfOpen: true, highWaterMark: WAITING_BYTES }, onConnection);
  let identity: FileIdentity | undefined;
  try {
    await listen(server, path);
    server.on("error", (error) => onFault(errorCode(error)));
    identity = identityOf(path);
    const startedAt = new Date().toISOString();
    const supervised = process.env["SYSTEMD_EXEC_PID"] === String(process.pid) ? { supervisor: "systemd" } : {};
    const facts = { pid: process.pid, socket: path, version: VERSION, startedAt, ...supervised };
    const content = `${JSON.stringify(facts)}\n`;
    const masterFile = writeWhole(places.masterFile, content);
    return { ok: true, socket: new OpenSocket({ places, server, startedAt, identity, content, masterFile }) };
  } catch (error) {
    if (identity !== undefined) removeIfSame(path, identity);
    if (server.listening) server.close();
    const message = `Cannot open the socket ${path} (${errorCode(error)}). Check the folder ${dirname(path)} and its disk.`;
    return { ok: false, reason: error instanceof InTheWay ? "in_the_way" : "unclear", message };
  }
}

function running(path: string): OpenedSocket {
  const message = `A daemon is already running on ${path}. Use it, or end it with: acp-master stop`;
  return { ok: false, reason: "running", message };
}

class InTheWay extends Error {}

/**
 * The socket gets its place by renaming: what listens at the path is never half made, and closing the server (which
 * unlinks the name it was bound to) cannot remove the socket of a later daemon.
 */
async function listen(server: Server, path: string): Promise<void> {
  if (process.platform === "win32") return await listening(server, () => server.listen(path));
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    if (unplaced.test(name) && obstacleAt(join(folder, name)) === undefined) removeQuietly(join(folder, name));
  }
  // As long as "master.sock", so it fits where that fits.
  const beside = join(folder, `m${randomBytes(5).toString("hex")}`);
  await listening(server, () => withUmask(0o177, () => server.listen(beside)));
  const obstacle = obstacleAt(path);
  if (obstacle !== undefined && obstacle.state !== "absent") throw new InTheWay();
  renameSync(beside, path);
}

async function listening(server: Server, listen: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.removeListener("error", reject);
      resolve();
    });
    listen();
  });
}

interface OpenParts {
  readonly places: Places;
  readonly server: Server;
  readonly startedAt: string;
  readonly identity: FileIdentity | undefined;
  readonly content: string;
  readonly masterFile: FileIdentity | undefined;
}

class OpenSocket implements MasterSocket {
  readonly path: string;
  readonly startedAt: string;
  readonly #parts: OpenParts;
  #stopped: Promise<void> | undefined;

  constructor(parts: OpenParts) {
    this.path = parts.places.socketPath;
    this.startedAt = parts.startedAt;
    this.#parts = parts;
  }

  stopAccepting(): Promise<void> {
    const { places, server, identity, masterFile, content } = this.#parts;
    this.#stopped ??= this.#underLock(() => {
      if (masterFile !== undefined) removeIfSame(places.masterFile, masterFile, content);
      if (identity !== undefined) removeIfSame(this.path, identity);
      server.close();
    });
    return this.#stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopAccepting();
  }

  /** The files are compared before they go, so a lock that nobody frees does not keep a daemon from ending. */
  async #underLock(step: () => void): Promise<void> {
    const lock = await startLockWithin(this.#parts.places.runDir, "open", givingBackMs).catch(() => undefined);
    try {
      step();
    } finally {
      lock?.release();
    }
  }
}
