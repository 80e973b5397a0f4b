// Keeps a key press or click that was meant for something else from answering a question that has just appeared.

/** A question that has just come up answers to nobody for this long, and goes on so while somebody is still typing. */
export const guardMs = 500;

/** When a question came up, and when a key was last pressed while it was guarded. Times in ms of one monotonic clock. */
export interface Guard {
  readonly since: number;
}

export const guardFrom = (now: number): Guard => ({ since: now });

export const isGuarded = (guard: Guard, now: number): boolean => now - guard.since < guardMs;

/** Somebody who types on when the question appears does not mean it: the time begins again with every such key. */
export function afterKey(guard: Guard, now: number): Guard {
  return isGuarded(guard, now) ? { since: now } : guard;
}

/** Which of `count` options a number key means, from 0. Nine have a key; with a modifier it is no answer. */
export function optionOfKey(
  key: {
    readonly key: string;
    readonly ctrlKey: boolean;
    readonly altKey: boolean;
    readonly metaKey: boolean;
    readonly repeat: boolean;
  },
  count: number,
): number | undefined {
  if (key.ctrlKey || key.altKey || key.metaKey || key.repeat) return undefined;
  const option = /^[1-9]$/.test(key.key) ? Number(key.key) - 1 : -1;
  return option >= 0 && option < count ? option : undefined;
}
