// The daemon after the one that is gone: started after a crash, waited for where somebody else starts it.
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Places } from "../config/places.ts";
import { type EnsureOptions, type ReachedDaemon, reachDaemon } from "./ensure-daemon.ts";

/** Longer than an old daemon takes to end its turns and a new one to start. */
const patienceMs = 60_000;
const slowestMs = 500;

export interface NextDaemonOptions extends EnsureOptions {
  /** The daemon said that it restarts. */
  readonly announced: boolean;
  readonly patienceMs?: number;
}

/**
 * A daemon that ended in order has taken its file away. Where it said why, whoever restarts it may have been interrupted, so
 * that after a while one is started all the same; where it did not, it may have been stopped for good.
 */
export async function nextDaemon(places: Places, options: NextDaemonOptions): Promise<ReachedDaemon> {
  const mayStart = options.start !== false;
  const crashed = !options.announced && existsSync(places.masterFile);
  if (mayStart && crashed) return await reachDaemon(places, options);
  const deadline = performance.now() + (options.patienceMs ?? patienceMs);
  for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, slowestMs)) {
    const reached = await reachDaemon(places, { ...options, start: false });
    if (reached.ok || reached.reason === "failed") return reached;
    if (performance.now() > deadline)
      return mayStart && options.announced ? await reachDaemon(places, options) : reached;
    await pause(waitMs);
  }
}
