// The end of a session's row and of what was seen in it. What was open in it has ended before.

import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

/** Nothing of it stays, on disk neither. */
export function forgetSession(router: Router, session: Session): void {
  session.state = "removed";
  router.sessions.remove(session);
  router.settings.store.remove(session.log);
  router.events.send({ type: "session_removed", sessionId: session.sessionId });
}
