// What the clients of one session saw, in order: whole frames, each with its LF. Positions are byte offsets that only
// grow; clients are cursors on them.

/** Where a session's frames are kept. Append is synchronous and returns the position behind the frames. */
export interface SessionLog {
  /** First position that can still be read. */
  readonly start: number;
  /** Position behind the last frame. */
  readonly end: number;
  /** With a position, names a place for `resumable`. It changes when a daemon begins to append. */
  readonly run: string;
  /** Whether a client that saw everything before `position`, in that run, can go on from there. */
  resumable(run: string, position: number): boolean;
  /**
   * `frames` is one or more whole frames, LF included; the bytes must not change any more. Returns the new end. `mayWait`: nobody has
   * seen them yet, and more come in a moment.
   */
  append(frames: Buffer, mayWait?: boolean): number;
  /** The frames from `from` (a frame boundary) on: at least one append, then whole appends up to `maxBytes` or `to`. */
  read(from: number, to: number, maxBytes: number): Buffer[];
  /** Marks the current end as a turn boundary; only whole turns are forgotten, never past `keepFrom`. */
  trim(keepFrom: number): void;
  turnBoundary(): void;
}
