import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { buildProgram } from "../../src/commands/program.ts";
import { Installation } from "./command-line.ts";

const commands =
  "serve connect run status sessions agents cancel close stop restart doctor config service logs approvals approve deny preset tail".split(
    " ",
  );

test("help lists every command and the exit codes, on stdout", async () => {
  await using place = new Installation();
  const { code, stdout, stderr } = await place.run(["--help"]);
  expect([code, stderr]).toEqual([0, ""]);
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  expect(stdout).toContain("130 interrupted");
});

test.each(["run", "connect", "service"])("`%s --help` is help of its own, on stdout", async (command) => {
  await using place = new Installation();
  const { code, stdout, stderr } = await place.run([command, "--help"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(`Usage: acp-master ${command}`);
});

test("every command says in its help what it does", () => {
  const known = buildProgram().commands;
  expect(known.map((command) => command.name())).toEqual(expect.arrayContaining(commands));
  for (const command of known) expect(command.description(), command.name()).toMatch(/\w{3,} \w+/);
});

test("the version is the one of package.json", async () => {
  await using place = new Installation();
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await place.run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
});

test.each([
  { args: ["statsu"], says: "status" },
  { args: ["statsu", "--help"], says: "status" },
  { args: ["status", "--jsn"], says: "--json" },
  { args: ["approve"], says: "id" },
  { args: ["cancel", "a", "b"], says: "too many arguments" },
  { args: ["logs", "-n", "many"], says: "whole number" },
  { args: ["connect", "--wat"], says: "--wat" },
  { args: ["run"], says: "words" },
  { args: ["run", "a", "b", "c"], says: "quotes" },
  { args: ["run", " "], says: "empty" },
  { args: [], says: "Usage" },
])("a wrong line ($args) is exit code 2, says what is wrong and prints nothing on stdout", async ({ args, says }) => {
  await using place = new Installation();
  const { code, stdout, stderr } = await place.run(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(says);
});

test.each([["status"], ["approve", "x"], ["tail", "s"], ["stop"], ["status", "--json"]])(
  "without a daemon `%s` is exit code 3 and says how to start one",
  async (...args) => {
    await using place = new Installation();
    const { code, stdout, stderr } = await place.run(args);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^acp-master: no daemon runs at .*master\.sock\. Start one with `acp-master serve`\.\n$/);
  },
);

test("a reader that stops early ends the program quietly", async () => {
  await using place = new Installation();
  const call = await place.start(["config", "schema"]);
  call.child.stdout.destroy();
  expect(await call.ended).toMatchObject({ code: 0, stderr: "" });
});
