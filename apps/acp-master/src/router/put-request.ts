// An agent's request on its way to the one that can take it, an attached client or this host, and the answer back. It is
// put at most once, and answered exactly once.

import { type Edit, type Envelope, readString, splice } from "@acp-master/wire";
import { fault, INTERNAL_ERROR, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { idText, keep, reopened, underId } from "./kept-frame.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { noteTerminal, unwantedTerminal } from "./session-terminals.ts";
import { peopleGraceMs, wait } from "../wait.ts";

export const clientGone = (method: string): RpcError =>
  fault("client_gone", `The client that was asked for "${method}" is gone; it is asked of no other one.`);

interface Recipient {
  readonly client: ClientConnection;
  readonly session: Session | undefined;
  readonly method: string;
}

/** Puts the agent's request to one client. It is sent at most once, and answered exactly once. */
export function putToClient(
  router: Router,
  link: AgentLink,
  to: Recipient,
  envelope: Envelope,
  edits: readonly Edit[] = [],
): void {
  const { client, session, method } = to;
  const id = idText(envelope);
  const request = keep(envelope);
  const attachment = session?.attachments.get(client);
  const position = !session || !attachment || attachment.gated ? 0 : session.log.end;
  const seconds = waitSeconds(router, link.agent, method);
  let stopWaiting: (() => void) | undefined;
  const done = (): void => stopWaiting?.();

  const elicitation = readString(envelope.bytes, envelope.elicitationId);
  if (method === "elicitation/create" && elicitation !== undefined) {
    router.elicitations.asked(link, elicitation, client);
  }

  let number = 0;
  const takeBack = (): void =>
    client.withdraw(
      number,
      session && method === "terminal/create" ? unwantedTerminal(session, request, client) : undefined,
    );
  // Registered before it is written: writing may be the moment in which the client turns out to be gone.
  link.incoming.opened(id, {
    bytes: request.bytes.length,
    cancelled: () => client.cancelQuestion(number),
    abandoned: () => {
      done();
      takeBack();
    },
  });
  number = client.askFrame(
    (clientId) => {
      const all = [...edits, ...outwardEdits(session, request), { ...request.id, bytes: Buffer.from(clientId) }];
      return splice(
        request.bytes,
        request.start,
        request.end,
        all.toSorted((a, b) => a.start - b.start),
      );
    },
    {
      answered: (answer) => {
        done();
        if (session) noteTerminal(session, { method, request, answer, owner: client });
        link.relayAnswer(id, underId(answer, id));
      },
      malformed: () => {
        done();
        link.refuse(id, { code: INTERNAL_ERROR, message: `The client's answer to "${method}" was no legal response.` });
      },
      lost: () => {
        done();
        link.refuse(id, clientGone(method));
      },
    },
    attachment,
    position,
  );
  if (seconds > 0 && link.incoming.isOpen(id)) {
    const late = (): void => {
      takeBack();
      link.refuse(id, fault("no_client", `The client has not answered "${method}" for ${seconds} s.`));
    };
    stopWaiting = wait(seconds * 1000, late, peopleGraceMs);
  }
}

/** As `putToClient`, to the host client: its answers are the agent's, and it is asked at most once too. */
export function putToHost(
  router: Router,
  link: AgentLink,
  { session, method }: { session: Session; method: string },
  envelope: Envelope,
): void {
  const id = idText(envelope);
  const request = keep(envelope);
  const frame = reopened(toClient(session, request));
  link.incoming.opened(id, { bytes: request.bytes.length, cancelled: () => {}, abandoned: () => {} });
  router.host.put(session, frame, {
    answered: (answer) => {
      noteTerminal(session, { method, request, answer, owner: "host" });
      link.relayAnswer(id, underId(answer, id));
    },
    lost: () => link.refuse(id, clientGone(method)),
  });
}

/** How long a client may take; 0: as long as it wants. Waiting for a process to exit is no silence. */
function waitSeconds(router: Router, agent: string, method: string): number {
  if (method === "elicitation/create") return router.permissions.policyOf(agent).timeoutSeconds;
  if (method.startsWith("terminal/") && method !== "terminal/create") return 0;
  return router.config.limits.clientSeconds;
}

function outwardEdits(session: Session | undefined, envelope: Envelope): Edit[] {
  const bytes = session?.outwardName(envelope.bytes, envelope.sessionId);
  return bytes ? [{ ...envelope.sessionId, bytes }] : [];
}

/** A frame of the session under the id that clients see. */
export function toClient(session: Session, envelope: Envelope): Buffer {
  const edits = outwardEdits(session, envelope);
  return edits.length === 0 ? envelope.bytes : splice(envelope.bytes, envelope.start, envelope.end, edits);
}
