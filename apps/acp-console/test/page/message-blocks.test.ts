// A growing message in blocks: the same ones however the text arrives, and together the whole text.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MessageBlocks } from "../../page/src/model/message-blocks.ts";

/** The blocks after the text has come in the given pieces. */
function blocksOf(pieces: readonly string[]): string[] {
  const blocks = new MessageBlocks();
  const shown = [""];
  for (const piece of pieces) {
    const [first = "", ...more] = blocks.add(piece);
    shown[shown.length - 1] = first;
    shown.push(...more);
  }
  return shown;
}

/** Milliseconds for a message of so many chunks. */
const timed = (count: number): number => {
  const blocks = new MessageBlocks();
  const from = performance.now();
  for (let at = 0; at < count; at += 1) blocks.add("word ");
  return performance.now() - from;
};

describe("message blocks", () => {
  it("ends a paragraph at a blank line", () => {
    expect(blocksOf(["# One\n\nTwo\nlines\n\n\nThree\n"])).toEqual(["# One\n\n", "Two\nlines\n\n\n", "Three\n"]);
  });

  it("keeps a list together over blank lines, with what is indented below an item", () => {
    const list = "- a\n\n- b\n\n  more of b\n\n- c\n";
    expect(blocksOf([`${list}\nAfter\n`])).toEqual([`${list}\n`, "After\n"]);
  });

  it("keeps a fence together over blank lines", () => {
    const code = "```js\nlet x;\n\nlet y;\n```\n";
    expect(blocksOf([`${code}\nAfter\n`])).toEqual([`${code}\n`, "After\n"]);
  });

  it("takes a shorter or other fence inside a fence as code", () => {
    const code = "````\n```\n\n~~~\n````\n";
    expect(blocksOf([`${code}\nAfter\n`])).toEqual([`${code}\n`, "After\n"]);
  });

  it("goes on with a fence behind a cut, and closes it before", () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}\n`).join("");
    const blocks = blocksOf([`\`\`\`js\n${lines}\`\`\`\n`]);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(block.startsWith("```js\n")).toBe(true);
    for (const block of blocks) expect(block.trimEnd().endsWith("\n```")).toBe(true);
    const code = blocks.map((block) => block.slice("```js\n".length).replace(/```\n$/, "")).join("");
    expect(code).toBe(lines);
  });

  it("cuts one endless line, and never within a character", () => {
    const blocks = blocksOf(["😀".repeat(20_000)]);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(block).not.toMatch(/\p{Cs}/u);
    expect(blocks.join("")).toBe("😀".repeat(20_000));
  });

  it("ends a long list before one of its items", () => {
    const items = Array.from({ length: 500 }, (_, at) => `${at + 1}. item\n`).join("");
    const blocks = blocksOf([items]);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(block).toMatch(/^\d+\. item/);
    expect(blocks.join("")).toBe(items);
  });

  const lines = fc.constantFrom("", "text", "- item", "  indented", "```", "```js", "~~~", "1. one", "> quote", "   ");
  const markdown = fc.array(lines, { maxLength: 30 }).map((list) => list.join("\n"));

  it("makes the same blocks however the text is cut", () => {
    fc.assert(
      fc.property(markdown, fc.array(fc.nat(60), { maxLength: 20 }), (text, cuts) => {
        const ends = [...new Set(cuts.filter((cut) => cut < text.length))].toSorted((a, b) => a - b);
        const pieces = [...ends, text.length].map((end, at) => text.slice(ends[at - 1] ?? 0, end));
        expect(blocksOf(pieces)).toEqual(blocksOf([text]));
      }),
    );
  });

  it("loses nothing of a text of ordinary length", () => {
    fc.assert(fc.property(markdown, (text) => blocksOf([text]).join("") === text));
  });

  it("takes a message of many small chunks in time that grows with its length", () => {
    timed(50_000);
    const short = timed(50_000);
    // Quadratic time would make it a hundred times as long.
    expect(timed(500_000)).toBeLessThan(40 * Math.max(short, 1));
  });
});
