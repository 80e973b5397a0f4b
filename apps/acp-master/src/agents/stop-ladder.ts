// Ends one agent step by step: close its input, TERM, KILL. It reports nothing and knows no protocol.
import { happensWithin } from "./happens-within.ts";
import type { ProcessGroup } from "./process-group.ts";

export interface LadderTimes {
  readonly eofMs: number;
  readonly termMs: number;
  readonly killMs: number;
}

export const ladderTimes: LadderTimes = { eofMs: 3000, termMs: 2000, killMs: 2000 };

export interface LadderTarget {
  readonly group: ProcessGroup;
  /** Resolves when the leader has exited and its status was collected. */
  readonly leaderExited: Promise<void>;
  closeInput(): void;
}

/** Resolves with true when the leader is gone, with false when even KILL did not end it in time. */
export async function climbDown(target: LadderTarget, times: LadderTimes = ladderTimes): Promise<boolean> {
  target.closeInput();
  if (await happensWithin(target.leaderExited, times.eofMs)) return true;
  target.group.signal("SIGTERM");
  if (await happensWithin(target.leaderExited, times.termMs)) return true;
  target.group.signal("SIGKILL");
  return happensWithin(target.leaderExited, times.killMs);
}

/** Kills what is left of the group and waits until it is gone; a second KILL after half the time. */
export async function clearGroup(group: ProcessGroup, withinMs: number = ladderTimes.killMs): Promise<boolean> {
  group.signal("SIGKILL");
  if (await group.gone(withinMs / 2)) return true;
  group.signal("SIGKILL");
  return group.gone(withinMs / 2);
}
