// The lines of a change, with a few unchanged ones around. Where comparing would take too long, everything goes and comes.
import { structuredPatch } from "diff";

export interface DiffLine {
  readonly change: "same" | "removed" | "added" | "gap";
  readonly text: string;
  readonly oldLine: number | undefined;
  readonly newLine: number | undefined;
}

export interface ShownDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
  /** Nothing but white space changes, so it has to be visible. */
  readonly isWhiteSpace: boolean;
}

const context = 3;
/** More differences than this are not worth finding out one by one. */
const mostEdits = 4_000;
const longestMs = 200;

export function diffOf(oldText: string, newText: string): ShownDiff {
  const patch = structuredPatch("", "", oldText, newText, "", "", {
    context,
    maxEditLength: mostEdits,
    timeout: longestMs,
  });
  const lines = patch === undefined ? replaced(oldText, newText) : patch.hunks.flatMap((hunk, at) => linesOf(hunk, at));
  return {
    lines,
    added: lines.filter((line) => line.change === "added").length,
    removed: lines.filter((line) => line.change === "removed").length,
    isWhiteSpace: oldText.replaceAll(/\s+/g, "") === newText.replaceAll(/\s+/g, ""),
  };
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

function linesOf(hunk: Hunk, at: number): DiffLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  const isFirst = at === 0 && hunk.oldStart <= 1;
  const lines: DiffLine[] = isFirst ? [] : [gap("")];
  for (const line of hunk.lines) {
    const text = line.slice(1);
    if (line.startsWith("-")) lines.push({ change: "removed", text, oldLine: oldLine++, newLine: undefined });
    else if (line.startsWith("+")) lines.push({ change: "added", text, oldLine: undefined, newLine: newLine++ });
    else if (line.startsWith(" ")) lines.push({ change: "same", text, oldLine: oldLine++, newLine: newLine++ });
    else lines.push(gap("no line break at the end"));
  }
  return lines;
}

const gap = (text: string): DiffLine => ({ change: "gap", text, oldLine: undefined, newLine: undefined });

function replaced(oldText: string, newText: string): DiffLine[] {
  const removed = oldText.split("\n").map((text, at): DiffLine => {
    return { change: "removed", text, oldLine: at + 1, newLine: undefined };
  });
  const added = newText.split("\n").map((text, at): DiffLine => {
    return { change: "added", text, oldLine: undefined, newLine: at + 1 };
  });
  return [...removed, ...added];
}
