// Cuts a growing Markdown message into blocks that can be rendered, and windowed, one by one. What it has closed never changes again.

/** A list that is longer ends before its next item, any other block at the end of its line, a line in its middle. */
const longestList = 2_000;
const longestBlock = 8_000;
const longestLine = 8_000;
/** What is kept of the line that opens a fence. */
const longestFence = 100;

const listItem = /^\s{0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const fence = /^ {0,3}(`{3,}|~{3,})([^\n]*)/;

/**
 * A block ends at a blank line, as soon as the line behind it is whole, unless it is a list or a fence that goes on. Rendering the blocks one after the other
 * gives what rendering the whole gives, except that references to link definitions do not cross blocks.
 */
export class MessageBlocks {
  #open = "";
  /** The part of the open block that has no line end yet begins here. */
  #lineAt = 0;
  /** The line that opened the fence in which the text stands. */
  #fence: string | undefined;
  #hasText = false;
  #isList = false;
  /** A blank line behind text: the next line says whether the block ends. */
  #mayEnd = false;
  #closed: string[] = [];

  /** The block that was open, as it is now, and those that began since. The last one is open (it may be empty). */
  add(text: string): readonly string[] {
    let open = this.#open + text;
    let end: number;
    while ((end = open.indexOf("\n", this.#lineAt)) >= 0) {
      const line = open.slice(this.#lineAt, end);
      if (this.#endsBefore(line)) {
        this.#close(open.slice(0, this.#lineAt));
        open = open.slice(this.#lineAt);
        end -= this.#lineAt;
        this.#lineAt = 0;
      }
      this.#read(line);
      this.#lineAt = end + 1;
      if (this.#lineAt >= longestBlock) open = this.#cutAt(open, this.#lineAt);
    }
    while (open.length - this.#lineAt > longestLine)
      open = this.#cutAt(open, placeToCut(open, this.#lineAt + longestLine));
    this.#open = open;
    return [...this.#closed.splice(0), open];
  }

  #close(text: string): void {
    this.#closed.push(text);
    this.#hasText = false;
    this.#isList = false;
    this.#mayEnd = false;
  }

  /** Closes in the middle of something; within a fence the rest begins with that fence again. */
  #cutAt(open: string, at: number): string {
    const opening = this.#fence;
    const text = open.slice(0, at);
    const marks = fence.exec(opening ?? "")?.[1];
    this.#close(marks === undefined ? text : `${text}${text.endsWith("\n") ? "" : "\n"}${marks}\n`);
    const begin = opening === undefined ? "" : `${opening}\n`;
    this.#hasText = opening !== undefined;
    this.#lineAt = begin.length;
    return begin + open.slice(at);
  }

  #endsBefore(line: string): boolean {
    if (this.#fence !== undefined || line.trim() === "") return false;
    if (this.#isList && this.#lineAt > longestList && /^\S/.test(line) && listItem.test(line)) return true;
    if (!this.#mayEnd) return false;
    return !this.#isList || !(/^\s/.test(line) || listItem.test(line));
  }

  #read(line: string): void {
    if (this.#fence !== undefined) {
      if (closes(line, this.#fence)) this.#fence = undefined;
      return;
    }
    const isBlank = line.trim() === "";
    this.#mayEnd = isBlank && this.#hasText;
    if (isBlank) return;
    if (!this.#hasText) this.#isList = listItem.test(line);
    this.#hasText = true;
    const [, marks = "", rest = ""] = fence.exec(line) ?? [];
    if (marks !== "" && !(marks.startsWith("`") && rest.includes("`"))) this.#fence = line.slice(0, longestFence);
  }
}

function closes(line: string, opening: string): boolean {
  const [, marks = "", rest = ""] = fence.exec(line) ?? [];
  const opened = fence.exec(opening)?.[1] ?? "";
  return marks[0] === opened[0] && marks.length >= opened.length && rest.trim() === "";
}

/** At a space where there is one in the last quarter, and never within a character. */
function placeToCut(text: string, limit: number): number {
  const space = text.lastIndexOf(" ", limit);
  if (space > limit - longestLine / 4) return space + 1;
  const before = text.charCodeAt(limit - 1);
  return before >= 0xd800 && before <= 0xdbff ? limit - 1 : limit;
}
