// Text of an agent as a card shows it: what a terminal would obey, hide or turn round is a visible escape.

const unsafe =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u115F\u1160\u2800\u3164\uFFA0\uFFFC]/gu;

/** One line; a line feed is escaped like the rest. */
export function visibleLine(text: string): string {
  return text.replace(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}

/** The lines of a text, without their line feeds. */
export function visibleLines(text: string): string[] {
  return text.split("\n").map(visibleLine);
}
