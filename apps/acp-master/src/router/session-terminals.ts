// The terminals that the agent of one session has open, and who runs each. A client that made one keeps it; what the agent
// can no longer release is released here.

import { type Envelope, readString } from "@acp-master/wire";
import type { ClientConnection, Question } from "./client-connection.ts";
import { json } from "./message.ts";
import type { Session } from "./session.ts";

export type TerminalOwner = ClientConnection | "host";

interface OpenTerminal {
  readonly owner: TerminalOwner;
  /** The id under which its owner knows the session. */
  readonly sessionId: string;
  readonly terminalId: string;
}

export class SessionTerminals {
  /** Ids are made by each client, and may be the same in a session and in one below it. */
  readonly #open = new Map<string, OpenTerminal>();

  /** `agentId` is the agent's own id of the session that the terminal belongs to. */
  ownerOf(agentId: string, terminalId: string): TerminalOwner | undefined {
    return this.#open.get(keyOf(agentId, terminalId))?.owner;
  }

  made(agentId: string, terminal: OpenTerminal): void {
    this.#open.set(keyOf(agentId, terminal.terminalId), terminal);
  }

  released(agentId: string, terminalId: string): void {
    this.#open.delete(keyOf(agentId, terminalId));
  }

  /** The agent or the session is gone. The host's are ended by the host. */
  releaseAll(): void {
    for (const terminal of this.#open.values()) releaseAt(terminal);
    this.#open.clear();
  }
}

/** Asks the client that made it to end it; what it answers changes nothing. */
function releaseAt({ owner, sessionId, terminalId }: OpenTerminal): void {
  if (owner === "host" || owner.closed || owner.halfClosed) return;
  owner.ask("terminal/release", json({ sessionId, terminalId }), {
    answered: () => {},
    malformed: () => {},
    lost: () => {},
  });
}

interface TerminalAnswer {
  readonly method: string;
  readonly request: Envelope;
  readonly answer: Envelope;
  readonly owner: TerminalOwner;
}

/** A terminal sticks to who made it, until it is released. */
export function noteTerminal(session: Session, { method, request, answer, owner }: TerminalAnswer): void {
  const agentId = readString(request.bytes, request.sessionId) ?? "";
  if (method === "terminal/create") {
    const terminalId = readString(answer.bytes, answer.resultTerminalId);
    if (terminalId === undefined) return;
    session.terminals.made(agentId, { owner, sessionId: session.outwardId(agentId), terminalId });
  } else if (method === "terminal/release" && answer.result.start >= 0) {
    session.terminals.released(agentId, readString(request.bytes, request.terminalId) ?? "");
  }
}

/** The client may have made the terminal all the same: nobody knows of it, so it is released. */
export function unwantedTerminal(session: Session, request: Envelope, owner: ClientConnection): Question {
  const sessionId = session.outwardId(readString(request.bytes, request.sessionId) ?? "");
  return {
    answered: (answer) => {
      const terminalId = readString(answer.bytes, answer.resultTerminalId);
      if (terminalId !== undefined) releaseAt({ owner, sessionId, terminalId });
    },
    malformed: () => {},
    lost: () => {},
  };
}

const keyOf = (agentId: string, terminalId: string): string => `${agentId}\0${terminalId}`;
