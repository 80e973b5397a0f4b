// Field faults of the kind "cancel": stops that come late, reach the wrong turn, or are ignored.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startMaster, type Master } from "../harness/master.ts";
import { isRunning, processGone } from "../harness/processes.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  askingAgent,
  CANCELLED,
  converse,
  jsonLine,
  nextOffer,
  PERMISSION,
  selected,
} from "../permissions/conversation.ts";

let agent: ScriptedAgent;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  master = await startMaster({
    agents: { fake: agent },
    config: { helper: { isolation: "shared" }, sessions: { cancelSeconds: 0.5 } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

let own = 0;
/** A conversation in a process of its own: some of these agents end badly. */
const talk = (options: { turn?: boolean } = {}) =>
  converse(master, { ...options, agent: "fake", capabilities: { _meta: { own: ++own } } });

it("FF-85: a cancel without a turn is not forwarded and does not reach the next one", async () => {
  const talking = await talk();
  const { client, sessionId } = talking;
  await talking.endTurn();
  const other = await talking.join();
  await client.notify("session/cancel", { sessionId });
  await other.notify("session/cancel", { sessionId });
  expect((await master.cli(["cancel", sessionId])).code).toBe(0);
  await talking.startTurn();
  expect((await talking.endTurn()).result).toEqual({ stopReason: "end_turn" });
  expect(talking.process.count("session/cancel")).toBe(0);
});

it("FF-85: a cancel right behind a prompt reaches that prompt", async () => {
  const talking = await talk({ turn: false });
  const { client, sessionId, process } = talking;
  const done = client.prompt(sessionId, "go");
  await client.notify("session/cancel", { sessionId });
  // Before the agent has it, the prompt is answered here; else the agent is told and answers.
  const prompt = process.received("session/prompt").then((line) => process.answer(line, { stopReason: "cancelled" }));
  expect((await done).result).toEqual({ stopReason: "cancelled" });
  prompt.catch(() => {}); // it may never have been handed on
});

it("FF-87: a load of the running session leaves its turn where it was: cancel reaches it, its answer its caller", async () => {
  const talking = await talk();
  const { client, sessionId } = talking;
  await client.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
  const other = await talking.join();
  await other.notify("session/cancel", { sessionId });
  await talking.process.received("session/cancel");
  expect((await talking.endTurn("cancelled")).result).toEqual({ stopReason: "cancelled" });
  await other.expectSilence(({ result }) => result?.stopReason !== undefined, { from: 0 });
});

it("FF-88: an agent that never answers after a cancel does not hold the session: the client gets cancelled, the next prompt its answer", async () => {
  const talking = await talk();
  const { client, sessionId } = talking;
  await client.notify("session/cancel", { sessionId });
  const began = performance.now();
  expect((await talking.turn.done).result).toEqual({ stopReason: "cancelled" });
  expect(performance.now() - began).toBeLessThan(5_000);
  // What it still sends of that turn is nobody's, and what it asks is refused.
  await talking.process.say(sessionId, "late");
  expect((await talking.ask("t1")).result).toEqual(selected("no"));
  await client.expectSilence(({ method, params }) => method === PERMISSION || params?.update !== undefined, {
    from: 0,
  });
  const next = await Promise.race([
    client.prompt(sessionId, "again", 20_000),
    served(talking.process.pid).then(() => ({ result: "served" }) as const),
  ]);
  expect("error" in next ? next.error : next.result).toBeDefined();
});

/** Resolves when another process gets the prompt. */
async function served(pid: number): Promise<void> {
  for (let n = 0; ; n++) {
    const process = await agent.process(n, 20_000);
    if (process.pid === pid) continue;
    const again = process.lines.all.some(({ message }) => message.params?.prompt?.[0].text === "again");
    if (again) return;
    if (n + 1 === agent.processes.length) {
      const line = await process.received(({ params }) => params?.prompt?.[0].text === "again", 20_000);
      await process.answer(line, { stopReason: "end_turn" });
      return;
    }
  }
}

it("FF-88: an agent that answers a cancel with an error has answered", async () => {
  const talking = await talk();
  const { client, sessionId, process } = talking;
  await client.notify("session/cancel", { sessionId });
  await process.received("session/cancel");
  await process.fail(talking.turn.prompt, { code: -32603, message: "stopped" });
  expect((await talking.turn.done).error).toMatchObject({ code: -32603, message: "stopped" });
  await talking.startTurn();
  expect((await talking.endTurn()).result).toEqual({ stopReason: "end_turn" });
});

it("FF-89: the order of updates around a cancelled answer is the agent's", async () => {
  const talking = await talk();
  const { client, sessionId, process } = talking;
  await client.notify("session/cancel", { sessionId });
  const chunk = (text: string) =>
    jsonLine({
      method: "session/update",
      params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
    });
  const end = jsonLine({ id: talking.turn.prompt.message.id, result: { stopReason: "cancelled" } });
  await process.sendRaw(`${chunk("before")}${end}${chunk("after")}`);
  await talking.turn.done;
  await talking.settle();
  const order = client.lines.all
    .map(({ message }) => message.params?.update?.content?.text ?? message.result?.stopReason)
    .filter((each) => each !== undefined);
  expect(order.slice(0, 3)).toEqual(["before", "cancelled", "after"]);
});

it("FF-90: an agent that ignores a cancel can be stopped harder: close ends the turn for the client, stop ends the process", async () => {
  await using deaf = askingAgent({ auto: { "session/close": false } });
  await using harder = await startMaster({
    agents: { fake: deaf },
    config: { helper: { use: "ask" }, sessions: { cancelSeconds: 60 }, daemon: { drainSeconds: 0.1 } },
  });
  const talking = await converse(harder, { agent: "fake" });
  const asked = talking.ask("t1");
  await nextOffer(talking.client);
  await harder.cli(["cancel", talking.sessionId]);
  expect((await asked).result).toEqual(CANCELLED);
  expect(isRunning(talking.process.pid)).toBe(true);
  expect((await harder.cli(["stop"])).code).toBe(0);
  const end = await talking.turn.done.catch(() => undefined);
  expect(end?.result?.stopReason ?? end?.error?.data.reason).toMatch(/cancelled|agent_exited|stopping/);
  await processGone(talking.process.pid);
});

it("FF-91: a client that goes in mid-turn takes nobody along: the turn goes on, its tickets wait, the process stays for the others", async () => {
  const one = await talk();
  const capabilities = { _meta: { own } };
  const two = await converse(master, { agent: "fake", capabilities });
  expect(two.process.pid).toBe(one.process.pid);
  const asked = one.ask("t1");
  const { approvalId } = await nextOffer(one.client);
  await one.client.close();
  expect((await two.endTurn()).result).toEqual({ stopReason: "end_turn" });
  await two.startTurn();
  expect((await two.endTurn()).result).toEqual({ stopReason: "end_turn" });
  expect(one.process.count("session/cancel")).toBe(0);
  expect((await master.cli(["approve", approvalId])).code).toBe(0);
  expect((await asked).result).toEqual(selected("yes"));
});
