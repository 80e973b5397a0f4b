// When two definitions may share a process.
import { expect, it } from "vitest";
import { definitionDigest } from "../../src/agents/agent-definition.ts";
import { agentDefinition } from "./agent-harness.ts";

const definition = { ...agentDefinition("cmd", ["a", "b"]), env: { A: "1", B: "2" } };
const digest = definitionDigest(definition);

it("the digest is a SHA-256 that does not depend on the order of env and passEnv", () => {
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(definitionDigest({ ...definition, env: { B: "2", A: "1" } })).toBe(digest);
});

it("whatever shapes the process changes it", () => {
  const changes = [
    { name: "other" },
    { command: "cmd2" },
    { args: ["b", "a"] },
    { args: ["a,b"] },
    { env: { A: "1" } },
    { env: { A: "2", B: "1" } },
    { passEnv: ["C"] },
    { share: "session" as const },
  ];
  const digests = changes.map((change) => definitionDigest({ ...definition, ...change }));
  expect(new Set([digest, ...digests]).size).toBe(changes.length + 1);
});

it("what only the master reads does not", () => {
  expect(definitionDigest({ ...definition, arming: "preflight", approvalsOption: "never", shell: "argv" })).toBe(
    digest,
  );
});
