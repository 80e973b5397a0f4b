// A real agent from the registry proposes: it finds the command in its prompt, asks for it, runs it in its own shell, and its
// model reads what came of it.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { realAgents } from "../agents/real-agents.ts";
import { eventually } from "../harness/events.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { plan } from "../model/plan.ts";
import { ScriptedModel } from "../model/server.ts";
import { keysCount, Stage } from "./stage.ts";

const turnMs = 120_000;

let model: ScriptedModel;
let stage: Stage;
let client: RawClient;

beforeAll(async () => {
  const codex = realAgents.find(({ name }) => name === "codex");
  if (codex === undefined) throw new Error("test/agents has no codex");
  model = await ScriptedModel.start();
  stage = await Stage.open({
    agents: (folder) => {
      mkdirSync(join(folder, "agent"));
      return { codex: codex.define(join(folder, "agent"), model.url) };
    },
  });
  client = await stage.master.client();
  await client.initialize({ agent: "codex" });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

const proposal = (input: string): object => ({
  schema_version: 1,
  origin: "terminal_agent",
  choices: [{ choice: 1, title: "It's what you asked for", actions: [{ type: "send", input }] }],
});

/** What the model was told of the command's output, a status for each line. */
function statusesRead(): string[] {
  const told = model.requests.at(-1)?.conversation.said.findLast(({ by }) => by === "tool")?.text ?? "";
  return [...told.matchAll(/\\?"phase\\?":\\?"(\w+)\\?",\\?"status\\?":\\?"(\w+)\\?"/g)].map(
    ([, phase, status]) => `${phase} ${status}`,
  );
}

it.each([
  ["r", "confirmed", true],
  ["c", "cancelled", false],
] as const)("on %s the model reads accepted and %s", async (key, final, runs) => {
  const { sessionId } = await client.newSession();
  const file = join(stage.master.work, `by-codex-${key}`);
  const turn = client.prompt(
    sessionId,
    plan(["propose", proposal(`touch '${file}'`)], ["text", "I have read it. "]),
    turnMs,
  );
  await stage.tmux.sees(keysCount);
  expect(await stage.tmux.screen()).toContain(`> touch '${file}'`);
  expect(await stage.tmux.content(stage.pane)).not.toContain(file);
  await stage.tmux.press(key);
  expect((await turn).result.stopReason).toBe("end_turn");
  expect(client.text(sessionId)).toContain("I have read it.");
  expect(statusesRead()).toEqual(["validation accepted", `final ${final}`]);
  if (runs) await eventually(() => existsSync(file), "the command has run");
  else expect(existsSync(file)).toBe(false);
  // No question, and no row of the command for any client.
  expect(client.received("session/request_permission")).toEqual([]);
  expect(client.lines.all.map(({ text }) => text).join("\n")).not.toContain("--channel");
});
