// What is true of a session only while a process runs it, undone when it leaves that process.

import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

/** It runs nowhere from here on. Returns the ids under which its process knew it and the sessions under it. */
export function leaveProcess(router: Router, session: Session): string[] {
  const link = session.route;
  router.leaveLane(session);
  router.endTerminals(session);
  session.judged.clear();
  session.replaying = undefined;
  session.route = undefined;
  const left = link?.leave(session) ?? [];
  if (link) router.pool.consider(link);
  return left;
}
