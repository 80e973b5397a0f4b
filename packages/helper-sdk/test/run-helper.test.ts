// Helpers built on the SDK as real programs, seen from the master's end.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { helperMethods } from "@acp-master/permission-core";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HelperPeer, usualWaits, type Reply } from "../src/conformance/helper-peer.ts";
import { runCases } from "../src/conformance/run-cases.ts";
import { question, greet, startSession, decide, toolCallFrame } from "../src/conformance/questions.ts";

const source = (name: string) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
const examples = fileURLToPath(new URL("../../../examples/helpers/", import.meta.url));

let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "acp-sdk-"));
  await build({
    entryPoints: { "helper-run": source("entries/run"), "helper-sdk": source("index") },
    outdir: folder,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: 'import { createRequire as r } from "node:module"; const require = r(import.meta.url);' },
  });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(definition: string, run: (peer: HelperPeer) => Promise<void>): Promise<void> {
  const module = join(folder, "helper.mjs");
  const text = `import { allowOnce, ask, defineHelper, reject } from "@acp-master/helper-sdk";
    console.log("printed at the start");
    export default defineHelper({ name: "h", permission: allowOnce, ${definition} });`;
  writeFileSync(module, text);
  await using peer = new HelperPeer([process.execPath, join(folder, "helper-run.js"), module], usualWaits);
  expect((await greet(peer)).kind).toBe("result");
  expect((await startSession(peer, "s")).kind).toBe("result");
  await run(peer);
  expect(peer.slip).toBe(undefined);
}

const allowed: Reply = { kind: "result", result: { outcome: { outcome: "selected", optionId: "allow" } } };

test("a module that imports the SDK by name decides, and may print where it likes", () =>
  open('permission(request) { console.log("CANARY"); return allowOnce(request); }', async (peer) => {
    expect(await decide(peer, "s")).toEqual(allowed);
  }));

test("a throw is answered with an error that says nothing of it", () =>
  open('permission() { throw new Error("CANARY"); }', async (peer) => {
    expect(await decide(peer, "s")).toEqual({ kind: "error", code: -32603 });
  }));

test("a cancelled question is answered at once and its signal aborts", () =>
  open(
    "permission: (_request, session, signal) => new Promise(() => signal.addEventListener('abort', () => session.voice.busy(true)))",
    async (peer) => {
      const { id, reply } = peer.ask(helperMethods.requestPermission, question("s"), 2_000);
      peer.notify(helperMethods.cancelRequest, { id });
      expect(await reply).toEqual({ kind: "error", code: -32800 });
    },
  ));

test("hooks are declared by being there and answer in their shape", () =>
  open(
    "turnStart: ({ turnId }) => [{ type: 'text', text: turnId }], toolCall: () => ({ verdict: 'hide' }), toolSeen() {}",
    async (peer) => {
      const again = await greet(peer);
      expect(again).toMatchObject({ result: { hooks: ["turn", "tool_seen", "tool_call"] } });
      const append = [{ type: "text", text: "t1" }];
      expect(await peer.request(helperMethods.turnStart, { sessionId: "s", turnId: "t1" })).toEqual({
        kind: "result",
        result: { append },
      });
      expect(await peer.request(helperMethods.toolCall, toolCallFrame("s"))).toEqual({
        kind: "result",
        result: { verdict: "hide" },
      });
    },
  ));

test("the current preset follows the master's word", () =>
  open(
    "presets: [{ value: 'ask', name: 'Ask', width: 1 }, { value: 'yes', name: 'Yes', width: 2 }], permission: (r, s) => (s.preset === 'yes' ? allowOnce(r) : ask())",
    async (peer) => {
      expect(await decide(peer, "s")).toEqual({ kind: "result", result: { outcome: { outcome: "ask" } } });
      peer.notify(helperMethods.preset, { sessionId: "s", preset: "yes" });
      expect(await decide(peer, "s")).toEqual(allowed);
    },
  ));

test("a module that exports no Helper ends at once", async () => {
  const module = join(folder, "none.mjs");
  writeFileSync(module, "export default { name: 'x' };");
  await using peer = new HelperPeer([process.execPath, join(folder, "helper-run.js"), module], usualWaits);
  expect(await greet(peer)).toMatchObject({ kind: "none", why: "the Helper exited (code 1)" });
});

test(
  "the ten-line example keeps the protocol and allows edits of the documentation only",
  { timeout: 120_000 },
  async () => {
    const command = [process.execPath, join(folder, "helper-run.js"), join(examples, "docs-only.js")];
    expect((await runCases(command)).filter((result) => result.result === "fail")).toEqual([]);
    await using peer = new HelperPeer(command, usualWaits);
    await greet(peer);
    await startSession(peer, "s");
    const asks = question("s");
    const at = (path: string) => ({ ...asks, toolCall: { ...asks.toolCall, locations: [{ path }] } });
    expect(await peer.request(helperMethods.requestPermission, at("docs/page.md"))).toEqual(allowed);
    expect(await peer.request(helperMethods.requestPermission, at("docs/../page.md"))).not.toEqual(allowed);
  },
);

test("the example with proposals keeps the protocol", { timeout: 120_000 }, async () => {
  const command = [process.execPath, join(folder, "helper-run.js"), join(examples, "dry-run.js")];
  const results = await runCases(command);
  expect(results.filter((result) => result.result === "fail")).toEqual([]);
});

test("the example in plain Python keeps the protocol", { timeout: 120_000 }, async ({ skip }) => {
  skip(spawnSync("python3", ["-V"]).status !== 0, "python3 is not installed here");
  const results = await runCases(["python3", join(examples, "plain.py")]);
  expect(results.filter((result) => result.result === "fail")).toEqual([]);
});
