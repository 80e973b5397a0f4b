// The daemon after the one that is gone: started after a crash, waited for where somebody else starts it.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Places } from "../config/places.ts";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";
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
 * A daemon that ended in order has taken its file away, and may have been stopped for good. One that crashed has left it, and
 * the file says whether the service manager starts it again. Who was to start one may have been interrupted, so that after a
 * while one is started all the same.
 */
export async function nextDaemon(places: Places, options: NextDaemonOptions): Promise<ReachedDaemon> {
  const left = fileOf(places);
  const isComing = options.announced || left?.["supervisor"] !== undefined;
  const mayStart = options.start !== false && (isComing || left !== undefined);
  if (mayStart && !isComing) return await reachDaemon(places, options);
  const deadline = performance.now() + (options.patienceMs ?? patienceMs);
  for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, slowestMs)) {
    const reached = await reachDaemon(places, { ...options, start: false });
    if (reached.ok || reached.reason === "failed") return reached;
    if (performance.now() > deadline) return mayStart ? await reachDaemon(places, options) : reached;
    await pause(waitMs);
  }
}

/** What the last daemon left of itself; undefined: nothing. */
function fileOf(places: Places): JsonRecord | undefined {
  let text: string;
  try {
    text = readFileSync(places.masterFile, "utf8");
  } catch {
    return undefined;
  }
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return {}; // it was killed while it wrote it
  }
}
