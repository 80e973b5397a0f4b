// Makes text that agents and clients wrote safe to show: what a terminal would obey or hide becomes a visible escape. It never shortens without a mark.

/**
 * Everything that changes how other text looks or that cannot be seen: controls, bidirectional marks, zero-width and
 * filler characters, tags, variation selectors, line and paragraph separators, private use, lone surrogates.
 */
const unsafe =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0\uFFFC]/gu;
const unsafeButLines =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0\uFFFC]/gu;

const escapeCharacter = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;

/** One line of text: line breaks and tabs are escaped like everything else that is not plainly visible. */
export function visibleLine(text: string): string {
  return text.replace(unsafe, escapeCharacter);
}

/** Text of several lines: line feeds and tabs stay, the rest is as in `visibleLine` (a lone carriage return is escaped). */
export function visibleLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(unsafeButLines, escapeCharacter);
}

/**
 * Cuts after `limit` code points and says how many are missing.
 *
 *     shortened("abcdef", 4)   // "abcd… (2 more characters)"
 */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const points = Array.from(text);
  if (points.length <= limit) return text;
  return `${points.slice(0, limit).join("")}… (${points.length - limit} more characters)`;
}

/** JSON whose text holds no such character raw: inside strings they are written as \uXXXX, so a parser sees the same value. */
export function visibleJson(value: unknown, indent = 0): string {
  return escapeJsonText(JSON.stringify(value, undefined, indent) ?? "null");
}

/** The same for JSON text that must keep its bytes otherwise (numbers, order, spaces). Line feeds between tokens stay. */
export function escapeJsonText(json: string): string {
  return json.replace(unsafeButLines, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}
