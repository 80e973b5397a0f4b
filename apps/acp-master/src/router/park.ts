// Sessions that nobody needs for a while leave their process: the agent releases them, the Helper ends, what was seen and
// the row stay. The next prompt, load or resume restores them. Those that run nowhere go for good after some days.

import { leaveProcess } from "./leave-process.ts";
import { saveSession } from "./keep-sessions.ts";
import { json } from "./message.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { removeSession } from "./session-end.ts";

const MAX_LOOK_MS = 15_000;
const MIN_LOOK_MS = 100;
const DAY_MS = 24 * 3600 * 1000;
/** A look that is this late, or early, means that the machine slept or its clock was set: idle time begins anew. */
const JUMP_MS = 4000;

export class Parking implements Disposable {
  readonly #router: Router;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = 0;
  #wokeAt = 0;

  constructor(router: Router) {
    this.#router = router;
    this.#lookLater();
  }

  #lookLater(): void {
    const idleMs = this.#router.config.sessions.idleMinutes * 60_000;
    const ms = Math.min(MAX_LOOK_MS, Math.max(MIN_LOOK_MS, idleMs / 4));
    this.#dueAt = Date.now() + ms;
    this.#timer = setTimeout(() => {
      this.#look(Date.now());
      this.#lookLater();
    }, ms);
    this.#timer.unref();
  }

  #look(now: number): void {
    if (Math.abs(now - this.#dueAt) > JUMP_MS) this.#wokeAt = now;
    const { idleMinutes, keepDays } = this.#router.config.sessions;
    const isIdleSince = (at: number): boolean => now - at >= idleMinutes * 60_000;
    for (const session of Array.from(this.#router.sessions.all)) {
      if (this.#isNeeded(session)) continue;
      const usedAt = Math.max(session.updatedAt, session.leftAt);
      if (session.route) {
        if (isIdleSince(Math.max(usedAt, this.#wokeAt))) park(this.#router, session);
      } else if (now - usedAt >= keepDays * DAY_MS && isIdleSince(this.#wokeAt)) {
        // Days pass for a machine that sleeps as well; a clock that jumped had the time to jump back.
        removeSession(this.#router, session, "closed");
      }
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #isNeeded(session: Session): boolean {
    return (
      session.provisional ||
      session.attachments.size > 0 ||
      session.turns.current !== undefined ||
      session.restoring !== undefined ||
      this.#router.permissions.tickets.openCount(session.key) > 0
    );
  }
}

function park(router: Router, session: Session): void {
  const link = session.route;
  if (!link) return;
  if (link.can("close") && session.hadTurn) {
    link.call("session/close", json({ sessionId: session.agentId }), { answered: () => {}, failed: () => {} });
  }
  leaveProcess(router, session);
  session.state = "parked";
  saveSession(router, session);
  router.permissions.helpers.sessionEnd(session.key);
  router.changed(session);
}
