// What the author of a Helper says about its proposals.
import type { OriginPolicy } from "@acp-master/proposal-channel";
import type { HelperSession } from "../helper-session.ts";
import type { Executor } from "./executor.ts";
import type { Card } from "./review-messages.ts";

type Awaitable<T> = T | Promise<T>;

/** A kind of turn with rules of its own, beside `terminal_agent`. */
export interface TurnOrigin {
  readonly policy: OriginPolicy;
  /** Whether the turn that starts is one of these; `trigger` numbers the event it is about, `target` is its place. */
  applies(
    session: HelperSession,
    turnId: string,
  ): Awaitable<{ readonly trigger?: number; readonly target?: string } | undefined>;
  /** The number of the newest event of this session. */
  trigger?(session: HelperSession): number | undefined;
}

export interface ProposalOptions {
  readonly executor: Executor;
  /** The first that applies is the turn's; else it is `terminal_agent`. */
  readonly origins?: readonly TurnOrigin[];
  /** A card waits to be seen. May start a user interface that connects to `review`. */
  readonly present?: (card: Card, review: string) => Awaitable<void>;
  /** The value of ACP_PROPOSE in the agents' environment; by default the one in this process's. */
  readonly program?: string;
}
