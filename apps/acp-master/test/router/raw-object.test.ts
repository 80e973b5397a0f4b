import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arrayOf, elementsIn, memberOf, objectIn, withMember, withoutMember } from "../../src/router/raw-object.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const NUMBERS = '{"big":9007199254740993,"one":1.0,"minus":-0,"far":1e400}';

describe("a member of raw JSON", () => {
  test("is read, set and removed without touching another byte", () => {
    const object = bytes(`{ "a" : ${NUMBERS}, "b":[1.0 , 2] ,"c":"x"}`);
    expect(memberOf(object, "a")?.toString()).toBe(NUMBERS);
    expect(memberOf(object, "none")).toBeUndefined();
    expect(withMember(object, "c", bytes("7")).toString()).toBe(`{ "a" : ${NUMBERS}, "b":[1.0 , 2] ,"c":7}`);
    expect(withoutMember(object, "b").toString()).toBe(`{ "a" : ${NUMBERS}, "c":"x"}`);
    expect(withoutMember(object, "none")).toBe(object);
  });

  test("is added where it is not there, also to an empty object", () => {
    expect(withMember(bytes("{}"), "a", bytes("1")).toString()).toBe('{"a":1}');
    expect(JSON.parse(withMember(bytes(' { "b":2}').subarray(1), "a", bytes("1")).toString())).toEqual({ a: 1, b: 2 });
  });

  test("of what is no object is none, and stands for an empty one", () => {
    for (const text of ["[]", "null", '"a"', "1"]) expect(memberOf(bytes(text), "a")).toBeUndefined();
    expect(objectIn(bytes('{"a":[1]}'), "a").toString()).toBe("{}");
    expect(objectIn(bytes('{"a":{"b":1}}'), "a").toString()).toBe('{"b":1}');
  });
});

test("any array falls into its elements and is put together again", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const elements = elementsIn(bytes(JSON.stringify(values, undefined, 1)));
      expect(elements.map((element) => JSON.parse(element.toString()))).toEqual(JSON.parse(JSON.stringify(values)));
      expect(JSON.parse(arrayOf(elements).toString())).toEqual(JSON.parse(JSON.stringify(values)));
    }),
    { numRuns: 500 },
  );
  expect(elementsIn(undefined)).toEqual([]);
  expect(elementsIn(bytes("{}"))).toEqual([]);
});

test("any change of a member is what a parser says of it", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom("a", "mcpCapabilities"), (object, key) => {
      const raw = bytes(JSON.stringify(object));
      const set = JSON.parse(withMember(raw, key, bytes("[1]")).toString());
      expect(set).toEqual({ ...JSON.parse(raw.toString()), [key]: [1] });
      const { [key]: _, ...rest } = JSON.parse(raw.toString());
      expect(JSON.parse(withoutMember(raw, key).toString())).toEqual(rest);
    }),
    { numRuns: 500 },
  );
});
