// The turns of all sessions together: whether any runs, and waiting for the last of them when the daemon stops.

import { answerCancelled, cancelTurn } from "./prompts.ts";
import type { Router } from "./router.ts";

/** After a cancel at the stop agents get this long to end their turns. */
const CANCEL_MS = 2000;

export class RunningTurns {
  readonly #router: Router;
  #drained: (() => void) | undefined;

  constructor(router: Router) {
    this.#router = router;
  }

  get any(): boolean {
    return [...this.#router.sessions.all].some((session) => session.turns.current !== undefined);
  }

  /** One has ended. */
  ended(): void {
    if (this.#drained && !this.any) this.#drained();
  }

  /** Takes no more prompts and waits for the running turns; what is left after `ms` is cancelled. */
  async drain(ms: number): Promise<void> {
    const { sessions } = this.#router;
    this.#router.stopping = true;
    if (await this.#endWithin(ms)) return;
    for (const session of sessions.all) cancelTurn(this.#router, session, () => true);
    if (await this.#endWithin(CANCEL_MS)) return;
    // Their clients asked for nothing that failed: the turns are cancelled, whatever the agents say or do not say.
    for (const session of sessions.all) if (session.turns.current) answerCancelled(session, session.turns.current);
  }

  async #endWithin(ms: number): Promise<boolean> {
    if (!this.any) return true;
    return await new Promise<boolean>((resolve) => {
      const end = (done: boolean): void => {
        clearTimeout(timer);
        this.#drained = undefined;
        resolve(done);
      };
      const timer = setTimeout(() => end(false), ms);
      this.#drained = () => end(true);
    });
  }
}
