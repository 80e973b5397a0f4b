// What carries out an action that a person has confirmed. A Helper is given one; everything before it only shows.
import type { Action, ActionType } from "@acp-master/proposal-channel";

type Awaitable<T> = T | Promise<T>;

/** `run` sends the text and a return. `insert` sends the text only, and must never make anything happen. */
export type Mode = "run" | "insert";

/** Whose turn it is, for an executor that has to find its place. */
export interface BindingTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly agent: string;
  readonly cwd: string;
}

/** The actions of the one choice that a person confirmed, in order. */
export interface Order<Kind extends Action = Action> {
  readonly sessionId: string;
  readonly proposalId: string;
  /** The working folder of the session. */
  readonly cwd: string;
  readonly origin: string;
  /** As `bind` named it when the turn started. */
  readonly target: string | undefined;
  readonly mode: Mode;
  /** Each as its own schema read it. */
  readonly actions: readonly Kind[];
}

/**
 * `Kind` is the union of the actions it takes. A method that throws, or that is not done when its signal aborts, has
 * failed: a place is then not bound, not there, or the order not taken.
 */
export interface Executor<Kind extends Action = Action> {
  /** Short, for logs: `tmux`. */
  readonly name: string;
  /** What an agent may propose here; `terminalActions` is the usual list. */
  readonly actionTypes: readonly ActionType[];
  /** The names that an action's `profile` may have. */
  readonly profiles?: readonly string[];
  /** Whether `delegate: true` is possible. Which delegate that is, is the executor's own affair. */
  readonly hasDelegate?: boolean;
  /** The place that is active now, at the start of a turn; a name of the executor's own. */
  bind(turn: BindingTurn, signal: AbortSignal): Awaitable<string | undefined>;
  /** Whether this place is there now; `undefined` asks whether anything can be carried out at all. */
  isThere(target: string | undefined, signal: AbortSignal): Awaitable<boolean>;
  /** What the agent may know of the place, put before the prompt block; cut after 8,000 characters. */
  context?(target: string, signal: AbortSignal): Awaitable<string | undefined>;
  /** Called once, for the one winner. True: handed over. Succeeded or not is not known here. */
  dispatch(order: Order<Kind>, signal: AbortSignal): Promise<boolean>;
}
