// Splits untrusted text into what may be shown as it is and what would hide, reorder or fake other text. It drops nothing.

/** A stretch of harmless text, or one character that is shown by its code point. */
export type Segment = string | Escape;

export interface Escape {
  /** `U+202E` and the like: what is shown. */
  readonly shown: string;
  /** What the character does, for a tooltip and for screen readers. */
  readonly meaning: string;
}

/** How much the text may use: `line` escapes line breaks and tabs, `lines` keeps them, `prose` also keeps joined emoji. */
export type TextUse = "line" | "lines" | "prose";

const invisible =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0\uFFFC]/u;
/** A warning sign, a family: the selector or joiner stays with the picture that it belongs to. */
const joinedEmoji = /[0-9#*]\uFE0F?\u20E3|[\p{Emoji}--[0-9#*]]\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?)*/v;

const patterns: Readonly<Record<TextUse, RegExp>> = {
  line: new RegExp(invisible.source, "gu"),
  lines: new RegExp(`(?![\\n\\t])${invisible.source}`, "gu"),
  prose: new RegExp(`(${joinedEmoji.source})|(?![\\n\\t])${invisible.source}`, "gv"),
};

const meanings: readonly (readonly [RegExp, string])[] = [
  [/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/u, "changes the direction of text"],
  [/[\u200B-\u200D\u2060\uFEFF\u00AD]/u, "zero width"],
  [/\p{Cc}/u, "control character"],
  [/[\u{E0000}-\u{E007F}]/u, "invisible tag"],
  [/[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u, "variation selector"],
  [/[\p{Zl}\p{Zp}]/u, "line separator"],
  [/\p{Co}/u, "private use"],
  [/\p{Cs}/u, "half of a character"],
];

/**
 *     segments("rm\u202E x", "line")   // ["rm", { shown: "U+202E", meaning: "changes the direction of text" }, " x"]
 */
export function segments(text: string, use: TextUse): Segment[] {
  const pattern = patterns[use];
  const found: Segment[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[1] !== undefined) continue;
    // A carriage return before a line feed is the line's end.
    if (use !== "line" && match[0] === "\r" && text[match.index + 1] === "\n") {
      if (match.index > from) found.push(text.slice(from, match.index));
      from = match.index + 1;
      continue;
    }
    if (match.index > from) found.push(text.slice(from, match.index));
    found.push(escapeOf(match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/** The same as one string, for places that hold no markup: titles, labels, the names of options in a select. */
export function visibleLine(text: string): string {
  return segments(text, "line")
    .map((segment) => (typeof segment === "string" ? segment : `<${segment.shown}>`))
    .join("");
}

function escapeOf(character: string): Escape {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const meaning = meanings.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible";
  return { shown: `U+${code}`, meaning };
}
