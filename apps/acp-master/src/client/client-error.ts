// What can go wrong between one of our programs and the daemon. The messages say what to do next and carry no payload.

import { asRecord, asText } from "../protocol/json-value.ts";

export type ClientErrorKind =
  /** Nothing listens on the socket. */
  | "no_daemon"
  /** Something listens that does not answer as a daemon of this product. */
  | "not_a_master"
  | "version_mismatch"
  | "connection_lost"
  /** The daemon answered a request with an error; `code`, `reason` and `details` hold it. */
  | "answered_error";

interface Particulars {
  readonly code?: number | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class ClientError extends Error {
  readonly kind: ClientErrorKind;
  readonly code: number | undefined;
  /** `error.data.reason`, when the daemon gave one. */
  readonly reason: string | undefined;
  /** `error.data`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(kind: ClientErrorKind, message: string, particulars: Particulars = {}) {
    super(message, { cause: particulars.cause });
    this.name = "ClientError";
    this.kind = kind;
    this.code = particulars.code;
    this.details = particulars.details ?? {};
    this.reason = typeof this.details.reason === "string" ? this.details.reason : undefined;
  }
}

/** Turns the `error` member of a response, or an Error that has `code` and `data` like one, into a ClientError. */
export function answeredError(error: unknown, ownVersion: string): ClientError {
  const { code, data, message: given } = asRecord(error);
  const message = error instanceof Error ? error.message : given;
  const text = asText(message) || "the daemon gave no reason";
  const details = asRecord(data);
  const particulars = { code: typeof code === "number" ? code : undefined, details, cause: error };
  if (details.reason !== "version_mismatch") return new ClientError("answered_error", text, particulars);
  const bothNamed = text.includes(ownVersion) ? text : `${text} (this program is version ${ownVersion})`;
  return new ClientError("version_mismatch", bothNamed, particulars);
}
