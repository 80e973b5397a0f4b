// Cuts text into rows of a terminal so that nothing can be lost at the right edge.

/** No character takes more than two columns, and plain ASCII takes one: a row that fits by this count fits. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character < "\u007f" ? 1 : 2;
  return columns;
}

/** At least one row; every character of the text is in exactly one, in order. */
export function wrapped(text: string, columns: number): string[] {
  const rows: string[] = [];
  let row = "";
  let used = 0;
  for (const character of text) {
    const width = columnsOf(character);
    if (used + width > columns && row !== "") {
      rows.push(row);
      row = "";
      used = 0;
    }
    row += character;
    used += width;
  }
  rows.push(row);
  return rows;
}

/** As much of the beginning as fits; a cut is marked. For text on which nothing depends. */
export function fitted(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const [first = ""] = wrapped(text, Math.max(columns - 3, 1));
  return `${first}...`.slice(0, Math.max(columns, 0));
}
