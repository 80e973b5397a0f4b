// What the daemon tells those who asked for events, and the rows in which sessions and approvals are shown.

import { parseFrame } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import type { TicketView } from "@acp-master/permission-core";
import type { ClientConnection } from "./client-connection.ts";
import { reopened } from "./kept-frame.ts";
import { json } from "./message.ts";
import { askedAtText } from "./permission-requests.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

export interface DaemonEvent {
  readonly type:
    "session_changed" | "session_removed" | "approval_requested" | "approval_resolved" | "agent_exited" | "closing";
  readonly [member: string]: unknown;
}

export class Events {
  readonly #clients = new Set<ClientConnection>();

  /** The client asked for events. */
  subscribe(client: ClientConnection): void {
    if (!client.closed) this.#clients.add(client);
  }

  clientGone(client: ClientConnection): void {
    this.#clients.delete(client);
  }

  /** Somebody asked for events. */
  get wanted(): boolean {
    return this.#clients.size > 0;
  }

  send(event: DaemonEvent): void {
    let bytes: Buffer | undefined;
    for (const client of this.#clients) {
      if (client.closed) continue;
      bytes ??= json(event);
      client.notify("_acp-master/event", bytes);
    }
  }
}

export function sessionRow(router: Router, session: Session): Record<string, unknown> {
  // One whose input has ended is only owed answers; whether anybody still reads them cannot be known.
  const clients = [...session.attachments.keys()]
    .filter(({ halfClosed }) => !halfClosed)
    .map(({ clientId, identity }) => ({ clientId, name: identity.name, role: identity.role }));
  const review = router.permissions.reviews.get(session.key);
  return {
    sessionId: session.sessionId,
    agent: session.agent,
    cwd: session.cwd,
    title: titleOf(session),
    state: sessionState(router, session),
    preset: session.preset,
    clients,
    approvals: offered(router, session.key).length,
    ...(review === undefined ? {} : { review }),
    createdAt: new Date(session.createdAt).toISOString(),
    updatedAt: new Date(session.updatedAt).toISOString(),
  };
}

/** Open tickets that people have been asked about. */
export const offered = (router: Router, session?: string): TicketView[] =>
  router.permissions.tickets.tickets(session).filter((ticket) => ticket.state === "offered");

function sessionState(router: Router, session: Session): string {
  if (session.state !== "open") return session.state;
  if (offered(router, session.key).length > 0) return "waiting";
  return session.turns.current ? "running" : "idle";
}

/** What the agent last called the session; null when it never did. */
function titleOf(session: Session): string | null {
  const frame = session.snapshot("session_info_update");
  if (!frame) return null;
  const envelope = reopened(frame);
  try {
    const { title } = asRecord(parseFrame(frame, envelope.update.start, envelope.update.end));
    return typeof title === "string" ? title : null;
  } catch {
    return null; // nested deeper than the master reads: the session has no title that could be shown
  }
}

/** An approval row; `params` is the agent's request and goes in as bytes. */
export function approvalRow(ticket: TicketView, params: Buffer): Buffer {
  const row = json({
    approvalId: ticket.approvalId,
    sessionId: ticket.sessionId,
    agent: ticket.agent,
    toolCallId: ticket.toolCallId,
    options: ticket.options ?? [],
    askedAt: askedAtText(ticket),
    expiresAt: ticket.expiresAt === undefined ? null : new Date(ticket.expiresAt).toISOString(),
  });
  return Buffer.concat([row.subarray(0, -1), Buffer.from(',"params":'), params, Buffer.from("}")]);
}
