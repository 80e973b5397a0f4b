// The processes that one agent started and that stayed in its process group. It signals and watches them; it decides nothing.
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const firstPollMs = 5;
const lastPollMs = 100;

/** On POSIX the leader must have been spawned `detached`. On Windows it is the tree below the leader. */
export class ProcessGroup {
  readonly pgid: number;
  #gone = false;

  constructor(pgid: number) {
    if (!Number.isSafeInteger(pgid) || pgid < 2) throw new RangeError(`not a process group id: ${pgid}`);
    this.pgid = pgid;
  }

  /** Never throws. Once the group was seen to be gone it is never signalled again: its number may belong to somebody else. */
  signal(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.#gone) return;
    if (process.platform === "win32") {
      if (signal === "SIGKILL") killWindowsTree(this.pgid);
      return;
    }
    try {
      process.kill(-this.pgid, signal);
    } catch (error) {
      if (codeOf(error) === "ESRCH") this.#gone = true;
    }
  }

  /** Resolves with true when no live member is left, with false when that took longer. Zombies do not count. */
  async gone(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, lastPollMs)) {
      if (await this.#isGone()) return true;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await sleep(Math.min(pollMs, left));
    }
  }

  async #isGone(): Promise<boolean> {
    if (this.#gone) return true;
    if (process.platform === "win32") return (this.#gone = true);
    try {
      process.kill(-this.pgid, 0);
    } catch (error) {
      // Elsewhere than on Linux EPERM is what a group of zombies answers.
      if (codeOf(error) === "ESRCH" || process.platform !== "linux") return (this.#gone = true);
    }
    if (process.platform === "linux" && !(await hasLiveMember(this.pgid))) this.#gone = true;
    return this.#gone;
  }
}

async function hasLiveMember(pgid: number): Promise<boolean> {
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    let stat: string;
    try {
      stat = await readFile(`/proc/${entry}/stat`, "latin1");
    } catch {
      continue; // It ended while the folder was read.
    }
    // The name in parentheses may itself hold spaces and parentheses.
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(group) === pgid && state !== "Z" && state !== "X") return true;
  }
  return false;
}

function killWindowsTree(pid: number): void {
  const killer = spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  killer.on("error", () => {
    // Without taskkill only the leader can be ended.
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It is gone already.
    }
  });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
