// Reaches the daemon, and starts one where none runs: exactly one, however many ask in the same moment.
import { dirname } from "node:path";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Places } from "../config/places.ts";
import { checkPrivateFolder, ensurePrivateFolder } from "../daemon/private-folder.ts";
import { obstacleAt, type Probe, probeSocket } from "../daemon/probe-socket.ts";
import { tryStartLock, within } from "../daemon/start-lock.ts";
import { startDaemon } from "./start-daemon.ts";

export interface EnsureOptions {
  /** The script that is run with `serve`; by default the one that runs. */
  readonly program?: string;
  readonly args?: readonly string[];
  /** How long a start may take. */
  readonly timeoutMs?: number;
  /** False: a daemon that runs is reached, none is started. */
  readonly start?: boolean;
}

export type ReachedDaemon =
  /** The caller owns the connection; it is half-open at its end. */
  | { readonly ok: true; readonly connection: Socket }
  | { readonly ok: false; readonly reason: "no_daemon" | "failed"; readonly message: string };

/** The socket of a daemon that takes connections. */
export async function ensureDaemon(
  places: Places,
  options: EnsureOptions = {},
): Promise<{ readonly ok: true; readonly socket: string } | { readonly ok: false; readonly message: string }> {
  const reached = await reachDaemon(places, options);
  if (!reached.ok) return { ok: false, message: reached.message };
  reached.connection.destroy();
  return { ok: true, socket: places.socketPath };
}

/** A daemon that is slow, stopped or busy is never replaced: only a refused or missing socket means that none runs. */
export async function reachDaemon(places: Places, options: EnsureOptions = {}): Promise<ReachedDaemon> {
  const timeoutMs = options.timeoutMs ?? 45_000;
  // Those who wait give the starter its whole time.
  const deadline = performance.now() + timeoutMs + 5000;
  for (let starts = 0, waitMs = 5; ;) {
    const probe = await probeFor(places);
    if (probe.state === "running") return { ok: true, connection: probe.connection };
    if (probe.state === "in_the_way" || probe.state === "unclear") return failed(probe.message);
    const leftMs = deadline - performance.now();
    if (leftMs < 0) return failed(`No daemon could be reached on ${places.socketPath} in time. Try: acp-master doctor`);
    if (probe.state === "crowded") {
      await pause(waitMs);
      waitMs = Math.min(waitMs * 2, 200);
      continue;
    }
    if (options.start === false) return noDaemon(places);
    const folder = ensurePrivateFolder(places.runDir);
    if (!folder.ok) return failed(folder.message);
    const attempt = await tryStartLock(places.runDir, "start");
    if (!attempt.held) {
      const word = await within(attempt, leftMs);
      if (word === undefined)
        return failed("Another process is starting the daemon and does not go on. Try: acp-master doctor");
      if (word !== "") return failed(word);
      continue;
    }
    let word = "";
    try {
      const again = await probeFor(places);
      if (again.state === "running") return { ok: true, connection: again.connection };
      if (++starts > 2) word = "The daemon became ready and was gone at once. Try: acp-master serve";
      else word = await startWord(places, options, timeoutMs);
    } finally {
      attempt.lock.release(word);
    }
    if (word !== "") return failed(word);
  }
}

/** Empty when the daemon is ready, else why not. */
async function startWord(places: Places, options: EnsureOptions, timeoutMs: number): Promise<string> {
  const program = options.program ?? process.argv[1];
  if (program === undefined) return "It is not known which program to start as the daemon. Try: acp-master serve";
  const started = await startDaemon(places, { program, args: options.args ?? ["serve"], timeoutMs });
  return started.ok ? "" : started.message;
}

/** A client must not talk to what another user put there: the folder is as much a proof as the socket's owner. */
async function probeFor(places: Places): Promise<Probe> {
  const path = places.socketPath;
  if (process.platform !== "win32" && obstacleAt(path) === undefined) {
    const folder = checkPrivateFolder(dirname(path));
    if (!folder.ok) return { state: "unclear", message: folder.message };
  }
  return await probeSocket(path);
}

function failed(message: string): ReachedDaemon {
  return { ok: false, reason: "failed", message };
}

function noDaemon(places: Places): ReachedDaemon {
  return {
    ok: false,
    reason: "no_daemon",
    message: `No daemon runs on ${places.socketPath}. Start one with: acp-master serve`,
  };
}
