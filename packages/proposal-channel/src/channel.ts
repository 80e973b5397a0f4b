// The channel text: what it looks like, and the only functions that make one. It is a short-lived secret, so logs get a label.
import { createHash, randomUUID } from "node:crypto";

declare const channelBrand: unique symbol;
declare const instanceBrand: unique symbol;

/** `v1.<helper instance>.<turn nonce>`, 68 characters. */
export type Channel = string & { readonly [channelBrand]: true };

/** 32 lower-case hex digits, fixed for the life of a Helper process. */
export type HelperInstance = string & { readonly [instanceBrand]: true };

export const channelLength = 68;

const channelPattern = /^v1\.([0-9a-f]{32})\.[0-9a-f]{32}$/;

export type ParsedChannel =
  { readonly ok: true; readonly channel: Channel } | { readonly ok: false; readonly message: string };

/**
 * Takes exactly the channel's spelling and nothing near it. The message never repeats the text.
 *
 *     parseChannel("v1.ABC")  // { ok: false, message: "expected v1.<32 lowercase hex>.<32 lowercase hex>" }
 */
export function parseChannel(text: string): ParsedChannel {
  if (isChannel(text)) return { ok: true, channel: text };
  return { ok: false, message: "expected v1.<32 lowercase hex>.<32 lowercase hex>" };
}

export function isChannel(text: string): text is Channel {
  return channelPattern.test(text);
}

/** The Helper process that a channel names; the socket's place follows from it. */
export function instanceOf(channel: Channel): HelperInstance {
  return checked(channel.slice(3, 35));
}

/** One random UUID version 4 without its hyphens; tests bring their own. */
export type RandomHex = () => string;

export const randomHex: RandomHex = () => randomUUID().replaceAll("-", "");

export function newInstance(random: RandomHex = randomHex): HelperInstance {
  return checked(random());
}

export function newChannel(instance: HelperInstance, random: RandomHex = randomHex): Channel {
  const text = `v1.${instance}.${random()}`;
  if (!isChannel(text)) throw new TypeError(badSource);
  return text;
}

/** SHA-256 of the channel text: what is remembered of a channel that has ended. */
export function channelDigest(channel: Channel): string {
  return createHash("sha256").update(channel).digest("hex");
}

/** All that a log may hold of a channel. */
export function channelLabel(channel: Channel): string {
  return channelDigest(channel).slice(0, 8);
}

const badSource = "A source of randomness must give 32 lower-case hex digits.";

function checked(hex: string): HelperInstance {
  if (!isInstance(hex)) throw new TypeError(badSource);
  return hex;
}

function isInstance(hex: string): hex is HelperInstance {
  return /^[0-9a-f]{32}$/.test(hex);
}
