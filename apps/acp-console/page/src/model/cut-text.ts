// How much of a text is shown at first. What is left out is counted, and never half a character.

export interface CutText {
  readonly shown: string;
  /** Characters that are not shown. */
  readonly rest: number;
}

export interface Limits {
  readonly characters: number;
  readonly lines: number;
}

/** A block of text, an argument beside a diff, everything that a call is given, a diff. */
export const limits = {
  block: { characters: 12_000, lines: 40 },
  argument: { characters: 240, lines: 40 },
  input: { characters: 6_000, lines: Infinity },
  diff: { characters: 12_000, lines: 120 },
} as const satisfies Record<string, Limits>;

/**
 *     cutText("a\nb\nc", { characters: 100, lines: 2 })   // { shown: "a\nb\n", rest: 1 }
 */
export function cutText(text: string, limits: Limits): CutText {
  let end = Math.min(text.length, limits.characters);
  const code = text.charCodeAt(end - 1);
  if (end < text.length && code >= 0xd800 && code <= 0xdbff) end -= 1;
  let from = 0;
  for (let line = 0; line < limits.lines; line += 1) {
    const at = text.indexOf("\n", from);
    if (at < 0 || at >= end) return { shown: text.slice(0, end), rest: text.length - end };
    from = at + 1;
  }
  return { shown: text.slice(0, from), rest: text.length - from };
}

/** The same for lines of a diff. */
export function cutLines<Line extends { readonly text: string }>(
  lines: readonly Line[],
  limits: Limits,
): { readonly shown: readonly Line[]; readonly rest: number } {
  let characters = 0;
  const end = lines.findIndex((line, at) => {
    characters += line.text.length + 1;
    return at >= limits.lines || characters > limits.characters;
  });
  if (end < 0) return { shown: lines, rest: 0 };
  return { shown: lines.slice(0, Math.max(1, end)), rest: lines.length - Math.max(1, end) };
}
