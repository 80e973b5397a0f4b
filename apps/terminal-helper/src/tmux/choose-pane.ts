// The rule for the pane that a turn is bound to. Pure.
import { type PaneRow, type View, sessionInUse } from "./view.ts";

/**
 * The active pane in front of the person. Where that one is taken by talking to agents, the pane that was active there
 * before it; where that one is taken too, the only other pane of the window. `undefined`: none, and nothing can be typed.
 */
export function choosePane(view: View, taken: ReadonlySet<string>): PaneRow | undefined {
  const session = sessionInUse(view);
  const inFront = view.panes.filter((each) => each.session === session && each.isInFront);
  const free = inFront.filter((each) => !taken.has(each.pane));
  const active = free.find((each) => each.isActive);
  const last = free.find((each) => each.isLast);
  return active ?? last ?? (free.length === 1 ? free[0] : undefined);
}
