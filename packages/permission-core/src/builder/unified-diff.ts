// A unified diff for people: bounded, with every cut marked and invisible changes made visible. It is no patch to apply.
import { readFile } from "node:fs/promises";
import { structuredPatch } from "diff";

const linesPerSide = 500;
const outputLines = 120;
const contextLines = 3;

export interface FileChange {
  /** Shown in the two header lines. */
  readonly file: string;
  readonly current: string;
  readonly proposed: string;
}

/**
 * The diff, or an empty string when nothing changes.
 *
 *     unifiedDiff({ file: "a.txt", current: "one\n", proposed: "two\n" })
 */
export function unifiedDiff({ file, current, proposed }: FileChange): string {
  if (current === proposed) return "";
  const before = firstLines(current);
  const after = firstLines(proposed);
  const { hunks } = structuredPatch("", "", before.text, after.text, undefined, undefined, { context: contextLines });
  const visible = withoutSpace(current) === withoutSpace(proposed) ? showSpace : (line: string) => line;
  const body = hunks.flatMap((hunk) => [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines.map(visible),
  ]);
  const name = file.replaceAll(/[\r\n]/gu, " ");
  const head = [`--- ${name} (current)`, `+++ ${name} (proposed)`];
  const cuts = [...cutNote(before.cut, "the current file"), ...cutNote(after.cut, "the proposed file")];
  return [...head, ...bounded(body, outputLines - head.length - cuts.length), ...cuts].join("\n");
}

/** The diff against the file as it is at this moment; a missing file counts as empty, and undefined says that it cannot be made. */
export async function unifiedDiffOfFile(path: string, proposed: string): Promise<string | undefined> {
  try {
    return unifiedDiff({ file: path, current: await readFile(path, "utf8"), proposed });
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return missing ? unifiedDiff({ file: path, current: "", proposed }) : undefined;
  }
}

// A range without lines names the line before it.
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

function firstLines(text: string): { readonly text: string; readonly cut: number } {
  let end = 0;
  for (let line = 0; line < linesPerSide; line += 1) {
    const feed = text.indexOf("\n", end);
    if (feed === -1) return { text, cut: 0 };
    end = feed + 1;
  }
  const rest = text.slice(end);
  const cut = rest === "" ? 0 : rest.split("\n").length - (rest.endsWith("\n") ? 1 : 0);
  return { text: text.slice(0, end), cut };
}

function cutNote(lines: number, of: string): readonly string[] {
  return lines === 0 ? [] : [`[${lines} more lines of ${of} were not compared]`];
}

function bounded(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `[${lines.length - most + 1} more lines of this diff are not shown]`];
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/gu, "");
}

function showSpace(line: string): string {
  if (!line.startsWith("+") && !line.startsWith("-")) return line;
  return line.replaceAll(" ", "·").replaceAll("\t", "→").replaceAll("\r", "␍");
}
