// session/close and session/delete: what ends a session for good, and what is only a leave.

import { type Edit, type Envelope, parseFrame, readString } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import { fault, NOT_FOUND, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { forwardToAgent, inwardEdits } from "./forward.ts";
import { idText, underId } from "./kept-frame.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { cancelTurn, endTurns } from "./prompts.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

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
  // Some agents lose a session that never had a turn: it stays, nobody is attached.
  if (link && !session.hadTurn) {
    router.detach(client, session);
    return client.respond(id, EMPTY_OBJECT);
  }
  settle(router, session);
  if (!link?.can("close")) {
    router.removeSession(session, "closed");
    return client.respond(id, EMPTY_OBJECT);
  }
  forwardEnd(router, client, { link, session, envelope });
}

/** By the master itself, for `acp-master close`: everybody is detached. */
export function closeForAll(router: Router, session: Session, done: () => void): void {
  settle(router, session);
  const link = session.route;
  if (!link?.can("close")) {
    router.removeSession(session, "closed");
    return done();
  }
  const end = (): void => {
    router.removeSession(session, "closed");
    done();
  };
  link.call("session/close", json({ sessionId: session.agentId }), { answered: end, failed: end });
}

export async function deleteSession(router: Router, client: ClientConnection, envelope: Envelope): Promise<void> {
  const id = idText(envelope);
  if (client.identity.role === "observer") {
    return client.refuse(id, fault("observer", "This connection only looks on; connect as a controller to delete."));
  }
  const session = router.sessions.get(readString(envelope.bytes, envelope.sessionId));
  if (!session && client.identity.agent === undefined) {
    return client.refuse(id, fault("unknown_session", "There is no such session here. List them with session/list."));
  }
  if (!session) return forwardToAgent(router, client, envelope, listedEdits(router, client, envelope));
  if (session.controllers().some((other) => other !== client)) {
    return client.refuse(id, fault("busy", "Another client is attached to this session; it cannot be deleted now."));
  }
  const link = session.route;
  // Without a delete of its own the agent releases the session; what is deleted is what is known of it here.
  if (!link?.can("delete")) return closeForAll(router, session, () => client.respond(id, EMPTY_OBJECT));
  settle(router, session);
  forwardEnd(router, client, { link, session, envelope });
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
  what: { link: AgentLink; session: Session; envelope: Envelope },
): void {
  const { link, session, envelope } = what;
  const id = idText(envelope);
  const call = link.forward(envelope, inwardEdits(session, envelope), {
    session,
    origin: { client, id },
    answered: (answer) => {
      const isGone = answer.result.start >= 0 || errorCode(answer) === NOT_FOUND;
      if (isGone) endTurns(session);
      const attachment = session.attachments.get(client);
      const position = session.log.end;
      if (answer.result.start >= 0) client.relayAnswer(id, underId(answer, id), attachment, position);
      else if (isGone) client.respond(id, EMPTY_OBJECT, attachment, position);
      else client.relayAnswer(id, underId(answer, id), attachment, position);
      if (isGone) router.removeSession(session, "closed");
    },
    failed: (error: RpcError) => client.refuse(id, error),
  });
  client.onCancel(id, () => link.cancelCall(call));
}

function errorCode(answer: Envelope): number | undefined {
  const { code } = asRecord(parseFrame(answer.bytes, answer.error.start, answer.error.end));
  return typeof code === "number" ? code : undefined;
}
