// Processes that left their group are found by a mark in their environment, which every child inherits. Linux only.
import { readdir, readFile } from "node:fs/promises";

/** Sends KILL to every process whose environment says `name=value`. Elsewhere than on Linux it does nothing. */
export async function killMarked(name: string, value: string): Promise<void> {
  if (process.platform !== "linux") return;
  const mark = `${name}=${value}`;
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1");
      if (environment.split("\0").includes(mark)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended, or is somebody else's.
    }
  }
}
