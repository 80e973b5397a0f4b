// What of a Helper's messages becomes a value, and what stays bytes.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeMessage, encodeMessage, RawParams } from "../../src/helper/message-content.ts";
import { members } from "../../src/helper/object-members.ts";

const decode = (text: string) => decodeMessage(Buffer.from(text));

test("raw params go into the envelope as they are, and are let go of", () => {
  const params = new RawParams(Buffer.from('{"n":9007199254740993, "f":1.0}'));
  const message = { jsonrpc: "2.0", id: 7, method: "m", params };
  expect(encodeMessage(message).toString()).toBe(
    '{"jsonrpc":"2.0","id":7,"method":"m","params":{"n":9007199254740993, "f":1.0}}',
  );
  expect(() => encodeMessage(message)).toThrow("already written");
});

test("appended content stays bytes; members nobody asked for are left out", () => {
  const read = decode('{"jsonrpc":"2.0","id":1,"result":{"append":[{"a":1.0}\n, 2],"echo":"CANARY","final":true}}');
  expect(read).toEqual({ jsonrpc: "2.0", id: 1, result: { append: Buffer.from('[{"a":1.0} , 2]'), final: true } });
});

test.each(["[]", "{}", "null", '"x"', "[ \n ]"])("an append of %s appends nothing", (append) => {
  expect(decode(`{"jsonrpc":"2.0","id":1,"result":{"append":${append}}}`)).toMatchObject({ result: {} });
  expect(decode(`{"jsonrpc":"2.0","id":1,"result":{"append":${append}}}`)).not.toMatchObject({
    result: { append: expect.anything() },
  });
});

test("of an error only the code is read", () => {
  const read = decode('{"jsonrpc":"2.0","id":1,"error":{"message":"CANARY","code":-32050,"data":{"code":1}}}');
  expect(read).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32050, message: "" } });
});

test("params of requests and of unknown notifications are not read", () => {
  expect(decode('{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"CANARY"}}')).toEqual({
    jsonrpc: "2.0",
    id: 1,
    method: "m",
  });
  expect(decode('{"jsonrpc":"2.0","method":"m","params":{"x":"CANARY"}}')).toEqual({
    jsonrpc: "2.0",
    method: "m",
    params: {},
  });
});

describe("no messages", () => {
  test.each([
    ["", "not_json"],
    ["{", "not_json"],
    ["[]", "bad_envelope"],
    ["7", "bad_envelope"],
    ['{"jsonrpc":"2.0","id":1,"result":{"append":[1,]}}', "not_json"],
    ['{"jsonrpc":"2.0","id":1,"result":{"append":[1],"append":[2]}}', "bad_envelope"],
  ])("%s is %s", (text, kind) => {
    expect(() => decode(text)).toThrow(kind);
  });
});

test("members finds what a parser finds", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(2), (object, indent) => {
      const bytes = Buffer.from(JSON.stringify(object, undefined, indent));
      const found = members(bytes, { start: 0, end: bytes.length }) ?? [];
      const values = found.map(({ value }) => JSON.parse(bytes.toString("utf8", value.start, value.end)) as unknown);
      expect(values).toEqual(Object.values(JSON.parse(bytes.toString())));
    }),
    { numRuns: 2000 },
  );
});
