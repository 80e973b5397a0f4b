// What a command of the demo agent is.
import type { Turn } from "../turn.ts";

export interface Command {
  readonly name: string;
  /** What may follow the name; shown by editors. */
  readonly hint?: string;
  readonly description: string;
  /** Does the work. It returns early when the turn's signal aborts, and throws only what shall be the prompt's error. */
  run(turn: Turn, rest: string): Promise<void>;
}

/** A whole number from the text, or the fallback when there is none; never under 0, never over `most`. */
export function countIn(text: string | undefined, fallback: number, most: number): number {
  const count = Number.parseInt(text ?? "", 10);
  return Number.isNaN(count) ? fallback : Math.min(Math.max(count, 0), most);
}
