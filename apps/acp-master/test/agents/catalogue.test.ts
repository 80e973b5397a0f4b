// Which agents there are, and which could start here. Nothing is run: the programs on PATH are empty files.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentConfig } from "../../src/config/schema.ts";
import { resolveAgents } from "../../src/agents/catalogue.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "catalogue-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function install(...names: string[]): void {
  for (const name of names) {
    writeFileSync(join(folder, name), "");
    chmodSync(join(folder, name), 0o755);
  }
}

function configured(fields: Partial<AgentConfig>): AgentConfig {
  const defaults = { args: [], env: {}, passEnv: [], share: "pool", shell: "sh" } as const;
  return { ...defaults, args: [], passEnv: [], arming: "required", approvalsOption: "auto", ...fields };
}

function resolve(agents: Record<string, AgentConfig> = {}, nodeVersion = "24.0.0") {
  const catalogue = resolveAgents({ agents, demoAgent: "/x/demo.js", environment: { PATH: folder }, nodeVersion });
  return (name: string) => catalogue.get(name)!;
}

it("the demo agent is always ready and runs on this Node", () => {
  expect(resolve()("demo")).toMatchObject({ source: "built_in", ready: true });
  expect(resolve()("demo").definition).toMatchObject({ command: process.execPath, args: ["/x/demo.js"] });
});

it("without its program and without npx a known agent is not ready and says what to do", () => {
  const claude = resolve()("claude");
  expect(claude).toMatchObject({ source: "known", ready: false });
  expect(claude.why).toContain("claude-agent-acp not found on PATH");
  expect(claude.why).toContain("npm install --global @agentclientprotocol/claude-agent-acp");
  expect(resolve()("goose")).toMatchObject({ ready: false });
});

it("npx makes a known agent ready, with the warning that it downloads", () => {
  install("npx");
  const gemini = resolve()("gemini");
  expect(gemini).toMatchObject({ ready: true, how: "npx", command: "npx -y @google/gemini-cli --acp" });
  expect(gemini.why).toContain("downloads it at the first use");
  expect(resolve()("goose")).toMatchObject({ ready: false });
});

it("a program on PATH is preferred to npx", () => {
  install("npx", "gemini");
  expect(resolve()("gemini")).toMatchObject({ ready: true, how: "path", command: "gemini --acp" });
});

it("pi needs two programs and a newer Node", () => {
  install("npx", "pi-acp");
  expect(resolve()("pi").command).toBe("npx -y -p pi-acp -p @earendil-works/pi-coding-agent pi-acp");
  const onOldNode = resolve({}, "20.20.2")("pi");
  expect(onOldNode.ready).toBe(false);
  expect(onOldNode.why).toContain("needs Node 22.19 or newer");
  install("pi");
  expect(resolve()("pi")).toMatchObject({ ready: true, how: "path", command: "pi-acp" });
});

it("an entry of the configuration wins over the known agent of its name", () => {
  install("mine", "gemini");
  const find = resolve({ gemini: configured({ command: "mine", args: ["a b"] }) });
  expect(find("gemini")).toMatchObject({ source: "config", ready: true, how: "config", command: 'mine "a b"' });
});

it("an entry without a command adds its settings to the known agent", () => {
  install("gemini");
  const find = resolve({ gemini: configured({ env: { A: "b" }, args: ["--debug"], share: "session" }) });
  expect(find("gemini")).toMatchObject({ source: "config", ready: true, how: "path", command: "gemini --acp --debug" });
  expect(find("gemini").definition).toMatchObject({ env: { A: "b" }, share: "session" });
});

it("a configured command that is not there is not ready, and the reason names it and the PATH", () => {
  const broken = resolve({ x: configured({ command: "absent" }) })("x");
  expect(broken.ready).toBe(false);
  expect(broken.why).toContain('"absent"');
  expect(broken.why).toContain(folder);
  expect(resolve({ y: configured({}) })("y")).toMatchObject({
    ready: false,
    why: expect.stringContaining("agents.y.command"),
  });
});

it("the PATH of an agent's own env is the one that counts", () => {
  install("tool");
  const catalogue = resolveAgents({
    agents: { x: configured({ command: "tool", env: { PATH: folder } }) },
    demoAgent: "/x/demo.js",
    environment: { PATH: "/nowhere" },
  });
  expect(catalogue.get("x")!.ready).toBe(true);
});

it("lists by name in order", () => {
  const names = [...resolveAgents({ agents: {}, demoAgent: "/d", environment: {} }).keys()];
  expect(names).toEqual([...names].sort());
  expect(names).toEqual(
    expect.arrayContaining(["claude", "cline", "codex", "copilot", "demo", "gemini", "opencode", "pi", "qwen"]),
  );
});
