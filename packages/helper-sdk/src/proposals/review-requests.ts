// Reads the lines of a user interface. Strict JSON and the known members; members that this version does not know pass.
import { decodeUtf8, isJsonObject, jsonProblem } from "@acp-master/proposal-channel";
import type { Mode } from "./executor.ts";
import type { ReviewRequest } from "./review-messages.ts";

const longestName = 64;
const longestPlace = 128;

/** `undefined` for anything that is no request. */
export function readReviewRequest(line: Uint8Array): ReviewRequest | undefined {
  const text = decodeUtf8(line);
  if (text === undefined || jsonProblem(text, "spaced") !== undefined) return undefined;
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) return undefined;
  switch (value["type"]) {
    case "hello":
      return readHello(value);
    case "shown":
      return typeof value["proposalId"] === "string" ? { type: "shown", proposalId: value["proposalId"] } : undefined;
    case "decide":
      return readDecision(value);
    default:
      return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

function readHello({ version, name, place }: Members): ReviewRequest | undefined {
  if (typeof version !== "number" || typeof name !== "string" || name === "" || name.length > longestName)
    return undefined;
  if (place === undefined) return { type: "hello", version, name };
  if (typeof place !== "string" || place.length > longestPlace) return undefined;
  return { type: "hello", version, name, place };
}

function readDecision({ id, proposalId, decision, choice, mode }: Members): ReviewRequest | undefined {
  if (typeof id !== "number" || !Number.isSafeInteger(id) || typeof proposalId !== "string") return undefined;
  if (decision === "cancel") return { type: "decide", id, proposalId, decision };
  if (decision !== "confirm" || typeof choice !== "number" || !isMode(mode)) return undefined;
  return { type: "decide", id, proposalId, decision, choice, mode };
}

function isMode(value: unknown): value is Mode {
  return value === "run" || value === "insert";
}
