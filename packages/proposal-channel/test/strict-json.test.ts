import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeUtf8, hasUnpairedSurrogate, jsonProblem } from "../src/strict-json.ts";

describe("compact", () => {
  test.each([
    ['{"b":1,"a":[true,false,null,-0.5e+10],"c":{"a":1}}', undefined],
    ['"\\u00e9\\ud83d\\ude00"', undefined],
    ['"é😀  spaces inside\u007f"', undefined],
    ["0", undefined],
    ["[]", undefined],
    ["{}", undefined],
    ["[[],{},[{}]]", undefined],
    [' {"a":1}', "white_space"],
    ['{"a":1} ', "white_space"],
    ['{"a": 1}', "white_space"],
    ['{"a" :1}', "white_space"],
    ['{ "a":1}', "white_space"],
    ["[1,\n2]", "white_space"],
    ["[1 ,2]", "white_space"],
    ['{"a":1,"a":2}', "duplicate_key"],
    ['{"a":1,"\\u0061":2}', "duplicate_key"],
    ['[{"x":{"k":1,"k":1}}]', "duplicate_key"],
    ['{"__proto__":1,"__proto__":2}', "duplicate_key"],
    ['"\\ud800"', "lone_surrogate"],
    ['"\\udc00x"', "lone_surrogate"],
    ['"\\ud83d\\ud83d\\ude00"', "lone_surrogate"],
    ['{"\\ud800":1}', "lone_surrogate"],
    ["", "not_json"],
    ["\ufeff{}", "not_json"],
    ["{}{}", "not_json"],
    ["{},", "not_json"],
    ["[1,]", "not_json"],
    ["[,1]", "not_json"],
    ['{"a":1,}', "not_json"],
    ["{a:1}", "not_json"],
    ["{'a':1}", "not_json"],
    ['{"a"}', "not_json"],
    ['{"a":}', "not_json"],
    ["[1}", "not_json"],
    ["[", "not_json"],
    ['{"a":1', "not_json"],
    ['"abc', "not_json"],
    ['"\\x41"', "not_json"],
    ['"\\u12"', "not_json"],
    ['"a\tb"', "not_json"],
    ["01", "not_json"],
    ["+1", "not_json"],
    [".5", "not_json"],
    ["1.", "not_json"],
    ["1e", "not_json"],
    ["-", "not_json"],
    ["NaN", "not_json"],
    ["Infinity", "not_json"],
    ["tru", "not_json"],
    ["nullx", "not_json"],
    ["1/**/", "not_json"],
  ])("%j is %s", (text, problem) => {
    expect(jsonProblem(text, "compact")).toBe(problem);
  });
});

test("the spaced form takes the white space of JSON and no other", () => {
  expect(jsonProblem(' \t\r\n{ "a" : [ 1 , 2 ] } ', "spaced")).toBeUndefined();
  expect(jsonProblem("[1,\u00a02]", "spaced")).toBe("not_json");
  expect(jsonProblem("[1,\f2]", "spaced")).toBe("not_json");
});

test("it takes whatever JSON.stringify writes, and finds white space that is added anywhere outside of strings", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      fc.pre(!hasUnpairedSurrogate(compact) && !/\\ud[89a-f]/i.test(compact));
      expect(jsonProblem(compact, "compact")).toBeUndefined();
      expect(jsonProblem(`${compact} `, "compact")).toBe("white_space");
      expect(jsonProblem(JSON.stringify(JSON.parse(text), null, 1), "spaced")).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test("it says not_json exactly where JSON.parse throws, on damaged texts too", () => {
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", '"', "}", "]", "[", "{", ":", "\\", "1", "e", "-", "\u0000"))
    .map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + 1);
    });
  fc.assert(
    fc.property(damaged, (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const problem = jsonProblem(text, "spaced");
      if (!isJson) expect(problem, text).toBeDefined();
      else expect([undefined, "duplicate_key", "lone_surrogate"], text).toContain(problem);
    }),
    { numRuns: 1500 },
  );
});

test("a text as deep as it is long needs no stack", () => {
  expect(jsonProblem("[".repeat(50_000) + "]".repeat(50_000), "compact")).toBeUndefined();
  expect(jsonProblem('{"a":'.repeat(20_000) + "1" + "}".repeat(20_000), "compact")).toBeUndefined();
  expect(jsonProblem(`"${"\\u0041".repeat(100_000)}"`, "compact")).toBeUndefined();
});

test("bytes are decoded only when they are valid UTF-8 to the end, and a byte order mark stays", () => {
  expect(decodeUtf8(Buffer.from("é😀"))).toBe("é😀");
  expect(decodeUtf8(Buffer.from("\ufeffx"))).toBe("\ufeffx");
  expect(decodeUtf8(Buffer.from([0xc3]))).toBeUndefined();
  expect(decodeUtf8(Buffer.from([0xed, 0xa0, 0x80]))).toBeUndefined();
  expect(decodeUtf8(Buffer.from([0xc0, 0x80]))).toBeUndefined();
});
