// What a turn is bound to when it starts: its origin, the place of the executor, what the agent may know of that place.
import { within } from "../decide.ts";
import type { HelperSession } from "../helper-session.ts";
import type { Executor } from "./executor.ts";
import type { TurnOrigin } from "./proposal-options.ts";

/** Of the 2 s in which a prompt waits for its block. */
const bindMs = 1_000;
/** What an executor says of its place is not to crowd out the prompt. */
const longestContext = 8_000;

export interface TurnPlace {
  /** Whether anything can be carried out at all. */
  isThere: boolean;
  origin: string;
  target: string | undefined;
  trigger: number | undefined;
  context: string | undefined;
}

/** Gives what is known when the time is over. */
export async function bindTurn(
  turn: { readonly session: HelperSession; readonly turnId: string },
  to: { readonly executor: Executor; readonly origins: readonly TurnOrigin[] },
  signal: AbortSignal,
): Promise<TurnPlace> {
  const { session, turnId } = turn;
  const { executor, origins } = to;
  const place: TurnPlace = {
    isThere: false,
    origin: "terminal_agent",
    target: undefined,
    trigger: undefined,
    context: undefined,
  };
  const ask = async (inner: AbortSignal): Promise<void> => {
    place.isThere = await executor.isThere(undefined, inner);
    if (!place.isThere) return;
    for (const each of origins) {
      const applied = await each.applies(session, turnId);
      if (applied === undefined) continue;
      place.origin = each.policy.name;
      place.trigger = applied.trigger;
      place.target = applied.target;
      break;
    }
    const { sessionId, agent, cwd } = session;
    place.target ??= await executor.bind({ sessionId, turnId, agent: agent.name, cwd }, inner);
    if (place.target !== undefined)
      place.context = (await executor.context?.(place.target, inner))?.slice(0, longestContext);
  };
  try {
    await within(bindMs, signal, ask);
  } catch {
    // Late or failed: what it throws may hold what stands in a terminal.
  }
  return { ...place };
}
