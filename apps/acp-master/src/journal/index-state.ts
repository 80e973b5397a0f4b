// What the lines of an index add up to. Pure: it reads and writes nothing.

import type { IndexLine, OpenedTicket, SnapshotKind } from "./index-lines.ts";

/** Twice as many turn marks are thinned out to about so many, so that a long session costs no more than a short one. */
const TURNS = 128;
const MAX_RUNS = 32;
/** Far more than a session can have open at once. */
const MAX_TICKETS = 10_000;

export interface Place {
  readonly position: number;
  readonly length: number;
}

export class IndexState {
  /** Position of the file's first byte. */
  base = 0;
  /** First position that is not forgotten. */
  start = 0;
  /** Positions at which turns ended, ascending. */
  turns: number[] = [];
  readonly snapshots = new Map<SnapshotKind, Place>();
  readonly tickets = new Map<string, OpenedTicket>();
  runs: { readonly run: string; readonly at: number; readonly time: number }[] = [];
  rest: { readonly bytes: number; readonly modified: string } | undefined;
  moving: { readonly from: number; readonly to: number; readonly bytes: number } | undefined;

  apply(line: IndexLine): void {
    switch (line.type) {
      case "run":
        if (this.runs.at(-1)?.run === line.run) return;
        this.cutAt(line.at);
        this.runs.push({ run: line.run, at: line.at, time: line.time });
        if (this.runs.length > MAX_RUNS) this.runs.shift();
        return;
      case "turn":
        if (line.at <= (this.turns.at(-1) ?? 0)) return;
        this.turns.push(line.at);
        if (this.turns.length > 2 * TURNS) this.turns = thinnedOut(this.turns);
        return;
      case "snapshot":
        this.snapshots.set(line.kind, { position: line.at, length: line.bytes });
        return;
      case "start":
        this.forgetBefore(line.at);
        return;
      case "move":
        this.moving = line;
        return;
      case "base":
        this.base = line.at;
        this.moving = undefined;
        return;
      case "rest":
        this.rest = { bytes: line.bytes, modified: line.modified };
        return;
      case "opening": {
        const { type: _type, ...ticket } = line;
        if (this.tickets.size < MAX_TICKETS) this.tickets.set(ticket.approvalId, ticket);
        return;
      }
      case "decision":
        this.tickets.delete(line.approvalId);
        return;
    }
  }

  /** A move that was begun and not ended: the file's size tells which of the two it is. */
  settleMove(fileBytes: number): void {
    if (!this.moving) return;
    const { from, to, bytes } = this.moving;
    this.base = fileBytes <= bytes ? to : from;
    this.moving = undefined;
  }

  /** The journal ends at `end`: marks behind it belong to frames that were lost. */
  cutAt(end: number): void {
    if ((this.turns.at(-1) ?? 0) > end) this.turns = this.turns.filter((turn) => turn <= end);
    for (const [kind, { position, length }] of this.snapshots) {
      if (position + length > end) this.snapshots.delete(kind);
    }
    this.start = Math.min(this.start, Math.max(end, this.base));
  }

  /** The journal goes on at `position` with an empty file. */
  startOver(position: number): void {
    this.base = position;
    this.moving = undefined;
    this.rest = undefined;
    this.forgetBefore(position);
  }

  /** No position that was given out is known to be higher. */
  get highest(): number {
    const ends = Array.from(this.snapshots.values(), ({ position, length }) => position + length);
    return Math.max(this.base, this.start, this.turns.at(-1) ?? 0, this.runs.at(-1)?.at ?? 0, ...ends);
  }

  /** Whether `position`, given out by that run, still names the same place. */
  holds(run: string, position: number): boolean {
    const index = this.runs.findLastIndex((each) => each.run === run);
    return index >= 0 && this.runs.slice(index + 1).every((later) => position <= later.at);
  }

  /** The shortest index that says the same. */
  lines(): IndexLine[] {
    const { base, start, rest, moving } = this;
    return [
      ...this.runs.map((run): IndexLine => ({ type: "run", ...run })),
      { type: "base", at: base },
      { type: "start", at: start },
      ...this.turns.map((at): IndexLine => ({ type: "turn", at })),
      ...Array.from(this.snapshots, ([kind, { position, length }]): IndexLine => ({
        type: "snapshot",
        kind,
        at: position,
        bytes: length,
      })),
      ...Array.from(this.tickets.values(), (ticket): IndexLine => ({ type: "opening", ...ticket })),
      ...(rest ? [{ type: "rest", ...rest } as const] : []),
      ...(moving ? [{ type: "move", from: moving.from, to: moving.to, bytes: moving.bytes } as const] : []),
    ];
  }

  forgetBefore(position: number): void {
    this.start = Math.max(this.start, position);
    if ((this.turns[0] ?? position + 1) <= position) this.turns = this.turns.filter((turn) => turn > position);
    for (const [kind, place] of this.snapshots) if (place.position < position) this.snapshots.delete(kind);
  }
}

/** Without the marks between which there is little: of the others no two that follow one another could be one. */
function thinnedOut(turns: readonly number[]): number[] {
  const last = turns.at(-1)!;
  const much = (2 * (last - turns[0]!)) / TURNS;
  let kept = 0;
  return turns.filter((turn, index) => {
    if (turn !== last && turns[index + 1]! - kept <= much) return false;
    kept = turn;
    return true;
  });
}
