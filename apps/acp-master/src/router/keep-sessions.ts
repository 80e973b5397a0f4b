// What of sessions outlives the daemon: who each one is, saved as it changes, and the sessions of the runs before.

import { settleFormerTickets } from "./former-tickets.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

/** Keeps who the session is; what was seen in it is kept as it comes. */
export function saveSession(router: Router, session: Session): void {
  if (session.provisional || session.state === "removed") return;
  session.savedAt = Date.now();
  const { sessionId, agent, agentId, cwd, roots, preset, createdAt, updatedAt, state, hadTurn } = session;
  const additionalDirectories = roots.slice(1);
  router.settings.store.save(session.log, {
    sessionId,
    agent,
    agentId,
    cwd,
    additionalDirectories,
    preset,
    createdAt,
    updatedAt,
    hadTurn,
    state,
  });
}

/** The sessions of the runs before: listed at once, restored when somebody needs one. */
export async function adoptKept(router: Router): Promise<void> {
  const { store, record: audit } = router.settings;
  const adopted = store.kept().flatMap((record) => {
    const { preset, createdAt, updatedAt, hadTurn, ...place } = record;
    const log = store.open(record.agent, record.agentId);
    const start = { log, preset: preset ?? "", createdAt, updatedAt, hadTurn };
    const session = router.sessions.adopt(place, start, router);
    if (!session) return [];
    session.state = record.state === "open" ? "parked" : record.state;
    return [session];
  });
  await settleFormerTickets(audit, adopted, router.startedAt.getTime());
}
