// Which panes are taken by talking to agents: a program of ours runs in them, or below what runs in them. Nothing is ever
// typed there.
import { execFile } from "node:child_process";
import type { PaneRow } from "./view.ts";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** The program and its arguments, as `ps` shows them. */
  readonly command: string;
}

/** `acp-master connect`, `npx acp-master run`, `node …/acp-master.js tail`, `node …/helper-terminal.js review` and so on. */
const ourProgram = /(?:^|[\s/\\])(?:acp-master|helper-terminal)(?:\.[cm]?js)?\s+(?:connect|run|tail|review)(?:\s|$)/;

export function agentPanes(panes: readonly PaneRow[], processes: readonly ProcessRow[]): ReadonlySet<string> {
  const paneOf = new Map(panes.map(({ pid, pane }) => [pid, pane]));
  const parentOf = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const found = new Set<string>();
  for (const { pid, command } of processes) {
    if (!ourProgram.test(command)) continue;
    const seen = new Set<number>();
    for (let at: number | undefined = pid; at !== undefined && !seen.has(at); at = parentOf.get(at)) {
      seen.add(at);
      const pane = paneOf.get(at);
      if (pane !== undefined) found.add(pane);
    }
  }
  return found;
}

/** `undefined` when they cannot be listed. */
export async function runningProcesses(signal?: AbortSignal): Promise<readonly ProcessRow[] | undefined> {
  return await new Promise((resolve) => {
    const settings = { timeout: 5_000, maxBuffer: 32 * 1024 * 1024, ...(signal && { signal }) };
    execFile("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], settings, (error, stdout) =>
      resolve(error === null ? readProcesses(stdout) : undefined),
    );
  });
}

export function readProcesses(text: string): ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}
