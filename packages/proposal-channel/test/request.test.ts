import { expect, test } from "vitest";
import { maxFrameBytes } from "../src/limits.ts";
import { encodeRequest, readRequest } from "../src/request.ts";
import { bytes, channel } from "./channels.ts";

function read(text: string): unknown {
  const request = readRequest(bytes(text));
  if (request.ok) return request;
  return request.problem === "oversized" ? request.problem : request.status;
}

test("a request is one object of version, channel and payload", () => {
  const line = encodeRequest(channel(), '{"a":"é"}');
  expect(line).toBe(`{"version":1,"channel":"${channel()}","payload":"{\\"a\\":\\"é\\"}"}`);
  expect(readRequest(bytes(line))).toEqual({ ok: true, channel: channel(), payload: Buffer.from('{"a":"é"}') });
});

test.each([
  "",
  "{",
  "[]",
  "null",
  `{"version":1,"channel":"${channel()}"}`,
  `{"version":1,"channel":"${channel()}","payload":"{}","x":1}`,
  `{"version":1,"version":1,"channel":"${channel()}","payload":"{}"}`,
  `{"version":1,"channel":"${channel()}","payload":"{}","\\u0070ayload":"{}"}`,
  `{"version":2,"channel":"${channel()}","payload":"{}"}`,
  `{"version":"1","channel":"${channel()}","payload":"{}"}`,
  `{"version":1,"channel":5,"payload":"{}"}`,
  `{"version":1,"channel":"${channel()}","payload":{}}`,
  `{"version":1,"channel":"${channel()}","payload":"\\ud800"}`,
  `\ufeff{"version":1,"channel":"${channel()}","payload":"{}"}`,
])("%j is rejected", (text) => {
  expect(read(text)).toBe("rejected");
});

test("a malformed channel is unknown, also when its payload is too large", () => {
  expect(read(`{"version":1,"channel":"${channel().toUpperCase()}","payload":"{}"}`)).toBe("unknown_channel");
  expect(read(`{"version":1,"channel":"x","payload":"${"x".repeat(8193)}"}`)).toBe("unknown_channel");
});

test("a payload is counted in UTF-8 bytes", () => {
  expect(read(encodeRequest(channel(), "é".repeat(4096)))).toMatchObject({ ok: true });
  expect(read(encodeRequest(channel(), `${"é".repeat(4096)}x`))).toBe("oversized");
});

test("the longest escape of every byte of a payload fits into a frame", () => {
  expect(Buffer.byteLength(encodeRequest(channel(), "\u0000".repeat(8192)))).toBeLessThanOrEqual(maxFrameBytes);
});
