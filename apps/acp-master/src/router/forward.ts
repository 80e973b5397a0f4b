// A client's request or notification that the master only passes on, and its answer back.

import { type Edit, type Envelope, readString, splice } from "@acp-master/wire";
import { fault, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import { acquireFor, bindingOf } from "./binding.ts";
import type { ClientConnection } from "./client-connection.ts";
import { idText, keep, underId } from "./kept-frame.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { sessionLost } from "./session-lost.ts";

/** For attached controllers. `succeeded` runs after the client has its answer. */
export function forwardInSession(
  router: Router,
  client: ClientConnection,
  envelope: Envelope,
  succeeded?: (session: Session, answer: Envelope) => void,
  outward?: (session: Session, answer: Envelope) => Buffer,
): void {
  const id = idText(envelope);
  const reached = router.reach(client, envelope);
  if (!reached.ok) return client.refuse(id, reached.error);
  const { session } = reached;
  const link = session.route;
  if (!link) return client.refuse(id, sessionLost(session));
  const call = link.forward(envelope, inwardEdits(session, envelope), {
    session,
    origin: { client, id },
    answered: (answer) => {
      client.relayAnswer(
        id,
        outward?.(session, answer) ?? underId(answer, id),
        session.attachments.get(client),
        session.log.end,
      );
      if (answer.result.start >= 0) succeeded?.(session, answer);
    },
    failed: (error) => client.refuse(id, error),
  });
  client.onCancel(id, () => link.cancelCall(call));
}

/** Without a session: the process that the client is bound to. Whoever only looks on has nothing to ask of it. */
export async function forwardToAgent(
  router: Router,
  client: ClientConnection,
  envelope: Envelope,
  edits: readonly Edit[] = [],
): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  if (client.identity.role === "observer") return client.refuse(id, looksOn());
  const { agent } = client.identity;
  // Without a wait, so that what the client sends next does not overtake it.
  const bound = agent === undefined ? undefined : bindingOf(router, client, agent);
  if (bound) return passOn(client, bound, { frame, id, edits });
  const acquired = await acquireFor(router, client, undefined, "connection");
  if (!acquired.ok) return client.refuse(id, acquired.error);
  passOn(client, acquired.link, { frame, id, edits });
}

/** Signing in and out belongs to the process and so to all its clients: one at a time. */
export async function authenticate(router: Router, client: ClientConnection, envelope: Envelope): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  if (client.identity.role === "observer") return client.refuse(id, looksOn());
  const acquired = await acquireFor(router, client, undefined, "connection");
  if (!acquired.ok) return client.refuse(id, acquired.error);
  const { link } = acquired;
  const previous = link.authenticating;
  const finished = previous.then(
    () =>
      new Promise<void>((resolve) => {
        if (client.closed) resolve();
        else passOn(client, link, { frame, id, edits: [] }, resolve);
      }),
  );
  // Nobody finishes the sign-in of a client that is gone.
  link.authenticating = Promise.race([finished, client.inputOver]);
  await finished;
}

function passOn(
  client: ClientConnection,
  link: AgentLink,
  { frame, id, edits }: { frame: Envelope; id: string; edits: readonly Edit[] },
  done?: () => void,
): void {
  const call = link.forward(frame, edits, {
    origin: { client, id },
    answered: (answer) => {
      relay(client, id, answer);
      done?.();
    },
    failed: (error) => {
      client.refuse(id, error);
      done?.();
    },
  });
  client.onCancel(id, () => link.cancelCall(call));
}

/** A notification of the client: to the session's agent, or to the agent it is bound to; never starts one. */
export function forwardNotification(router: Router, client: ClientConnection, envelope: Envelope): void {
  if (client.identity.role === "observer") return;
  if (envelope.sessionId.start < 0) {
    const frame = Buffer.from(envelope.bytes.subarray(envelope.start, envelope.end + 1));
    for (const link of router.pool.links) {
      if (link.agent === client.identity.agent && link.clients.has(client)) link.write(frame);
    }
    return;
  }
  const session = router.sessions.get(readString(envelope.bytes, envelope.sessionId));
  if (!session?.route || !session.attachments.has(client)) return;
  session.route.write(splice(envelope.bytes, envelope.start, envelope.end, inwardEdits(session, envelope)));
}

/** An answer as it came, under the client's id. */
export function relay(client: ClientConnection, id: string, answer: Envelope): void {
  client.relayAnswer(id, underId(answer, id));
}

export const looksOn = (): RpcError =>
  fault("observer", "This connection only looks on; connect as a controller to act.");

/** What differs for the agent. */
export const inwardEdits = (session: Session, envelope: Envelope): Edit[] =>
  session.renamed && envelope.sessionId.start >= 0 ? [{ ...envelope.sessionId, bytes: session.agentIdBytes }] : [];
