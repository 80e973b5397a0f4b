// What runs on this machine, read from /proc (Linux only): for leak checks and for "is it really gone".
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { eventually } from "./events.ts";

export interface RunningProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly command: string;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // gone since, or not ours to read
  }
}

/** A process that runs; undefined when there is none (a zombie counts as gone: it only waits to be reaped). */
export function processOf(pid: number): RunningProcess | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const [state, ppid, pgid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return undefined;
  const command = (read(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trim();
  return { pid, ppid: Number(ppid), pgid: Number(pgid), command };
}

export const isRunning = (pid: number): boolean => processOf(pid) !== undefined;

export function allProcesses(): RunningProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processOf(Number(name)))
    .filter((found) => found !== undefined);
}

/** The processes whose environment holds this text anywhere. The caller itself is left out. */
export function processesMarked(marker: string): RunningProcess[] {
  return allProcesses().filter(
    ({ pid }) => pid !== process.pid && (read(`/proc/${pid}/environ`) ?? "").includes(marker),
  );
}

/** The environment that a process was started with. */
export function environmentOf(pid: number): Record<string, string> {
  const entries = (read(`/proc/${pid}/environ`) ?? "").split("\0").filter((entry) => entry.includes("="));
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

export const cwdOf = (pid: number): string => readlinkSync(`/proc/${pid}/cwd`);

/** Children, their children and so on. */
export function descendantsOf(pid: number): RunningProcess[] {
  const all = allProcesses();
  const found: RunningProcess[] = [];
  const walk = (parent: number): void => {
    for (const child of all.filter((one) => one.ppid === parent)) {
      found.push(child);
      walk(child.pid);
    }
  };
  walk(pid);
  return found;
}

export const residentBytesOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1] ?? 0) * 1024;

export const openFilesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Resolves when the pid no longer runs. */
export async function processGone(pid: number, deadlineMs?: number): Promise<void> {
  await eventually(() => !isRunning(pid), `process ${pid} (${processOf(pid)?.command ?? "gone"}) ends`, deadlineMs);
}

/** Waits until nothing with the marker runs; gives what is still there at the deadline. */
export async function leftovers(marker: string, deadlineMs: number): Promise<RunningProcess[]> {
  try {
    await eventually(() => processesMarked(marker).length === 0, "no process left", deadlineMs);
    return [];
  } catch {
    return processesMarked(marker);
  }
}

/** Ends processes that carry the marker of this test; for clearing up after a failure was noted. */
export function killMarked(marker: string): void {
  for (const { pid } of processesMarked(marker)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone in between
    }
  }
}
