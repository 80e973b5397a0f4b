// What the tests see of the machine's processes. Linux only; a zombie counts as gone.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

export function groupOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}

/** Every live process whose environment holds the text. */
export function carriersOf(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`).includes(text) && isAlive(pid);
      } catch {
        return false;
      }
    });
}

/** What the descriptors of a process point to, for example `socket:[4711]`. */
export function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return "closed";
    }
  });
}

/** Waits for a state of the machine that sends no event. */
export async function until(holds: () => boolean, withinMs: number, what: string): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(10);
  }
}

/** The signals that a process ignores, as a bit mask. */
export function ignoredSignals(pid: number): bigint {
  const field = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
  return BigInt(`0x${field?.[1] ?? "0"}`);
}
