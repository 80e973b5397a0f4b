// The error for whatever needs an agent in a session that no process runs, with what is known of why.

import { fault, type RpcError } from "../protocol/reasons.ts";
import type { Session } from "./session.ts";

export interface Failure {
  /** For people, a whole sentence. */
  readonly why: string;
  /** The agent's own error, or the master's where no agent could be asked. */
  readonly error: object;
}

export const failureOf = (error: RpcError): Failure => ({ why: error.message, error });

/** Nothing is said of a failure: nobody has tried to bring the session back. */
export function sessionLost(session: Session, failure?: Failure): RpcError {
  const { agent } = session;
  if (!failure) {
    const message = "No agent process runs this session now; a prompt, session/load or session/resume brings it back.";
    return fault("session_lost", message, { agent });
  }
  const message = `The session cannot go on now. ${failure.why} session/load still shows what was seen, and the next prompt tries again; start a new session if that does not help.`;
  return fault("session_lost", message, { agent, agentError: failure.error });
}
