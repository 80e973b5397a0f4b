// Which process a client's requests go to. A client is bound to one process per agent, at its first request that needs one.

import { fault, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { Acquired } from "./agent-pool.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { Router } from "./router.ts";

/**
 * The process that this client is bound to for the agent, if it runs; the latest, where each session has its own. One that
 * was told of other capabilities serves the client only in the sessions that it attached to.
 */
export function bindingOf(router: Router, client: ClientConnection, agent: string): AgentLink | undefined {
  return [...router.pool.links].findLast(
    (link) =>
      link.agent === agent &&
      link.state === "ready" &&
      link.clients.has(client) &&
      link.key.endsWith(`\0${client.identity.capabilities.digest}`),
  );
}

/**
 * Binds the client to a process of `agent` (its own agent when undefined), starting one when needed. For `session` an
 * agent with a process per session gets one in which no session runs.
 */
export async function acquireFor(
  router: Router,
  client: ClientConnection,
  agent: string | undefined,
  purpose: "session" | "connection",
): Promise<Acquired> {
  const name = agent ?? client.identity.agent;
  if (name === undefined) return { ok: false, error: noAgent() };
  const found = router.definition(name);
  if (!found.ok) return found;
  const alone = purpose === "session" && found.definition.share === "session";
  for (;;) {
    const bound = alone ? undefined : bindingOf(router, client, name);
    const acquired: Acquired = bound
      ? { ok: true, link: bound }
      : await router.pool.acquire(found.definition, client.identity.capabilities, alone);
    if (!acquired.ok) return acquired;
    const { link } = acquired;
    // Another request may have taken the process between the promise and here.
    if (alone && (link.sessions.size > 0 || link.creations.size > 0)) continue;
    if (link.state !== "ready") continue;
    if (!client.closed) link.clients.add(client);
    router.pool.consider(link);
    return acquired;
  }
}

const noAgent = (): RpcError =>
  fault(
    "unknown_agent",
    'This connection has no agent: it sent "agent": null in initialize. Name one in _meta["acp-master"].agent of session/new.',
  );
