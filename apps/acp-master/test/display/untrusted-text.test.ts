import { assert, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeJsonText, shortened, visibleJson, visibleLine, visibleLines } from "../../src/display/untrusted-text.ts";

const hidden =
  "\u0000\u0007\u001b\u007f\u0085\u00ad\u034f\u061c\u115f\u180e\u200b\u200d\u200e\u2028\u2029\u202e\u2060\u2066\u2800\u3164\ufe0f\ufeff\ufff9\u{e0041}\u{e0100}\u{f0000}";

describe("visibleLine", () => {
  test.each([
    ["an override that reverses text", "ls \u202e txt.exe", "ls \\u{202E} txt.exe"],
    ["a zero-width space", "rm -rf /\u200b tmp", "rm -rf /\\u{200B} tmp"],
    ["an erased line", "ok\u001b[2K\rsafe", "ok\\u{1B}[2K\\u{D}safe"],
    ["line breaks and tabs", "a\nb\tc", "a\\u{A}b\\u{9}c"],
    ["a tag character", "x\u{e0041}", "x\\u{E0041}"],
    ["half a surrogate pair", "x\ud83dy", "x\\u{D83D}y"],
  ])("shows %s as an escape", (_what, given, shown) => {
    expect(visibleLine(given)).toBe(shown);
  });

  test("leaves ordinary text of any script as it is", () => {
    const text = "Grüße, 你好, שלום, مرحبا, 😀, e\u0301, “quoted” – done";
    expect(visibleLine(text)).toBe(text);
  });

  test("leaves nothing that a terminal obeys or hides, whatever the text", () => {
    assert(
      property(string({ unit: "binary" }), (text) => {
        expect(visibleLine(text + hidden)).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u,
        );
      }),
    );
  });
});

describe("visibleLines", () => {
  test("keeps line feeds and tabs, and makes a lone carriage return visible", () => {
    expect(visibleLines("a\r\nb\tc\rd\u001b[0m")).toBe("a\nb\tc\\u{D}d\\u{1B}[0m");
  });
});

describe("visibleJson", () => {
  test("holds no hidden character and parses to the same value", () => {
    assert(
      property(string({ unit: "binary" }), (text) => {
        const value = { [text]: [text + hidden] };
        const json = visibleJson(value, 2);
        expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });

  test("leaves numbers and order of raw JSON text as they are", () => {
    expect(escapeJsonText('{"b":9007199254740993,"a":1.0,"t":"\u200b"}')).toBe(
      '{"b":9007199254740993,"a":1.0,"t":"\\u200b"}',
    );
  });
});

describe("shortened", () => {
  test("says how much is missing and never cuts a character in two", () => {
    expect(shortened("😀😀😀", 2)).toBe("😀😀… (1 more characters)");
    expect(shortened("abc", 3)).toBe("abc");
  });
});
