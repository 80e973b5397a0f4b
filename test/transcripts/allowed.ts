// A closed list of differences and what it means that two transcripts agree but for it: every difference is on it, once, and
// everything on it occurs wherever it says that it does.
import type { Difference } from "./compare.ts";

/** Whose eyes: what the client sent and got, or what the agent got and sent. */
export type View = "client" | "agent";

export interface Allowed {
  readonly name: string;
  readonly reason: string;
  readonly views: readonly View[];
  /** Names of pairs of client and agent. */
  readonly pairs: readonly string[];
  covers(difference: Difference): boolean;
}

export interface Verdict {
  readonly unlisted: readonly Difference[];
  /** More than one entry claims it: one of them is too wide. */
  readonly ambiguous: readonly Difference[];
  /** Names of entries that did not occur. */
  readonly stale: readonly string[];
}

export function judge(
  differences: readonly Difference[],
  at: { readonly view: View; readonly pair: string },
  list: readonly Allowed[],
): Verdict {
  const here = list.filter((each) => each.views.includes(at.view) && each.pairs.includes(at.pair));
  const claims = differences.map((difference) => here.filter((each) => each.covers(difference)));
  const used = new Set(claims.flat());
  return {
    unlisted: differences.filter((_, i) => claims[i]?.length === 0),
    ambiguous: differences.filter((_, i) => (claims[i]?.length ?? 0) > 1),
    stale: here.filter((each) => !used.has(each)).map((each) => each.name),
  };
}
