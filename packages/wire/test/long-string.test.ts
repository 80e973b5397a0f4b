// Long strings are looked at by compiled code: it must say what a strict parser says, at every length and place, and keep nothing.
import { array, assert, constantFrom, integer, nat, oneof, property, tuple } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { compiled } from "../../../scripts/build-wasm.mjs";
import { readFileSync } from "node:fs";
import { LongString } from "../src/long-string.ts";
import { Scanner } from "../src/scanner.ts";

const escapes = ['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u00e9", "\\uD83D", "\\uabcd", "\\u0000"];
const faults = ["\\x", "\\u12g4", "\\u", "\\", '"', "\n", "\0", "\x1f", "\\u00", "\\U1234", "\\'", "\\uﬀff"];
const plain = ["a", " ", "u", "0", "f", "/", "\x7f", "~", "é", "漢", "👍"];

const run = (pieces: readonly string[], most: number) =>
  tuple(constantFrom(...pieces), nat(most)).map(([piece, times]) => piece.repeat(times));
const text = (faulty: boolean) =>
  array(
    oneof(
      { arbitrary: run(plain, 300), weight: 6 },
      { arbitrary: run(escapes, 40), weight: 6 },
      { arbitrary: constantFrom(...escapes), weight: 6 },
      { arbitrary: constantFrom(...(faulty ? faults : escapes)), weight: 1 },
    ),
    { maxLength: 40 },
  ).map((parts) => parts.join(""));

/** Byte by byte: where the string ends that begins behind the quote at 0, -1 where it is none. */
function reference(bytes: Buffer): number {
  for (let at = 1; at < bytes.length; at += 1) {
    if (bytes[at] === 0x22) {
      const whole = bytes.subarray(0, at + 1).toString();
      try {
        JSON.parse(whole);
        return at + 1;
      } catch {
        return -1;
      }
    }
    if (bytes[at] === 0x5c) at += 1;
  }
  return -1;
}

function look(string: Buffer, behind: Buffer, shift: number, scanner = new Scanner()) {
  const bytes = Buffer.concat([Buffer.alloc(shift, 0x20), string, behind]);
  scanner.open(bytes, bytes.length);
  const end = scanner.string(shift + 1);
  return { end: end === -1 ? -1 : end - shift, sawEscape: scanner.sawEscape, sawHighBytes: scanner.sawHighBytes };
}

describe("a long string", () => {
  test("ends where a strict parser says, or is none", () => {
    assert(
      property(text(true), nat(700), nat(70), nat(9), (inner, lead, tail, shift) => {
        const string = Buffer.from(`"${"x".repeat(lead)}${inner}"`);
        const behind = Buffer.alloc(tail, '"\\é');
        const expected = reference(Buffer.concat([string, behind]));
        const found = look(string, behind, shift);
        expect(found.end).toBe(expected);
        if (expected === -1) return;
        const whole = string.subarray(0, expected);
        expect(found.sawEscape).toBe(whole.includes("\\"));
        // What follows in the same block may make it look more closely, never less.
        if (whole.some((byte) => byte >= 0x80)) expect(found.sawHighBytes).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  test("says that it is ASCII when it and what follows are", () => {
    assert(
      // A short string is looked at in words, the last of which may reach three bytes behind it.
      property(nat(3000), integer({ min: 3, max: 200 }), (length, tail) => {
        const found = look(Buffer.from(`"${"a\\n".repeat(length)}"`), Buffer.alloc(tail, "b"), 0);
        expect(found.sawHighBytes).toBe(false);
      }),
    );
  });

  test.each(faults)("is none with %j at any place in it", (fault) => {
    for (let at = 500; at < 1700; at += 1) {
      const string = Buffer.from(`"${"y".repeat(at)}${fault}${"z".repeat(70)}"`);
      expect(look(string, Buffer.from(","), at & 3).end, `at ${at}`).toBe(reference(string));
    }
  });

  test.each(escapes)("may have %j at any place in it, alone or in a row", (escape) => {
    for (let at = 500; at < 1200; at += 1) {
      for (const times of [1, 2, 31, 64, 65]) {
        const string = Buffer.from(`"${"y".repeat(at)}${escape.repeat(times)}z"`);
        expect(look(string, Buffer.alloc(at & 127, ","), 0).end, `${times} at ${at}`).toBe(string.length);
      }
    }
  });

  test("is none when it never ends, wherever it breaks off", () => {
    const whole = `"${'The quick \\u00e9 \\\\ \\" fox. '.repeat(200)}`;
    for (let length = 1; length < whole.length; length += 1) {
      expect(look(Buffer.from(whole.slice(0, length)), Buffer.alloc(0), 0).end).toBe(-1);
    }
  });

  test("of many pieces ends where it ends", () => {
    for (const bytes of [60_000, 65_535, 65_536, 200_000, 1_000_001]) {
      for (const pattern of ["x", '\\"', "\\\\", "\\u00e9"]) {
        const string = Buffer.from(`"${pattern.repeat(bytes / pattern.length)}"`);
        expect(look(string, Buffer.from(","), 0).end).toBe(string.length);
      }
    }
  });

  test("ends at the same place where no such code can be had", async () => {
    vi.stubGlobal("WebAssembly", undefined);
    vi.resetModules();
    const { LongString: none } = await import("../src/long-string.ts");
    const { Scanner: Without } = await import("../src/scanner.ts");
    expect(none.load()).toBeUndefined();
    assert(
      property(text(true), nat(700), nat(9), (inner, lead, shift) => {
        const string = Buffer.from(`"${"x".repeat(lead)}${inner}"`);
        const found = look(string, Buffer.from(","), shift, new Without());
        expect(found.end).toBe(reference(string));
      }),
      { numRuns: 1000 },
    );
    vi.unstubAllGlobals();
  });

  test("is not kept", () => {
    const code = LongString.load()!;
    for (const tail of ['"', "\\x", ""]) {
      const bytes = Buffer.from(`${"secret ".repeat(30_000)}${tail}`);
      code.end(bytes, 0, bytes.length);
      expect(code.memory.every((byte) => byte === 0)).toBe(true);
    }
  });
});

test("the code is what its source says", async () => {
  const kept = readFileSync(new URL("../src/string-end-code.ts", import.meta.url), "utf8");
  expect(await compiled()).toBe(kept);
});
