// Ends the running daemon in order and waits until its process is gone. It kills nothing.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { ClientError } from "../client/client-error.ts";
import { MasterClient } from "../client/master-client.ts";
import { errorCode } from "../config/error-code.ts";
import type { Places } from "../config/places.ts";
import { asRecord } from "../protocol/json-value.ts";

export type StopReason = "stop" | "restart";

/**
 * Returns the pid of the daemon that ended. Fails with a ClientError of kind no_daemon when none runs. A daemon of another
 * version is stopped too: that is the remedy for the mismatch, so no version is compared here.
 */
export async function stopDaemon(places: Places, reason: StopReason): Promise<number | undefined> {
  const pid = daemonPid(places);
  const client = await MasterClient.connect({
    socketPath: places.socketPath,
    name: `acp-master ${reason}`,
    role: "controller",
    version: null,
  });
  try {
    await client.request("_acp-master/stop", { reason }, { timeoutMs: 0 });
  } catch (error) {
    // The daemon may be gone before its answer is read; what counts is that it goes.
    if (!(error instanceof ClientError) || error.kind !== "connection_lost") throw error;
  }
  await client.closed;
  if (pid !== undefined) await processGone(pid);
  return pid;
}

/** The pid that the daemon wrote beside its socket. */
export function daemonPid(places: Places): number | undefined {
  try {
    const { pid } = asRecord(JSON.parse(readFileSync(places.masterFile, "utf8")));
    return typeof pid === "number" && Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined; // no file, or not ours to read: the closed socket is all there is to wait for
  }
}

/** No event tells of the end of a process that is not a child, so this looks, ten times a second. */
async function processGone(pid: number): Promise<void> {
  while (isRunning(pid)) await pause(100);
}

/** A process that ended but was not collected by its parent counts as gone. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.charAt(stat.lastIndexOf(")") + 2) !== "Z";
  } catch {
    return process.platform !== "linux"; // no /proc here, or the process ended between the two looks
  }
}
