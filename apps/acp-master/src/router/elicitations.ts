// Which client was asked for what an agent calls an elicitation, until the agent says that it is complete. Most that are
// answered are never said to be: so many are remembered, and the oldest go.

import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";

const MAX_OPEN = 1024;

export class Elicitations {
  readonly #clients = new Map<string, ClientConnection>();

  asked(link: AgentLink, elicitationId: string, client: ClientConnection): void {
    const key = keyOf(link, elicitationId);
    this.#clients.delete(key);
    this.#clients.set(key, client);
    if (this.#clients.size <= MAX_OPEN) return;
    const oldest = this.#clients.keys().next();
    if (!oldest.done) this.#clients.delete(oldest.value);
  }

  /** Who is to be told, once. */
  completed(link: AgentLink, elicitationId: string): ClientConnection | undefined {
    const key = keyOf(link, elicitationId);
    const client = this.#clients.get(key);
    this.#clients.delete(key);
    return client;
  }

  processEnded(link: AgentLink): void {
    for (const key of this.#clients.keys()) if (key.startsWith(keyOf(link, ""))) this.#clients.delete(key);
  }

  clientGone(client: ClientConnection): void {
    for (const [key, owner] of this.#clients) if (owner === client) this.#clients.delete(key);
  }
}

const keyOf = (link: AgentLink, elicitationId: string): string => `${link.instance}\0${elicitationId}`;
