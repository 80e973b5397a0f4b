// Decides whether a stream may carry colour and paints short pieces of our own text. It never paints unescaped foreign text.

/** On and off, as terminals know them. `util.styleText` looks at the process's own stream instead of the one given here. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Paint = keyof typeof codes;

export interface Surface {
  readonly isTTY?: boolean | undefined;
}

/** Colour only on a terminal that wants it (https://no-color.org). */
export function wantsColour(surface: Surface, env: NodeJS.ProcessEnv = process.env): boolean {
  return surface.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

/** Returns a painter for that stream; on anything but a colour terminal it returns the text as it is. */
export function painter(surface: Surface, env?: NodeJS.ProcessEnv): (paint: Paint, text: string) => string {
  if (!wantsColour(surface, env)) return (_paint, text) => text;
  return (paint, text) => {
    const [on, off] = codes[paint];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  };
}
