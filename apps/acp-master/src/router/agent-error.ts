// The error that an agent answered a request with. What it says is passed on as it is and explains nothing here but by its code.

import { type Envelope, parseFrame } from "@acp-master/wire";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";

export const agentError = (answer: Envelope): JsonRecord =>
  asRecord(parseFrame(answer.bytes, answer.error.start, answer.error.end));

/** undefined: it has none that could be one. */
export function agentErrorCode(answer: Envelope): number | undefined {
  const { code } = agentError(answer);
  return typeof code === "number" ? code : undefined;
}
