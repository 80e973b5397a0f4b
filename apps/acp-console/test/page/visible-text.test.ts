// Untrusted text: nothing that hides or reorders passes as text, and nothing is lost.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { segments, visibleLine, type TextUse } from "../../page/src/model/visible-text.ts";

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/u;
const escapes = (text: string, use: TextUse): string[] =>
  segments(text, use).flatMap((segment) => (typeof segment === "string" ? [] : [segment.shown]));

describe("visible text", () => {
  it("leaves plain text in one piece", () => {
    expect(segments("rm -rf ./build — naïve 日本 עברית", "line")).toEqual(["rm -rf ./build — naïve 日本 עברית"]);
  });

  it("shows a character that reorders text by its code point and says what it does", () => {
    expect(segments("rm\u202E x", "line")).toEqual([
      "rm",
      { shown: "U+202E", meaning: "changes the direction of text" },
      " x",
    ]);
  });

  it.each([
    ["a zero width space", "a\u200Bb", "U+200B"],
    ["an escape of a terminal", "\u001B[31m", "U+001B"],
    ["a byte order mark", "\uFEFFx", "U+FEFF"],
    ["an invisible tag", "x\u{E0041}", "U+E0041"],
    ["a filler that looks like a space", "x\u3164", "U+3164"],
    ["half of a character", "x\uD800", "U+D800"],
    ["private use", "x\uE000", "U+E000"],
    ["a line separator", "x\u2028y", "U+2028"],
  ])("escapes %s", (_name, text, shown) => {
    for (const use of ["line", "lines", "prose"] as const) expect(escapes(text, use)).toEqual([shown]);
  });

  it("keeps line feeds and tabs where several lines are shown, and no lone carriage return", () => {
    expect(segments("a\tb\r\nc\rd", "lines")).toEqual([
      "a\tb",
      "\nc",
      { shown: "U+000D", meaning: "control character" },
      "d",
    ]);
    expect(escapes("a\tb\nc", "line")).toEqual(["U+0009", "U+000A"]);
  });

  it("keeps the selectors and joiners of emoji in prose only", () => {
    const text = "⚠️ 1️⃣ 👩‍👩‍👧 ok";
    expect(segments(text, "prose")).toEqual([text]);
    expect(escapes(text, "line")).toEqual(["U+FE0F", "U+FE0F", "U+200D", "U+200D"]);
    expect(escapes("a\u200Db\uFE0F", "prose")).toEqual(["U+200D", "U+FE0F"]);
  });

  it("hides nothing and loses nothing, whatever the text", () => {
    const anyText = fc.string({ unit: "binary" }).map((text) => text.replaceAll("\r\n", "\n"));
    fc.assert(
      fc.property(anyText, (text) => {
        expect(visibleLine(text)).not.toMatch(hidden);
        const back = segments(text, "lines")
          .map((each) => (typeof each === "string" ? each : String.fromCodePoint(Number(`0x${each.shown.slice(2)}`))))
          .join("");
        expect(back).toBe(text);
      }),
    );
  });

  it("writes escapes in brackets where there is no markup", () => {
    expect(visibleLine("a\u202Eb\n")).toBe("a<U+202E>b<U+000A>");
  });
});
