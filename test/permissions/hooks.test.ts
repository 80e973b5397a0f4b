// What a Helper's hooks do to a session: blocks at the end of a prompt, tool calls that stay hidden, and the order of what
// waits for its verdict.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper, type ScriptedHelper } from "../harness/scripted-helper.ts";
import {
  answerOffer,
  askingAgent,
  type Conversation,
  converse,
  nextOffer,
  PERMISSION,
  selected,
} from "./conversation.ts";

let agent: ScriptedAgent;
let dying: ScriptedAgent;
let helper: ScriptedHelper;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  dying = askingAgent();
  helper = scriptedHelper({ hooks: ["turn", "tool_call"] });
  master = await startMaster({
    agents: { fake: agent, dying },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "shared" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await helper[Symbol.asyncDispose]();
  for (const each of [agent, dying]) await each[Symbol.asyncDispose]();
});
afterEach(() => {
  helper.setAuto("helper/turn_start", {});
  helper.setAuto("helper/tool_call", { verdict: "pass", final: true });
});

const tool = (talk: Conversation, toolCallId: string, update: object = {}) =>
  talk.process.update(talk.sessionId, {
    sessionUpdate: "tool_call",
    toolCallId,
    title: "T",
    status: "pending",
    ...update,
  });

const seen = (talk: Conversation): string[] =>
  talk.client
    .updates(talk.sessionId)
    .map((update: Loose) => `${update.toolCallId ?? update.content?.text ?? update.sessionUpdate}`);

const verdicts = (answers: Readonly<Record<string, object | false>>) =>
  helper.setAuto("helper/tool_call", (params: Loose, process, message: Message) => {
    const answer = answers[params.update.toolCallId];
    if (answer !== false) process.answer(message, answer ?? { verdict: "pass", final: true });
    return undefined;
  });

describe("hook turn", () => {
  it("puts the Helper's blocks at the end of the prompt, byte for byte, and shows them to no client", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    const watcher = await talk.join();
    const block = { type: "text", text: "canary 9007199254740993", n: 1 };
    helper.setAuto("helper/turn_start", { append: [block] });
    const { prompt } = await talk.startTurn();
    expect(prompt.message.params.prompt.map((one: Loose) => one.text)).toEqual(["go on", block.text]);
    expect(prompt.message.params.prompt[1]).toEqual(block);
    await talk.endTurn();
    await eventually(() => watcher.updates(talk.sessionId).length > 0, "the other client sees the prompt");
    expect(JSON.stringify(watcher.updates(talk.sessionId))).not.toContain("canary");
  });

  it("cancelled while the Helper thinks: the prompt is answered and never reaches the agent", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    helper.setAuto("helper/turn_start", false);
    const prompts = talk.process.count("session/prompt");
    const turn = talk.client.prompt(talk.sessionId, "never");
    const asked = await (await helper.process()).received("helper/turn_start");
    await talk.client.notify("session/cancel", { sessionId: talk.sessionId });
    expect((await turn).result).toEqual({ stopReason: "cancelled" });
    (await helper.process()).answer(asked, { append: [{ type: "text", text: "late" }] });
    await talk.settle();
    expect(talk.process.count("session/prompt")).toBe(prompts);
  });

  it("the session is closed while the Helper thinks about its first prompt: that one never reaches the agent", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    helper.setAuto("helper/turn_start", false);
    const prompts = talk.process.count("session/prompt");
    const turn = talk.client.prompt(talk.sessionId, "never");
    const { sessionId } = talk;
    const asked = await (
      await helper.process()
    ).received(({ method, params }) => method === "helper/turn_start" && params.sessionId === sessionId);
    await talk.client.call("session/close", { sessionId });
    (await helper.process()).answer(asked, {});
    expect((await turn).result).toEqual({ stopReason: "cancelled" });
    await talk.client.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
    await talk.settle();
    expect(talk.process.count("session/prompt")).toBe(prompts);
  });
});

describe("hook tool_call", () => {
  it("hides a tool call from every client and from those who load later, and lets the others pass", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    await talk.startTurn();
    verdicts({ hidden: { verdict: "hide", final: true } });
    await tool(talk, "shown");
    await tool(talk, "hidden");
    await tool(talk, "hidden", { sessionUpdate: "tool_call_update", status: "completed" });
    await tool(talk, "after");
    await talk.settle();
    expect(seen(talk).filter((one) => !one.startsWith("mark"))).toEqual(["shown", "after"]);
    await talk.endTurn();
    const late = await talk.join();
    expect(JSON.stringify(late.updates(talk.sessionId))).not.toContain("hidden");
  });

  it("reduces what it hides after something of it was shown: id and status, nothing else", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    await talk.startTurn();
    verdicts({ t1: { verdict: "pass" } });
    await tool(talk, "t1", { rawInput: { command: "first" } });
    await talk.settle();
    verdicts({ t1: { verdict: "hide", final: true } });
    const secret = { sessionUpdate: "tool_call_update", status: "in_progress", rawInput: { command: "secret" } };
    await tool(talk, "t1", secret);
    await tool(talk, "t1", { sessionUpdate: "tool_call_update", status: "completed", title: "secret" });
    await talk.settle();
    const updates = talk.client.updates(talk.sessionId).filter((update: Loose) => update.toolCallId === "t1");
    expect(updates.slice(1)).toEqual([
      { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "in_progress" },
      { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" },
    ]);
    await talk.endTurn();
  });

  it("holds up everything behind it in its session, in order, the prompt's answer included, and no other session", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    const other = await converse(master, { agent: "fake", turn: false });
    await talk.startTurn();
    await other.startTurn();
    verdicts({ slow: false });
    await tool(talk, "slow");
    const asked = await (
      await helper.process()
    ).received(({ method, params }) => method === "helper/tool_call" && params.update.toolCallId === "slow");
    await talk.process.say(talk.sessionId, "behind");
    const ended = talk.endTurn();
    await tool(other, "quick");
    await other.settle();
    expect(seen(other)).toContain("quick");
    expect(seen(talk)).not.toContain("behind");
    (await helper.process()).answer(asked, { verdict: "pass", final: true });
    expect((await ended).result).toEqual({ stopReason: "end_turn" });
    expect(seen(talk).slice(-2)).toEqual(["slow", "behind"]);
    const lines = talk.client.lines.all.map((line) => line.text);
    const answerAt = lines.findIndex((line) => line.includes('"stopReason"'));
    expect(lines.findIndex((line) => line.includes('"behind"'))).toBeLessThan(answerAt);
    await other.endTurn();
  });

  it("that gives no verdict in time shows the frame reduced", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    await talk.startTurn();
    verdicts({ mute: false });
    await tool(talk, "mute", { rawInput: { command: "secret" } });
    await talk.settle();
    const [update] = talk.client.updates(talk.sessionId).filter((one: Loose) => one.toolCallId === "mute");
    expect(update).toEqual({ sessionUpdate: "tool_call_update", toolCallId: "mute", status: "pending" });
    await talk.endTurn();
  });

  it.each([
    ["has answered", true],
    ["has not answered", false],
  ])(
    "what an agent that %s said before its end comes first, judged and in order, its answer too",
    async (_, answers) => {
      dying.setAuto("session/prompt", false);
      const talk = await converse(master, { agent: "dying" });
      verdicts({ slow: false });
      await tool(talk, "slow", { title: "judged" });
      const asked = await (
        await helper.process()
      ).received(({ method, params }) => method === "helper/tool_call" && params.update.toolCallId === "slow");
      await talk.process.say(talk.sessionId, "behind");
      void talk.ask("t2").catch(() => {}); // it dies before it could hear the answer
      if (answers) await talk.process.answer(talk.turn.prompt, { stopReason: "end_turn" });
      await talk.process.exit(3);
      await eventually(async () => {
        const { agents } = await talk.client.call("_acp-master/status", {});
        return agents.every((row: Loose) => row.pid !== talk.process.pid);
      }, "the master has noticed the end");
      expect(seen(talk)).not.toContain("behind");
      (await helper.process()).answer(asked, { verdict: "pass", final: true });
      const end = await talk.turn.done;
      if (answers) expect(end.result).toEqual({ stopReason: "end_turn" });
      else expect(end.error).toMatchObject({ data: { reason: "agent_exited", exitCode: 3 } });
      expect(seen(talk).slice(-2)).toEqual(["slow", "behind"]);
      const lines = talk.client.lines.all.map(({ message }) => message);
      expect(lines.findIndex(({ params }) => params?.update?.content?.text === "behind")).toBeLessThan(
        lines.indexOf(end),
      );
      expect(talk.client.received(PERMISSION)).toEqual([]);
      // It goes on in a new process.
      verdicts({});
      dying.setAuto("session/prompt", { stopReason: "end_turn" });
      expect((await talk.client.prompt(talk.sessionId, "again")).result).toEqual({ stopReason: "end_turn" });
    },
  );

  it("an agent that takes back a question while it waits behind a verdict gets it answered, and nobody is asked", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    await talk.startTurn();
    verdicts({ slow: false });
    await tool(talk, "slow");
    const asked = await (
      await helper.process()
    ).received(({ method, params }) => method === "helper/tool_call" && params.update.toolCallId === "slow");
    const question = talk.ask("t2", { id: "taken-back" });
    await talk.process.notify("$/cancel_request", { requestId: "taken-back" });
    await talk.process.notify("_vendor/mark", { sessionId: talk.sessionId });
    (await helper.process()).answer(asked, { verdict: "pass", final: true });
    expect((await question).result).toEqual({ outcome: { outcome: "cancelled" } });
    await talk.settle();
    expect(talk.client.received(PERMISSION)).toEqual([]);
    // The next one is asked as always.
    const again = talk.ask("t3", { id: "taken-back" });
    await answerOffer(talk.client, await nextOffer(talk.client), selected("yes"));
    expect((await again).result).toEqual(selected("yes"));
    await talk.endTurn();
  });
});

describe("a session below another one, whose tool calls have the same ids", () => {
  it("is judged for itself, and what is reduced there stands under its own id", async () => {
    const talk = await converse(master, { agent: "fake", turn: false, capabilities: { subagents: {} } });
    await talk.startTurn();
    const child = `${talk.sessionId}/child`;
    await talk.process.update(talk.sessionId, { sessionUpdate: "subagent_update", sessionId: child });
    const call = (id: string, more: object = {}) =>
      talk.process.update(id, { sessionUpdate: "tool_call_update", toolCallId: "t1", status: "in_progress", ...more });
    const shown = (id: string): Loose[] => talk.client.updates(id).filter((one: Loose) => one.toolCallId === "t1");
    helper.setAuto("helper/tool_call", ({ sessionId, update }: Loose) => {
      if (sessionId === talk.sessionId) return { verdict: "hide", final: true };
      return update.secret === undefined ? { verdict: "pass" } : { verdict: "hide", final: true };
    });
    // Hidden for good in the one, shown in the other.
    await call(talk.sessionId, { secret: 1 });
    await call(child, { title: "shown" });
    await call(talk.sessionId, { secret: 2 });
    await call(child, { secret: 3, status: "in_progress" });
    await call(child, { secret: 4, status: "completed" });
    await talk.settle();
    expect(shown(talk.sessionId)).toEqual([]);
    const reduced = { sessionUpdate: "tool_call_update", toolCallId: "t1" };
    expect(shown(child)).toEqual([
      { ...reduced, status: "in_progress", title: "shown" },
      { ...reduced, status: "in_progress" },
      { ...reduced, status: "completed" },
    ]);
    await talk.endTurn();
  });
});
