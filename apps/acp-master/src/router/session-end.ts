// What a session leaves behind when it ends here. Closed it keeps its row and what was seen, and can be opened again;
// removed it leaves nothing.

import { forgetSession } from "./forget-session.ts";
import { leaveProcess } from "./leave-process.ts";
import { saveSession } from "./keep-sessions.ts";
import { json } from "./message.ts";
import { endTurns } from "./prompts.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

/** Nobody is attached any more and nothing is open; the row and what was seen stay for `sessions.keepDays`. */
export function keepClosed(router: Router, session: Session): void {
  if (session.provisional) return removeSession(router, session, "closed");
  if (session.hasEnded) return;
  endHere(router, session, "closed");
  session.state = "closed";
  session.updatedAt = Date.now();
  saveSession(router, session);
  router.changed(session);
}

/** Nothing of the session stays, on disk neither. */
export function removeSession(router: Router, session: Session, change: "closed" | "agent_exited"): void {
  if (session.state === "removed") return;
  endHere(router, session, change);
  forgetSession(router, session);
}

function endHere(router: Router, session: Session, change: "closed" | "agent_exited"): void {
  router.permissions.sessionEnded(session, change);
  endTurns(router, session);
  leaveProcess(router, session);
  for (const client of session.attachments.keys()) {
    router.detach(client, session);
    // It must not look for the session after a restart.
    if (client.identity.positions) client.notify("_acp-master/detached", json({ sessionId: session.sessionId }));
  }
}
