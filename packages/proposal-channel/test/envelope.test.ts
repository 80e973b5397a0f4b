import { describe, expect, test } from "vitest";
import { possibleCommands, wrappedCommand } from "../src/envelope.ts";

const taken: [agent: string, rawInput: unknown, command: unknown][] = [
  ["copilot", { command: "x", commands: ["x"] }, { command: "x" }],
  ["codex", { command: "x", cwd: "/" }, { command: "x" }],
  ["claude", { command: "x" }, { command: "x" }],
  ["claude", { command: "x", description: "d", timeout: 5 }, { command: "x" }],
  ["opencode", { command: "x" }, { command: "x" }],
  ["qwen", { command: "x", is_background: false, description: "d" }, { command: "x" }],
  ["cline", { commands: ["x"] }, { command: "x" }],
  [
    "codex",
    { command: ["/bin/bash", "-lc", "x"], call_id: "c", turn_id: "t", cwd: "/", parsed_cmd: [{}], reason: null },
    { command: "x", shell: "sh" },
  ],
  ["mine", { command: "x" }, { command: "x" }],
  ["mine", { command: ["p", "a"] }, { command: ["p", "a"] }],
  ["mine", { command: "x", commands: ["x"] }, { command: "x" }],
  ["mine", { commands: ["x"] }, { command: "x" }],
];

test.each(taken)("%s wraps %j", (agent, rawInput, wrapped) => {
  expect(wrappedCommand(agent, "execute", rawInput)).toEqual(wrapped);
});

test.each(taken)("%s: one key more than in %j is no wrapping, nor another kind", (agent, rawInput) => {
  expect(wrappedCommand(agent, "execute", { ...Object(rawInput), env: {} })).toBeUndefined();
  expect(wrappedCommand(agent, "execute", { ...Object(rawInput), toString: "x" })).toBeUndefined();
  for (const kind of ["edit", "other", undefined, null, "Execute"]) {
    expect(wrappedCommand(agent, kind, rawInput)).toBeUndefined();
  }
});

describe("no wrapping", () => {
  test.each<[string, unknown]>([
    ["copilot", { command: "x" }],
    ["copilot", { command: "x", commands: ["y"] }],
    ["copilot", { command: "x", commands: ["x", "y"] }],
    ["codex", { command: "x" }],
    ["codex", { command: "x", cwd: 1 }],
    ["codex", { command: ["/bin/bash", "-c", "x"], call_id: "c", turn_id: "t", cwd: "/" }],
    ["codex", { command: ["/usr/bin/fish", "-lc", "x"], call_id: "c", turn_id: "t", cwd: "/" }],
    ["codex", { command: ["bash", "-lc", "x"], call_id: "c", turn_id: "t", cwd: "/" }],
    ["codex", { command: ["/bin/bash", "-lc", "x", "y"], call_id: "c", turn_id: "t", cwd: "/" }],
    ["codex", { command: ["/bin/bash", "-lc", "x"], call_id: "c", turn_id: "t" }],
    ["claude", { command: "x", timeout: "5" }],
    ["claude", { command: "x", run_in_background: true }],
    ["claude", { command: "x", run_in_background: false }],
    ["claude", { command: 5 }],
    ["qwen", { command: "x", is_background: true }],
    ["qwen", { command: "x" }],
    ["cline", { commands: ["x", "y"] }],
    ["cline", { commands: "x" }],
    ["gemini", { command: "x" }],
    ["pi", { command: "x" }],
    ["mine", { command: "x", description: "d" }],
    ["mine", { command: [] }],
    ["mine", { command: ["x", 1] }],
    ["mine", {}],
    ["mine", "x"],
    ["mine", ["x"]],
    ["mine", null],
    ["mine", undefined],
    ["__proto__", {}],
  ])("%s: %j", (agent, rawInput) => {
    expect(wrappedCommand(agent, "execute", rawInput)).toBeUndefined();
  });
});

test("the wide look finds commands however they are wrapped", () => {
  expect(possibleCommands({ command: "a", commands: ["b", 1], cmd: "c", argv: ["d", "e"], other: "f" })).toEqual([
    "a",
    "b",
    "c",
    ["d", "e"],
  ]);
  expect(possibleCommands("a")).toEqual(["a"]);
  expect(possibleCommands(undefined)).toEqual([]);
});
