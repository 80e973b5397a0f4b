// The one line that acp-propose sends: its encoding, and its one strict reading.
import { type Channel, isChannel } from "./channel.ts";
import { maxPayloadBytes } from "./limits.ts";
import { type RefusalStatus, members } from "./responses.ts";

export type ReadRequest =
  | { readonly ok: true; readonly channel: Channel; readonly payload: Uint8Array }
  | { readonly ok: false; readonly problem: "oversized"; readonly channel: Channel }
  | {
      readonly ok: false;
      readonly problem: "refused";
      readonly status: Extract<RefusalStatus, "rejected" | "unknown_channel">;
      readonly reason: string;
    };

/** Without its line end. */
export function encodeRequest(channel: Channel, payload: string): string {
  return JSON.stringify({ version: 1, channel, payload });
}

export function readRequest(line: Uint8Array): ReadRequest {
  const message = members(line, ["version", "channel", "payload"]);
  if (message === undefined)
    return refused("rejected", "the request is not a JSON object with version, channel and payload");
  const { version, channel, payload } = message;
  if (version !== 1) return refused("rejected", "the request's version is not 1");
  if (typeof channel !== "string" || typeof payload !== "string") {
    return refused("rejected", "the request's channel and payload must be texts");
  }
  if (!isChannel(channel)) return refused("unknown_channel", "expected v1.<32 lowercase hex>.<32 lowercase hex>");
  const bytes = Buffer.from(payload, "utf8");
  if (bytes.length > maxPayloadBytes) return { ok: false, problem: "oversized", channel };
  return { ok: true, channel, payload: bytes };
}

function refused(status: "rejected" | "unknown_channel", reason: string): ReadRequest {
  return { ok: false, problem: "refused", status, reason };
}
