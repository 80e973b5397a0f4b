// A session whose process is gone, or that was parked, goes on in a process of now: through the agent's session/resume where
// it has it, else session/load. What the agent replays is known here and dropped. A restore belongs to no client.

import { fault, type RpcError } from "../protocol/reasons.ts";
import { agentError, agentErrorCode } from "./agent-error.ts";
import type { AgentLink } from "./agent-link.ts";
import type { Acquired } from "./agent-pool.ts";
import type { ClientConnection } from "./client-connection.ts";
import { saveSession } from "./keep-sessions.ts";
import { keep } from "./kept-frame.ts";
import { leaveProcess } from "./leave-process.ts";
import { json } from "./message.ts";
import { renewed } from "./renew-session.ts";
import { rememberOpened } from "./opened-result.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { type Failure, failureOf, sessionLost } from "./session-lost.ts";

/** A prompt goes on this long after the last replayed frame; some agents replay after their answer. */
const QUIET_MS = 300;
const MAX_QUIET_MS = 5000;

/**
 * Resolves with why it failed, or undefined when the session runs, which may be another by then under the same id. Whoever asks
 * meanwhile shares the one restore.
 */
export function restore(router: Router, session: Session, client: ClientConnection): Promise<RpcError | undefined> {
  if (session.route) return session.restoring ?? Promise.resolve(undefined);
  session.restoring ??= restoreOnce(router, session, client).finally(() => {
    session.restoring = undefined;
    router.changed(session);
  });
  return session.restoring;
}

/** The prompt that follows a restore: the replay must be over, or it would mix with the answer. */
export async function replayOver(session: Session): Promise<void> {
  const began = Date.now();
  for (;;) {
    const { replaying } = session;
    if (!replaying) return;
    const quietFor = Date.now() - replaying.lastAt;
    if (quietFor >= QUIET_MS || Date.now() - began >= MAX_QUIET_MS) break;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS - quietFor));
  }
  session.replaying = undefined;
}

async function restoreOnce(router: Router, session: Session, client: ClientConnection): Promise<RpcError | undefined> {
  // Opened again: from here on "closed" means that somebody closed it meanwhile.
  if (session.state === "closed") session.state = "parked";
  const claimed = await claim(router, session, client);
  const failure = claimed.ok ? await openIn(claimed.link, session) : failureOf(claimed.error);
  if (session.hasEnded) {
    // Nobody may find it running.
    if (claimed.ok && claimed.link.can("close")) {
      const params = json({ sessionId: session.agentId });
      claimed.link.call("session/close", params, { answered: () => {}, failed: () => {} });
    }
    return endedMeanwhile();
  }
  if (failure) {
    leaveProcess(router, session);
    // The next daemon can try it as well as this one.
    if (router.stopping) return fault("stopping", "acp-master is stopping; try again when it has started anew.");
    if (claimed.ok && (await renewed(router, session, claimed.link))) return undefined;
    session.state = "lost";
    saveSession(router, session);
    return sessionLost(session, failure);
  }
  session.state = "open";
  saveSession(router, session);
  if (session.replaying) session.replaying.lastAt = Date.now();
  for (const attached of session.attachments.keys()) session.route?.clients.add(attached);
  router.permissions.helpers.sessionChanged(session.key, "replaced");
  // A parked session, or one of a former run, has no Helper: it needs one before its first turn, and its presets.
  await new Promise<void>((resolve) => router.permissions.whenPresetsKnown(session, resolve));
  return undefined;
}

export const endedMeanwhile = (): RpcError =>
  fault("unknown_session", "The session was closed or deleted in the meantime; load it again to open it again.");

/** Finds a process for the session and puts it there: between the two nobody else may take the process. */
async function claim(router: Router, session: Session, client: ClientConnection): Promise<Acquired> {
  const found = router.definition(session.agent);
  if (!found.ok) return found;
  const alone = found.definition.share === "session";
  for (;;) {
    const acquired = await router.pool.acquire(found.definition, client.identity.capabilities, alone);
    if (!acquired.ok) return acquired;
    if (session.hasEnded) return { ok: false, error: endedMeanwhile() };
    const { link } = acquired;
    if (link.state !== "ready") continue;
    if (alone && (link.sessions.size > 0 || link.creations.size > 0)) continue;
    session.route = link;
    session.replaying = { dropped: 0, lastAt: Date.now() };
    link.take(session);
    router.pool.consider(link);
    return acquired;
  }
}

/** Through the agent's session/resume where it has it, else session/load. Resolves with why not. */
async function openIn(link: AgentLink, session: Session): Promise<Failure | undefined> {
  const method = link.can("resume") ? "session/resume" : link.can("load") ? "session/load" : undefined;
  if (!method) return failureOf(fault("unknown_session", `The agent ${session.agent} cannot load sessions.`));
  const [cwd, ...additionalDirectories] = session.roots;
  const params = json({
    sessionId: session.agentId,
    cwd,
    mcpServers: session.mcpServers,
    ...(additionalDirectories.length > 0 ? { additionalDirectories } : {}),
  });
  return await new Promise((resolve) => {
    link.call(method, params, {
      session,
      answered: (answer) => {
        if (answer.result.start >= 0) {
          rememberOpened(session, keep(answer));
          return resolve(undefined);
        }
        const why = `The agent answered with error ${agentErrorCode(answer) ?? "(without a code)"}.`;
        resolve({ why, error: agentError(answer) });
      },
      failed: (error) => resolve(failureOf(error)),
    });
  });
}
