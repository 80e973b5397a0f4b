// session/close and session/delete: what ends a session, what forgets it, and what is only a leave.

import { type Edit, type Envelope, readString } from "@acp-master/wire";
import { fault, NOT_FOUND, type RpcError } from "../protocol/reasons.ts";
import { agentErrorCode } from "./agent-error.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { forwardToAgent, inwardEdits } from "./forward.ts";
import { idText, keep, underId } from "./kept-frame.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { cancelTurn, endTurns } from "./prompts.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { keepClosed, removeSession } from "./session-end.ts";

export function closeSession(router: Router, client: ClientConnection, envelope: Envelope): void {
  const id = idText(envelope);
  const reached = router.reach(client, envelope);
  if (!reached.ok) return client.refuse(id, reached.error);
  const { session } = reached;
  const others = session.controllers().some((other) => other !== client);
  if (others) {
    router.detach(client, session);
    return client.respond(id, EMPTY_OBJECT);
  }
  const link = session.route;
  // Some agents lose a session that never had a turn: it stays, nobody is attached, and a prompt on its way goes nowhere.
  if (link && !session.hadTurn) {
    cancelTurn(router, session, () => true);
    router.detach(client, session);
    return client.respond(id, EMPTY_OBJECT);
  }
  settle(router, session);
  if (!link?.can("close")) {
    keepClosed(router, session);
    return client.respond(id, EMPTY_OBJECT);
  }
  forwardEnd(router, client, { link, session, envelope, gone: () => keepClosed(router, session) });
}

/** By the master itself, for `acp-master close`: everybody is detached. */
export function closeForAll(router: Router, session: Session, done: () => void): void {
  release(router, session, () => {
    keepClosed(router, session);
    done();
  });
}

/**
 * What is kept here goes, and where the agent has a delete, what it keeps too. One that cannot be reached is not told: an
 * agent that is gone for good must not keep anybody from deleting.
 */
export async function deleteSession(router: Router, client: ClientConnection, envelope: Envelope): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  if (client.identity.role === "observer") {
    return client.refuse(id, fault("observer", "This connection only looks on; connect as a controller to delete."));
  }
  const session = router.sessions.get(readString(frame.bytes, frame.sessionId));
  if (!session && client.identity.agent === undefined) {
    return client.refuse(id, fault("unknown_session", "There is no such session here. List them with session/list."));
  }
  if (!session) return forwardToAgent(router, client, frame, listedEdits(router, client, frame));
  const reached = session.route ? undefined : await reachAgent(router, client, session);
  const link = session.route ?? reached;
  if (session.controllers().some((other) => other !== client)) {
    return client.refuse(id, fault("busy", "Another client is attached to this session; it cannot be deleted now."));
  }
  const gone = (): void => removeSession(router, session, "closed");
  // Without a delete of its own the agent releases the session; what is deleted is what is known of it here.
  if (!link?.can("delete")) {
    return release(router, session, () => {
      gone();
      client.respond(id, EMPTY_OBJECT);
    });
  }
  settle(router, session);
  forwardEnd(router, client, { link, session, envelope: frame, gone });
}

/** Any process of the session's agent, started when there is none; undefined: it cannot be had. */
async function reachAgent(router: Router, client: ClientConnection, session: Session): Promise<AgentLink | undefined> {
  const running = router.pool.any(session.agent);
  const found = router.definition(session.agent);
  if (running || !found.ok) return running;
  const acquired = await router.pool.acquire(found.definition, client.identity.capabilities, false);
  return acquired.ok ? acquired.link : undefined;
}

/** The agent lets go of the session, where it runs in one that can be told so. */
function release(router: Router, session: Session, done: () => void): void {
  settle(router, session);
  const link = session.route;
  if (!link?.can("close")) return done();
  link.call("session/close", json({ sessionId: session.agentId }), { answered: done, failed: done });
}

/** The agent's own id of a session that it lists and that is not open here. */
function listedEdits(router: Router, client: ClientConnection, envelope: Envelope): Edit[] {
  const sessionId = readString(envelope.bytes, envelope.sessionId);
  const agent = client.identity.agent;
  if (sessionId === undefined || agent === undefined) return [];
  const agentId = router.sessions.agentIdOf(agent, sessionId);
  return agentId === sessionId ? [] : [{ ...envelope.sessionId, bytes: json(agentId) }];
}

/** Nothing of the session may be left open when the agent is told. */
function settle(router: Router, session: Session): void {
  router.permissions.tickets.sessionClosed(session.key);
  // Before the cancel: to its Helper this is an end of the session, not somebody's no.
  router.permissions.helpers.sessionChanged(session.key, "closed");
  cancelTurn(router, session, () => true);
}

function forwardEnd(
  router: Router,
  client: ClientConnection,
  what: { link: AgentLink; session: Session; envelope: Envelope; gone: () => void },
): void {
  const { link, session, envelope, gone } = what;
  const id = idText(envelope);
  const call = link.forward(envelope, inwardEdits(session, envelope), {
    session,
    origin: { client, id },
    answered: (answer) => {
      const isGone = answer.result.start >= 0 || agentErrorCode(answer) === NOT_FOUND;
      if (isGone) endTurns(router, session);
      const attachment = session.attachments.get(client);
      const position = session.log.end;
      if (answer.result.start >= 0) client.relayAnswer(id, underId(answer, id), attachment, position);
      else if (isGone) client.respond(id, EMPTY_OBJECT, attachment, position);
      else client.relayAnswer(id, underId(answer, id), attachment, position);
      if (isGone) gone();
    },
    failed: (error: RpcError) => client.refuse(id, error),
  });
  client.onCancel(id, () => link.cancelCall(call));
}
