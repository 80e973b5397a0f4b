// Why something that was asked of the daemon did not happen.
import { RequestError as AcpError } from "@agentclientprotocol/sdk";
import { asObject } from "../json.ts";
import type { RequestError } from "../protocol.ts";

export class LinkError extends Error {
  /** As the page gets it. */
  readonly shown: RequestError;

  constructor(shown: RequestError, cause?: unknown) {
    super(shown.message, { cause });
    this.name = "LinkError";
    this.shown = shown;
  }

  get reason(): string | undefined {
    return this.shown.reason;
  }
}

export const offline = (cause?: unknown): LinkError =>
  new LinkError(
    { message: "The daemon is not there at the moment. Try again when it is back.", reason: "offline" },
    cause,
  );

/** What the SDK throws: the other side's error, or that there is no other side any more. */
export function linkError(error: unknown, isOpen: boolean): LinkError {
  if (error instanceof LinkError) return error;
  if (!isOpen || !(error instanceof AcpError)) return offline(error);
  const { reason } = asObject(error.data);
  return new LinkError(
    { message: error.message, code: error.code, ...(typeof reason === "string" ? { reason } : {}) },
    error,
  );
}
