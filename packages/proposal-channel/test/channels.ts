// Channels and payloads for tests.
import { newChannel, newInstance, type Channel, type HelperInstance } from "../src/channel.ts";

export const instance: HelperInstance = newInstance(() => "0123456789abcdef".repeat(2));

/** The n-th channel of the test Helper, always the same. */
export function channel(n = 1, of: HelperInstance = instance): Channel {
  return newChannel(of, () => n.toString(16).padStart(32, "0"));
}

export function bytes(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}
