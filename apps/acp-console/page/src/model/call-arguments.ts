// What a tool call is given, argument by argument: strings as they are, everything else as JSON.
import { limits, type Limits } from "./cut-text.ts";

export interface Argument {
  readonly name: string;
  readonly text: string;
}

export type Input =
  /** The request does not say what the call is given. */
  | { readonly type: "unknown" }
  | { readonly type: "arguments"; readonly arguments: readonly Argument[] }
  /** It is no object: one value. */
  | { readonly type: "value"; readonly text: string };

export function inputOf(rawInput: unknown): Input {
  if (rawInput === undefined || rawInput === null) return { type: "unknown" };
  if (typeof rawInput !== "object" || Array.isArray(rawInput)) return { type: "value", text: textOf(rawInput) };
  const given = Object.entries(rawInput).map(([name, value]) => ({ name, text: textOf(value) }));
  return { type: "arguments", arguments: given };
}

/**
 * How much of each argument is shown at first. Beside a diff they only repeat it; without one they are what would
 * happen, and are cut only when all together are too long.
 */
export function argumentLimits(input: Input, hasDiff: boolean): Limits {
  if (input.type !== "arguments") return limits.input;
  if (hasDiff) return limits.argument;
  const total = input.arguments.reduce((sum, { name, text }) => sum + name.length + text.length, 0);
  return total <= limits.input.characters ? limits.input : limits.argument;
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
