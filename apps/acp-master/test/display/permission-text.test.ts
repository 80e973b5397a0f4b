import { expect, test } from "vitest";
import { permissionText } from "../../src/display/permission-text.ts";

const options = [
  { optionId: "a", name: "Allow", kind: "allow_once" },
  { optionId: "aa", name: "Always", kind: "allow_always", _meta: { scope: "git *" } },
  { optionId: "n", kind: "reject_once" },
];

test("shows the real input, the places and every option in the offered order", () => {
  const toolCall = {
    title: "ls \u202e txt.exe",
    kind: "execute",
    rawInput: { command: "rm -rf /\u200b tmp" },
    locations: [{ path: "/w/a" }],
    content: [{ type: "content", content: { type: "text", text: "one\ntwo" } }],
  };
  expect(permissionText({ toolCall, options }, {})).toBe(
    [
      "ls \\u{202E} txt.exe  [execute]",
      '  input: {"command":"rm -rf /\\u{200B} tmp"}',
      "  at: /w/a",
      "  | one",
      "  | two",
      "  1  Allow  (allow_once)",
      "  2  Always  (allow_always)",
      '     {"scope":"git *"}',
      "  3  n  (reject_once)",
      "",
    ].join("\n"),
  );
});

test("marks what it cuts", () => {
  const long = { toolCall: { title: "t", rawInput: { command: "x".repeat(7_000) } }, options };
  expect(permissionText(long, {})).toContain("… (1014 more characters)");
  const lines = { toolCall: { content: [{ type: "diff", path: "/f", newText: "l\n".repeat(200) }] }, options };
  expect(permissionText(lines, {})).toContain("+ … (81 more lines)");
});

test("shows a request of any shape", () => {
  for (const params of [null, [], { toolCall: 3, options: {} }, { options: [null, 4] }]) {
    expect(permissionText(params, {})).toContain("A tool call without a title");
  }
});
