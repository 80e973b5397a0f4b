// Which program a configuration means.
import { expect, test } from "vitest";
import { isSameProgram, resolveHelperSpec, type HelperChoice } from "../../src/helper/helper-spec.ts";

const places = { configDir: "/etc/acp", programDir: "/opt/acp" };
const terms = { isolation: "session", decideSeconds: 30, idleSeconds: 60, tmux: "default" } as const;
const argvOf = (use: HelperChoice["use"]) => resolveHelperSpec({ use, ...terms }, places).argv;

test("a built-in Helper is a program beside the master's own", () => {
  expect(argvOf("presets")).toEqual([process.execPath, "/opt/acp/helper-presets.js"]);
  expect(argvOf("policy-file")).toEqual([process.execPath, "/opt/acp/helper-policy-file.js", "/etc/acp/policy.json"]);
  expect(argvOf("terminal")).toEqual([process.execPath, "/opt/acp/helper-terminal.js", "--tmux=default"]);
});

test("a module is run from the folder of the configuration", () => {
  expect(argvOf({ module: "./mine.js" })).toEqual([process.execPath, "/opt/acp/helper-run.js", "/etc/acp/mine.js"]);
});

test("a command is taken as it is; a path with a folder starts at the configuration", () => {
  expect(argvOf({ command: ["python3", "h.py"] })).toEqual(["python3", "h.py"]);
  expect(argvOf({ command: ["./h", "-x"] })).toEqual(["/etc/acp/h", "-x"]);
  expect(argvOf({ command: ["/bin/h"] })).toEqual(["/bin/h"]);
});

test("deadlines alone make no other program", () => {
  const spec = resolveHelperSpec({ use: "ask", ...terms }, places);
  expect(isSameProgram(spec, { ...spec, decideSeconds: 1, idleSeconds: 1 })).toBe(true);
  expect(isSameProgram(spec, { ...spec, isolation: "shared" })).toBe(false);
  expect(isSameProgram(spec, { ...spec, argv: [...spec.argv, "x"] })).toBe(false);
});
