// A secret in a proposal of claude-agent-acp, which announces a call before it knows the command: the command is allowed
// without a question, no client sees it, and the master keeps nothing of it.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRequest, isResponse, lineOf, type Loose, type Message } from "../harness/lines.ts";
import { startMaster } from "../harness/master.ts";
import { plan } from "../model/plan.ts";
import { ScriptedModel } from "../model/server.ts";
import { dumpsMemory, filesWith, nowhereInMemory, poll } from "../proposals/everything-of-the-master.ts";
import { payload, ProposingHelper, Reviewer, rowOf } from "../proposals/proposing.ts";
import { claude } from "./real-agents.ts";

const secret = "marigold-7f3a91c4";
const turnMs = 90_000;
const tap = new URL("./wire-tap.mjs", import.meta.url).pathname;

it("a secret that claude proposes is in nothing of the master and reaches no client", async () => {
  await using model = await ScriptedModel.start();
  model.secrets.set("SECRET", secret);
  using helper = new ProposingHelper();
  const memory = join(helper.folder, "memory");
  const folder = join(helper.folder, "agent");
  const wire = join(helper.folder, "wire");
  for (const each of [memory, folder]) mkdirSync(each);
  const { command, args = [], ...entry } = claude.define(folder, model.url);
  await using master = await startMaster({
    agents: { claude: { ...entry, command: process.execPath, args: [tap, wire, command, ...args] } },
    config: { defaultAgent: "claude", helper: { use: helper.use } },
    env: dumpsMemory(memory),
  });
  await using polled = poll(master);
  const client = await master.client();
  await client.initialize({ agent: "claude", events: true });
  const { sessionId } = await client.newSession();
  await client.call("session/set_mode", { sessionId, modeId: "default" });
  const watcher = await master.client();
  await watcher.initialize({ agent: null, events: true });
  await watcher.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
  await using reviewer = new Reviewer((await rowOf(master, sessionId)).review);

  const steps = plan(["propose", JSON.parse(payload("echo SECRET"))], ["text", "I have read it. "]);
  const turn = client.prompt(sessionId, steps, turnMs);
  turn.catch(() => {}); // told below
  const { proposalId, choices } = await reviewer.card(sessionId);
  expect(JSON.stringify(choices)).toContain(secret);
  const lines = linesIn(wire);
  const channel = /v1\.[0-9a-f]{32}\.[0-9a-f]{32}/.exec(JSON.stringify(lines))?.[0] ?? "none";
  await nowhereInMemory(master, memory, [secret, channel]);
  expect(await reviewer.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "insert" })).toBe(
    "confirmed",
  );
  expect((await turn).result.stopReason).toBe("end_turn");

  // The case is the one that is meant: announced without an input, then with the command, asked for, allowed once.
  const all = linesIn(wire);
  const calls = all.flatMap(({ params }) => (params?.update?.toolCallId === undefined ? [] : [params.update]));
  expect([calls[0].sessionUpdate, calls[0].rawInput]).toEqual(["tool_call", {}]);
  expect(JSON.stringify(calls)).toContain(secret);
  const question = all.find((line) => isRequest(line) && line.method === "session/request_permission");
  expect(question?.params.toolCall.rawInput.command).toContain(secret);
  const once = question?.params.options.find(({ kind }: Loose) => kind === "allow_once").optionId;
  expect(all.find((line) => isResponse(line) && line.id === question?.id && line.result?.outcome)?.result).toEqual({
    outcome: { outcome: "selected", optionId: once },
  });
  // The agent read both lines.
  const read = model.requests.at(-1)?.conversation.said.findLast(({ by }) => by === "tool")?.text ?? "";
  expect(
    read
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { phase: "validation", status: "accepted" },
    { phase: "final", status: "confirmed" },
  ]);
  expect(client.text(sessionId)).toContain("I have read it.");

  await nowhereInMemory(master, memory, [secret, channel]);
  await polled[Symbol.asyncDispose]();
  const late = await master.client();
  await late.initialize({ agent: null });
  await late.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
  expect(polled.answers.length).toBeGreaterThan(3);
  for (const word of [secret, channel]) {
    for (const each of [client, watcher, late]) {
      for (const { text } of each.lines.all) expect(text).not.toContain(word);
    }
    for (const text of polled.answers) expect(text).not.toContain(word);
    expect(filesWith(word, master.folder)).toEqual([]);
  }
  for (const each of [client, watcher]) {
    expect(each.received("session/request_permission")).toEqual([]);
    const rows = each.updates(sessionId).filter(({ toolCallId }: Loose) => toolCallId === calls[0].toolCallId);
    expect(rows[0].rawInput).toEqual({});
    for (const { sessionUpdate, toolCallId: _id, status: _status, ...more } of rows.slice(1)) {
      expect([sessionUpdate, more]).toEqual(["tool_call_update", {}]);
    }
    expect(rows.at(-1).status).toBe("completed");
  }
  // It is found where it belongs, so it would have been found elsewhere.
  expect(filesWith(secret, folder)).not.toEqual([]);
  expect(helper.orders.join("\n")).toContain(secret);
});

/** What went over the agent's wire so far, both ways. */
function linesIn(wire: string): Message[] {
  return readFileSync(wire, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => lineOf(Buffer.from(line.slice(line.indexOf(" ") + 1))).message);
}
