// Decides whether a stream may carry colour and paints short pieces of our own text. It never paints unescaped foreign text.
import { styleText } from "node:util";

export type Paint = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";
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
  return (paint, text) => styleText(paint, text);
}
