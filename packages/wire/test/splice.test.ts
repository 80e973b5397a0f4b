import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Envelope } from "../src/envelope.ts";
import { peek } from "../src/peek.ts";
import type { Edit } from "../src/splice.ts";
import { appendElement, insertMember, removeMember, setMember, splice } from "../src/splice.ts";
import { WireError } from "../src/wire-error.ts";
import { FrameMaker } from "./frame-maker.ts";
import { RandomSource, runSeed } from "./random-source.ts";
import { SPAN_PATHS } from "./reference-envelope.ts";

const PREFIX = '{"before":[1] ,"o": ';
const SUFFIX = ' ,"after":"}"}';
const space = fc.constantFrom("", "", " ", "\t ", "\r\n");
/** One key in several spellings, among others that are nearly it. */
const key = fc.constantFrom(
  '"key"',
  '"k\\u0065y"',
  '"\\u006b\\u0065\\u0079"',
  '"keY"',
  '"ke"',
  '"keyy"',
  '""',
  '"other"',
  '"k\\\\u0065y"',
);
const value = fc.jsonValue().map((json) => JSON.stringify(json));
const members = fc.array(fc.tuple(space, key, space, space, value, space), { maxLength: 6 });

function objectText(
  list: readonly (readonly [string, string, string, string, string, string])[],
  empty: string,
): string {
  return list.length === 0
    ? `{${empty}}`
    : `{${list.map(([a, name, b, c, json, d]) => `${a}${name}${b}:${c}${json}${d}`).join(",")}}`;
}

function inFrame(inner: string): { bytes: Buffer; span: { start: number; end: number } } {
  const start = Buffer.byteLength(PREFIX);
  const bytes = Buffer.from(PREFIX + inner + SUFFIX);
  return { bytes, span: { start, end: start + Buffer.byteLength(inner) } };
}

/** The object after the edit; everything around it has to be as it was. */
function applied(bytes: Buffer, edit: Edit | undefined): string {
  const frame = splice(bytes, 0, bytes.length, edit === undefined ? [] : [edit]).toString();
  expect(frame.startsWith(PREFIX)).toBe(true);
  expect(frame.endsWith(`${SUFFIX}\n`)).toBe(true);
  return frame.slice(PREFIX.length, -SUFFIX.length - 1);
}

function rawMembers(list: readonly (readonly [string, string, string, string, string, string])[]): string[] {
  return list.filter(([, name]) => JSON.parse(name) !== "key").map(([, name, b, c, json]) => `${name}${b}:${c}${json}`);
}

function visible(text: string): number {
  return text.match(/[^ \t\r\n]/g)?.length ?? 0;
}

describe("members", () => {
  test("a removed member is gone in every spelling and occurrence, and every other member keeps its bytes and order", () => {
    fc.assert(
      fc.property(members, space, (list, empty) => {
        const before = objectText(list, empty);
        const { bytes, span } = inFrame(before);
        const edit = removeMember(bytes, span, "key");
        const after = applied(bytes, edit);
        const occurrences = list.length - rawMembers(list).length;
        expect(edit === undefined).toBe(occurrences === 0);
        if (occurrences === 0) expect(after).toBe(before);
        expect(() => JSON.parse(after)).not.toThrow();
        let from = 0;
        for (const member of rawMembers(list)) {
          from = after.indexOf(member, from);
          expect(from).not.toBe(-1);
          from += member.length;
        }
        const kept = visible(after);
        const keptMembers = rawMembers(list);
        expect(kept).toBe(
          2 + Math.max(0, keptMembers.length - 1) + keptMembers.reduce((sum, member) => sum + visible(member), 0),
        );
      }),
      { numRuns: 10_000 },
    );
  });

  test("a set member is there once with its value, and every other member keeps its bytes", () => {
    fc.assert(
      fc.property(members, space, value, (list, empty, json) => {
        const { bytes, span } = inFrame(objectText(list, empty));
        const after = applied(bytes, setMember(bytes, span, "key", Buffer.from(json)));
        const expected = new Map([...rawPairs(list), ["key", JSON.parse(json) as unknown]]);
        const whole: unknown = JSON.parse(after);
        expect(new Map(Object.entries(whole ?? {}))).toEqual(expected);
        for (const member of rawMembers(list)) expect(after).toContain(member);
        const changed = Buffer.from(PREFIX + after + SUFFIX);
        const again = removeMember(
          changed,
          { start: span.start, end: changed.length - Buffer.byteLength(SUFFIX) },
          "key",
        );
        expect(applied(changed, again)).not.toMatch(/^\{\s*"key"/);
      }),
      { numRuns: 10_000 },
    );
  });

  test("an inserted member comes first and changes no byte of the others", () => {
    fc.assert(
      fc.property(members, space, value, (list, empty, json) => {
        const before = objectText(list, empty);
        const { bytes, span } = inFrame(before);
        const after = applied(bytes, insertMember(bytes, span, 'n"ew', Buffer.from(json)));
        expect(after).toBe(`{"n\\"ew":${json}${list.length === 0 ? "" : ","}${before.slice(1)}`);
        expect(() => JSON.parse(after)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['{"key":1}', "{}"],
    ['{ "key" : 1 }', "{  }"],
    ['{"key":1,"a":2}', '{"a":2}'],
    ['{"a":2, "key":1}', '{"a":2}'],
    ['{"a":2,"key":1,"b":3}', '{"a":2,"b":3}'],
    ['{"a":"key","b":{"key":1}}', '{"a":"key","b":{"key":1}}'],
    ['{"key":1,"a":{"key":2},"k\\u0065y":3}', '{"a":{"key":2}}'],
    ['{"key":{"key":"}"},"key":1}', "{}"],
  ])("without the key, %s is %s", (before, after) => {
    const { bytes, span } = inFrame(before);
    expect(applied(bytes, removeMember(bytes, span, "key"))).toBe(after);
  });

  test.each(["[1]", '"{}"', "1", "", "{", '{"key"}', '{"key":}', '{"a":1 "key":1}', "{1:1}", '{"a":1,}'])(
    "%s is refused, as it is no object",
    (text) => {
      const { bytes, span } = inFrame(text);
      expect(() => removeMember(bytes, span, "key")).toThrow(WireError);
      expect(() => setMember(bytes, span, "key", Buffer.from("1"))).toThrow(WireError);
      expect(() => removeMember(bytes, { start: -1, end: -1 }, "key")).toThrow(WireError);
    },
  );

  test("an object with very many members is walked once", () => {
    const text = `{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":${index}`).join(",")}}`;
    const { bytes, span } = inFrame(text);
    expect(applied(bytes, removeMember(bytes, span, "k100000"))).toBe(text.replace('"k100000":100000,', ""));
  });
});

function rawPairs(list: readonly (readonly [string, string, string, string, string, string])[]): [string, unknown][] {
  return list
    .filter(([, name]) => JSON.parse(name) !== "key")
    .map(([, name, , , json]) => [String(JSON.parse(name)), JSON.parse(json) as unknown]);
}

describe("elements", () => {
  test("an appended element comes last and changes no byte of the others", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(space, value, space), { maxLength: 5 }), space, value, (list, empty, json) => {
        const inner = list.length === 0 ? empty : list.map((parts) => parts.join("")).join(",");
        const { bytes, span } = inFrame(`[${inner}]`);
        const after = applied(bytes, appendElement(bytes, span, Buffer.from(json)));
        expect(after).toBe(`[${inner}${list.length === 0 ? "" : ","}${json}]`);
        expect(JSON.parse(after)).toEqual([
          ...list.map(([, element]) => JSON.parse(element) as unknown),
          JSON.parse(json),
        ]);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(["{}", '"[]"', "1", "["])("%s is refused, as it is no array", (text) => {
    const { bytes, span } = inFrame(text);
    expect(() => appendElement(bytes, span, Buffer.from("1"))).toThrow(WireError);
  });
});

describe("splice", () => {
  test("every edit changes its span and nothing else", () => {
    const edit = fc.tuple(fc.nat(12), fc.nat(12), fc.uint8Array({ maxLength: 8 }));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 120 }),
        fc.nat(10),
        fc.array(edit, { maxLength: 6 }),
        (content, offset, parts) => {
          const bytes = Buffer.concat([Buffer.alloc(offset, "<"), content, Buffer.from(">>>")]);
          const end = offset + content.length;
          const edits: Edit[] = [];
          const expected: Uint8Array[] = [];
          let at = offset;
          for (const [gap, length, replacement] of parts) {
            if (at + gap + length > end) break;
            expected.push(bytes.subarray(at, at + gap), replacement);
            edits.push({ start: at + gap, end: at + gap + length, bytes: Buffer.from(replacement) });
            at += gap + length;
          }
          expected.push(bytes.subarray(at, end), Buffer.from("\n"));
          const before = Buffer.from(bytes);
          expect(splice(bytes, offset, end, edits).equals(Buffer.concat(expected))).toBe(true);
          expect(bytes.equals(before)).toBe(true);
        },
      ),
      { numRuns: 10_000 },
    );
  });

  test("replacing any member of any legal frame leaves a legal frame in which only that member differs", () => {
    const random = new RandomSource(runSeed);
    const maker = new FrameMaker(random);
    const before = new Envelope();
    const after = new Envelope();
    let replaced = 0;
    for (let count = 0; count < 20_000; count += 1) {
      const bytes = Buffer.from(maker.frame());
      peek(bytes, 0, bytes.length, before);
      if (before.kind === "invalid") continue;
      const present = SPAN_PATHS.filter(({ name, path }) => path.length === 2 && before[name].start !== -1);
      if (present.length === 0) continue;
      const { name } = random.pick(present);
      const { start, end } = before[name];
      const frame = splice(bytes, 0, bytes.length, [{ start, end, bytes: Buffer.from('"new value"') }]);
      peek(frame, 0, frame.length - 1, after);
      expect(after.kind).toBe(before.kind);
      expect(frame.toString("utf8", after[name].start, after[name].end)).toBe('"new value"');
      expect(frame.subarray(0, start).equals(bytes.subarray(0, start))).toBe(true);
      expect(frame.subarray(after[name].end, -1).equals(bytes.subarray(end))).toBe(true);
      expect(frame.at(-1)).toBe(0x0a);
      replaced += 1;
    }
    expect(replaced).toBeGreaterThan(5000);
  });

  test.each([
    ["before the frame", [[1, 3]]],
    ["after the frame", [[8, 10]]],
    ["backwards", [[5, 4]]],
    [
      "not sorted",
      [
        [6, 7],
        [3, 4],
      ],
    ],
    [
      "overlapping",
      [
        [3, 6],
        [5, 7],
      ],
    ],
  ])("edits that are %s are refused", (_, places) => {
    const edits = places.map(([start, end]) => ({ start: start!, end: end!, bytes: Buffer.from("secret") }));
    expect(() => splice(Buffer.from("0123456789abc"), 2, 9, edits)).toThrow(WireError);
    expect(() => splice(Buffer.from("0123456789abc"), 2, 9, edits)).not.toThrow("secret");
  });

  test("edits may touch", () => {
    const edits = [
      { start: 2, end: 3, bytes: Buffer.from("A") },
      { start: 3, end: 3, bytes: Buffer.from("B") },
      { start: 3, end: 5, bytes: Buffer.alloc(0) },
    ];
    expect(splice(Buffer.from("0123456789"), 1, 9, edits).toString()).toBe("1AB5678\n");
  });
});
