// How much of a journal may be forgotten so that it keeps to its bound. Pure.

export interface TrimQuestion {
  readonly start: number;
  readonly end: number;
  /** Ends of turns, ascending. */
  readonly turns: readonly number[];
  readonly maxBytes: number;
  /** Nothing from here on may go. */
  readonly keepFrom: number;
}

export interface TrimAnswer {
  /** The new start: the end of a turn, or the start as it is. */
  readonly whole: number;
  /** One endless turn holds far more than all may: the first end of a frame from here on is the new start. */
  readonly inTurn?: number;
}

const FAR_OVER = 4;

export function trimPosition({ start, end, turns, maxBytes, keepFrom }: TrimQuestion): TrimAnswer {
  const least = end - maxBytes;
  let whole = start;
  for (const turn of turns) {
    // The last turn stays, however long it was.
    if (turn > keepFrom || turn >= end) break;
    if (turn > start) whole = turn;
    if (turn >= least) break;
  }
  if (end - whole <= FAR_OVER * maxBytes) return { whole };
  const inTurn = Math.min(keepFrom, least);
  return inTurn > whole ? { whole, inTurn } : { whole };
}
