// A session in which nothing was ever asked is not kept by every agent. Where its agent has lost it nothing is lost: another
// of the agent's sessions takes its place, under the id that clients know.

import { readString } from "@acp-master/wire";
import type { AgentLink } from "./agent-link.ts";
import { forgetSession } from "./forget-session.ts";
import { keep } from "./kept-frame.ts";
import { json } from "./message.ts";
import { rememberOpened } from "./opened-result.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

/**
 * Resolves with whether there is one; the session itself is removed then. Frames that the agent sends before its answer
 * belong to nobody yet and are dropped.
 */
export async function renewed(router: Router, session: Session, link: AgentLink): Promise<boolean> {
  if (session.hadTurn || session.attachments.size > 0 || link.state !== "ready") return false;
  const next = await new Promise<Session | undefined>((resolve) => {
    const { mcpServers, roots } = session;
    const [cwd, ...additionalDirectories] = roots;
    const more = additionalDirectories.length > 0 ? { additionalDirectories } : {};
    link.call("session/new", json({ cwd, mcpServers, ...more }), {
      answered: (answer) => {
        const agentId = readString(answer.bytes, answer.resultSessionId);
        const isNew = agentId !== undefined && router.sessions.of(link.agent, agentId) === undefined;
        if (!isNew || session.hasEnded) return resolve(undefined);
        router.permissions.sessionEnded(session, "closed");
        forgetSession(router, session);
        const { cwd: place, sessionId, preset } = session;
        const made = router.openSession(link, { agentId, sessionId, cwd: place, additionalDirectories });
        rememberOpened(made, keep(answer));
        made.mcpServers = mcpServers;
        made.preset = preset;
        resolve(made);
      },
      failed: () => resolve(undefined),
    });
  });
  if (!next) return false;
  await new Promise<void>((resolve) => router.permissions.whenPresetsKnown(next, resolve));
  if (!next.hasEnded) router.sessionOpened(next);
  return true;
}
