// Prints rows: a table on a terminal, tab-separated lines with a header anywhere else. Every cell is made visible first.
import { painter, type Surface } from "./colour.ts";
import { shortened, visibleLine } from "./untrusted-text.ts";

export interface Column<Row> {
  readonly title: string;
  /** The cell for programs: complete and stable. */
  readonly value: (row: Row) => string;
  /** The cell for people, where it differs (an age instead of a time). */
  readonly shown?: (row: Row) => string;
}

const longestCell = 60;

/** Returns the text with its last line feed. `empty` is what people read when there are no rows; programs get the header alone. */
export async function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: { surface: Surface; empty: string },
): Promise<string> {
  if (options.surface.isTTY !== true) {
    const lines = [columns.map((column) => column.title.toLowerCase().replaceAll(" ", "_"))];
    for (const row of rows) lines.push(columns.map((column) => visibleLine(column.value(row))));
    return lines.map((cells) => `${cells.join("\t")}\n`).join("");
  }
  if (rows.length === 0) return `${options.empty}\n`;
  const { default: CliTable } = await import("cli-table3");
  const paint = painter(options.surface);
  const drawn = new CliTable({
    head: columns.map((column) => paint("bold", column.title)),
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 0 },
    chars: borderless,
  });
  for (const row of rows) {
    drawn.push(columns.map((column) => shortened(visibleLine((column.shown ?? column.value)(row)), longestCell)));
  }
  const text = drawn.toString();
  return `${text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")}\n`;
}

const borderless = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};
