// A session whose process is gone, or that was parked, goes on in a process of now: through the agent's session/resume where
// it has it, else session/load. What the agent replays is known here and dropped. A restore belongs to no client.

import { parseFrame } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import { fault, type RpcError } from "../protocol/reasons.ts";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { AgentLink } from "./agent-link.ts";
import type { Acquired } from "./agent-pool.ts";
import type { ClientConnection } from "./client-connection.ts";
import { keep } from "./kept-frame.ts";
import { json } from "./message.ts";
import { rememberOpened } from "./opened-result.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

/** A prompt goes on this long after the last replayed frame; some agents replay after their answer. */
const QUIET_MS = 300;
const MAX_QUIET_MS = 5000;

/** Resolves with why it failed, or undefined when the session runs. Whoever asks meanwhile shares the one restore. */
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
  const found = router.definition(session.agent);
  if (!found.ok) return found.error;
  const alone = found.definition.share === "session";
  const acquired = await acquire(router, session, { definition: found.definition, client, alone });
  if (!acquired.ok) return acquired.error;
  const { link } = acquired;
  const method = link.can("resume") ? "session/resume" : link.can("load") ? "session/load" : undefined;
  if (!method) {
    return lostBecause(session, `The agent ${session.agent} cannot load sessions.`);
  }
  session.route = link;
  link.sessions.set(session.agentId, session);
  router.pool.consider(link);
  session.replaying = { dropped: 0, lastAt: Date.now() };
  const error = await ask(link, session, method);
  if (session.state === "closed") {
    // Closed meanwhile: nobody may find it running.
    link.leave(session);
    router.pool.consider(link);
    if (link.can("close")) {
      link.call("session/close", json({ sessionId: session.agentId }), { answered: () => {}, failed: () => {} });
    }
    return closedMeanwhile();
  }
  if (error) {
    session.route = undefined;
    session.replaying = undefined;
    link.leave(session);
    router.pool.consider(link);
    session.state = "lost";
    router.save(session);
    return error;
  }
  session.state = "open";
  router.save(session);
  session.replaying.lastAt = Date.now();
  for (const attached of session.attachments.keys()) link.clients.add(attached);
  router.permissions.helpers.sessionChanged(session.key, "replaced");
  // A parked session, or one of a former run, has no Helper: it needs one before its first turn, and its presets.
  await new Promise<void>((resolve) => router.permissions.whenPresetsKnown(session, resolve));
  return undefined;
}

const closedMeanwhile = (): RpcError => fault("unknown_session", "The session was closed in the meantime.");

async function acquire(
  router: Router,
  session: Session,
  what: { definition: AgentDefinition; client: ClientConnection; alone: boolean },
): Promise<Acquired> {
  for (;;) {
    const acquired = await router.pool.acquire(what.definition, what.client.identity.capabilities, what.alone);
    if (session.state === "closed") return { ok: false, error: closedMeanwhile() };
    // Another session may have taken the process between the promise and here.
    const taken = acquired.ok && what.alone && (acquired.link.sessions.size > 0 || acquired.link.creations.size > 0);
    if (!taken) return acquired;
  }
}

function ask(link: AgentLink, session: Session, method: string): Promise<RpcError | undefined> {
  const [cwd, ...additionalDirectories] = session.roots;
  const params = json({
    sessionId: session.agentId,
    cwd,
    mcpServers: session.mcpServers,
    ...(additionalDirectories.length > 0 ? { additionalDirectories } : {}),
  });
  return new Promise((resolve) => {
    link.call(method, params, {
      session,
      answered: (answer) => {
        if (answer.result.start >= 0) {
          rememberOpened(session, keep(answer));
          return resolve(undefined);
        }
        const { code } = asRecord(parseFrame(answer.bytes, answer.error.start, answer.error.end));
        resolve(lostBecause(session, "The agent does not know it any more.", { agentErrorCode: code }));
      },
      failed: (error) => resolve(error),
    });
  });
}

/** Nothing is left of it but what was seen here. */
function lostBecause(session: Session, why: string, facts: Readonly<Record<string, unknown>> = {}): RpcError {
  return fault(
    "session_lost",
    `The session cannot go on: ${why} session/load still shows it; start a new one to go on.`,
    {
      agent: session.agent,
      ...facts,
    },
  );
}
