// What of a Helper's own log lines comes into the master's.
import { expect, test } from "vitest";
import { loggerInto } from "../../src/daemon/logger.ts";
import { HelperVoice } from "../../src/helper/helper-voice.ts";

/** The lines that a daemon would write, as text: parsing hides a key that stands twice. */
function written(...said: Readonly<Record<string, unknown>>[]): string[] {
  const lines: string[] = [];
  const log = loggerInto({ write: (line) => void lines.push(line) }, "debug");
  const voice = new HelperVoice((event, fields, level = "info") => log[level]({ event, ...fields }, "helper"));
  for (const params of said) voice.log("s1", params);
  return lines;
}

test("a line has the Helper's level, once", () => {
  const lines = written(
    {
      level: "warn",
      message: "proposals_off",
      fields: { event: "x", session: "x", level: "debug", time: 0, count: 2 },
    },
    { level: "shout", message: "x" },
    {},
  );
  for (const line of lines) {
    for (const key of ["level", "time", "msg", "event"]) expect(line.split(`"${key}":`)).toHaveLength(2);
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", event: "helper.log", session: "s1", what: "proposals_off", count: 2 },
    { level: "info", what: "x" },
    { level: "info" },
  ]);
});

test("words of a program pass, with the reason and numbers; free text does not", () => {
  const [mismatch = "", free = ""] = written(
    {
      level: "warn",
      message: "proposal_mismatch",
      fields: { why: "not_armed", count: 3, command: "sesame", path: "a b" },
    },
    { level: "info", message: "The user said: open sesame", fields: { why: "open sesame", reason: ["x"] } },
  );
  expect(JSON.parse(mismatch)).toMatchObject({ what: "proposal_mismatch", why: "not_armed", count: 3 });
  expect(mismatch).not.toContain("sesame");
  expect(free).not.toContain("sesame");
});

test("a flood is cut", () => {
  const lines = written(...Array.from({ length: 500 }, () => ({ level: "info", message: "x" })));
  expect(lines.length).toBeLessThanOrEqual(100);
});
