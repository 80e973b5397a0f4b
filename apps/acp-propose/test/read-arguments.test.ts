import { expect, test } from "vitest";
import { readArguments } from "../src/read-arguments.ts";

test("channel and payload come in any order, each once", () => {
  const wanted = { wanted: "propose", channel: "c", payload: { spelling: "json", text: "{}" } };
  expect(readArguments(["--channel", "c", "--payload-json", "{}"])).toEqual(wanted);
  expect(readArguments(["--payload-json", "{}", "--channel", "c"])).toEqual(wanted);
  expect(readArguments(["--channel", "c", "--payload-b64url", "e30"])).toEqual({
    wanted: "propose",
    channel: "c",
    payload: { spelling: "b64url", text: "e30" },
  });
});

test("a value may look like a flag", () => {
  expect(readArguments(["--channel", "--channel", "--payload-json", "--help"])).toMatchObject({
    channel: "--channel",
    payload: { text: "--help" },
  });
});

test("help and version stand alone", () => {
  expect(readArguments(["--help"])).toEqual({ wanted: "help" });
  expect(readArguments(["--version"])).toEqual({ wanted: "version" });
  expect(readArguments(["--version", "x"]).wanted).toBe("usage");
});

test.each([
  [],
  ["--channel", "secret"],
  ["--payload-json", "secret"],
  ["--channel", "secret", "--payload-json"],
  ["--channel", "secret", "--channel", "secret", "--payload-json", "secret"],
  ["--channel", "secret", "--payload-json", "secret", "--payload-json", "secret"],
  ["--channel", "secret", "--payload-json", "secret", "--payload-b64url", "secret"],
  ["--channel=secret", "--payload-json", "secret"],
  ["--channel", "secret", "--payload-json=secret"],
  ["--Channel", "secret", "--payload-json", "secret"],
  ["--channel", "secret", "--payload-json", "secret", "secret"],
  ["--channel", "secret", "--", "secret", "--payload-json", "secret"],
  ["-c", "secret", "--payload-json", "secret"],
  ["--payload-file", "secret", "--channel", "secret"],
])("%j is a usage error that repeats no value", (...words) => {
  const asked = readArguments(words);
  expect(asked.wanted).toBe("usage");
  expect(asked.wanted === "usage" ? asked.problem : "secret").not.toContain("secret");
});
