// Keeps keys that were meant for something else away from a card that has just come up. Pure.

export const quietMs = 500;

/** `since`: when the card came up, or when the last key that did not count was pressed. Monotonic milliseconds. */
export interface Quiet {
  readonly since: number;
}

/**
 * A key counts only after half a second in which none was pressed: whoever is typing when the card comes up goes on
 * typing past any fixed time.
 */
export function keyAt(quiet: Quiet, now: number): { readonly counts: boolean; readonly quiet: Quiet } {
  return now - quiet.since < quietMs ? { counts: false, quiet: { since: now } } : { counts: true, quiet };
}
