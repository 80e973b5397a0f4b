// Runs the conformance cases, each against a fresh process of the Helper, and shows what was found.
import { cases, type ConformanceCase, type Finding } from "./cases.ts";
import { HelperPeer, usualWaits, type Waits } from "./helper-peer.ts";

export interface CaseResult {
  readonly id: string;
  readonly promise: string;
  readonly result: "pass" | "fail" | "skip";
  readonly found: string;
}

export interface RunOptions {
  readonly waits?: Partial<Waits>;
  /** Only these cases; all by default. */
  readonly only?: readonly string[];
}

export async function runCases(command: readonly string[], options: RunOptions = {}): Promise<CaseResult[]> {
  const waits = { ...usualWaits, ...options.waits };
  const results: CaseResult[] = [];
  for (const each of cases) {
    if (options.only !== undefined && !options.only.includes(each.id)) continue;
    await using peer = new HelperPeer(command, waits);
    results.push(resultOf(each, await each.run(peer)));
  }
  return results;
}

/** A table for people; the last line is the sum. */
export function showResults(results: readonly CaseResult[]): string {
  const width = Math.max(...results.map((result) => result.id.length));
  const lines = results.map(({ id, promise, result, found }) => {
    return `${result}  ${id.padEnd(width)}  ${promise}${found === "" ? "" : `\n${" ".repeat(width + 8)}→ ${found}`}`;
  });
  const failed = results.filter((result) => result.result === "fail").length;
  return [
    ...lines,
    "",
    failed === 0 ? "This Helper keeps every promise it makes." : `${failed} of ${results.length} cases failed.`,
  ].join("\n");
}

function resultOf({ id, promise }: ConformanceCase, finding: Finding): CaseResult {
  if (finding === undefined) return { id, promise, result: "pass", found: "" };
  if (typeof finding === "string") return { id, promise, result: "fail", found: finding };
  return { id, promise, result: "skip", found: finding.skipped };
}
