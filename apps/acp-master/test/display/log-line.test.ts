import { expect, test } from "vitest";
import { logLine } from "../../src/display/log-line.ts";

test("shows time, level, text and fields, hidden characters as escapes", () => {
  const line = JSON.stringify({ level: "warn", time: "T", pid: 1, agent: "de\u202emo", count: 2, msg: "noise\u001b" });
  expect(logLine(line, {})).toBe("T warn  noise\\u{1B} agent=de\\u{202E}mo count=2");
});

test("shows a torn line as it is", () => {
  expect(logLine('{"level":"in', {})).toBe('{"level":"in');
  expect(logLine("\u001b]0;x\u0007", {})).toBe("\\u{1B}]0;x\\u{7}");
});
