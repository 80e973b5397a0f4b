import { expect, test } from "vitest";
import { channelLabel, instanceOf, isChannel, newChannel, newInstance, parseChannel } from "../src/channel.ts";

const half = "0123456789abcdef0123456789abcdef";
const good = `v1.${half}.${half}`;

test("a channel is exactly v1 and two parts of 32 lower-case hex digits", () => {
  expect(parseChannel(good)).toEqual({ ok: true, channel: good });
  for (const bad of [
    good.toUpperCase(),
    `v1.${half.toUpperCase()}.${half}`,
    `V1.${half}.${half}`,
    `v2.${half}.${half}`,
    `v1.01234567-89ab-cdef-0123-456789abcdef.${half}`,
    `v1.{${half}}.${half}`,
    `v1.${half}.${half} `,
    ` v1.${half}.${half}`,
    `v1.${half}.${half}\n`,
    `v1.${half}.${half.slice(1)}`,
    `v1.${half}.${half}0`,
    `v1.${half}${half}`,
    `v1.${half}.${half}.`,
    `v1..${half}`,
    "",
  ]) {
    expect(parseChannel(bad), bad).toEqual({
      ok: false,
      message: "expected v1.<32 lowercase hex>.<32 lowercase hex>",
    });
  }
});

test("version and variant digits are not looked at", () => {
  expect(isChannel(`v1.${"f".repeat(32)}.${"0".repeat(32)}`)).toBe(true);
});

test("a new channel keeps its Helper's instance, has a fresh nonce and 68 characters", () => {
  const instance = newInstance();
  const [first, second] = [newChannel(instance), newChannel(instance)];
  expect(instanceOf(first)).toBe(instance);
  expect(first).not.toBe(second);
  expect(first).toHaveLength(68);
  expect(isChannel(first)).toBe(true);
  expect(newInstance()).not.toBe(instance);
});

test("a source of randomness with another shape is a bug", () => {
  expect(() => newInstance(() => "short")).toThrow("32 lower-case hex digits");
  expect(() => newChannel(newInstance(), () => half.toUpperCase())).toThrow("32 lower-case hex digits");
});

test("a log gets eight hex digits that tell nothing of the channel", () => {
  const label = channelLabel(newChannel(newInstance()));
  expect(label).toMatch(/^[0-9a-f]{8}$/);
});
