// How every command ends: its exit code is set, a failure is said in one line on stderr. The process ends by itself when nothing is left open.
import { explain } from "../display/errors.ts";

/** Wraps a command's work for commander. */
export function finish<Args extends unknown[]>(
  work: (...args: Args) => Promise<number> | number,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      process.exitCode = await work(...args);
    } catch (error) {
      const { line, exitCode } = explain(error);
      process.stderr.write(`${line}\n`);
      process.exitCode = exitCode;
    }
  };
}

/** Example lines below a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

export interface JsonOption {
  readonly json?: boolean;
}

export const jsonOption = ["--json", "print JSON for programs"] as const;
