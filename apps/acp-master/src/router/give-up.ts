// The ladder for agents that ignore a cancel: after a while the client gets its answer from here, the session leaves the
// process, and the process is ended.

import type { AgentLink } from "./agent-link.ts";
import { leaveProcess } from "./leave-process.ts";
import { answerCancelled, failTurn } from "./prompts.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import type { Turn } from "./turn-queue.ts";
import { wait } from "../wait.ts";

const STOP_AFTER_MS = 30_000;

export class GiveUp {
  readonly #router: Router;
  readonly #watched = new Map<Session, () => void>();

  constructor(router: Router) {
    this.#router = router;
  }

  /** The turn was cancelled; from now on the agent owes its answer. */
  watch(session: Session, turn: Turn): void {
    this.unwatch(session);
    const late = (): void => {
      this.#watched.delete(session);
      if (session.turns.current === turn && session.route) this.#giveUp(session, turn, session.route);
    };
    this.#watched.set(session, wait(this.#router.config.sessions.cancelSeconds * 1000, late));
  }

  unwatch(session: Session): void {
    this.#watched.get(session)?.();
    this.#watched.delete(session);
  }

  #giveUp(session: Session, turn: Turn, link: AgentLink): void {
    const router = this.#router;
    router.settings.log.warn(
      { agent: link.agent, instance: link.instance, session: session.sessionId },
      "cancel ignored",
    );
    router.permissions.tickets.sessionClosed(session.key);
    answerCancelled(session, turn);
    link.state = "leaving";
    for (const agentId of leaveProcess(router, session)) link.givenUp.add(agentId);
    session.state = "lost";
    failTurn(router, session);
    router.changed(session);
    wait(STOP_AFTER_MS, () => void router.pool.retire(link));
  }
}
