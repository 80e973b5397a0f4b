// What stands behind `connect` on the command line. It says nothing about lines that are wrong.
import { parseArgs } from "node:util";

export interface ConnectLine {
  readonly agent: string | undefined;
  readonly observer: boolean;
  readonly start: boolean;
}

/** undefined: it is wrong, or asks for help. */
export function connectLine(args: readonly string[]): ConnectLine | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { observer: { type: "boolean" }, "no-start": { type: "boolean" } },
    });
    if (positionals.length > 1) return undefined;
    return { agent: positionals[0], observer: values.observer === true, start: values["no-start"] !== true };
  } catch {
    return undefined; // commander says what is wrong with it
  }
}
