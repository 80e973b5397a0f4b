// Sessions whose process ended, that were parked, or whose agent ignored a cancel: what goes on, and what is said when not.
import { describe, expect, it } from "vitest";
import { eventually } from "./harness/events.ts";
import { startMaster } from "./harness/master.ts";
import type { RawClient } from "./harness/raw-client.ts";
import { fakeAgent } from "./harness/scripted-agent.ts";

async function stateOf(client: RawClient, sessionId: string): Promise<string | undefined> {
  const { sessions } = await client.call("_acp-master/sessions", {});
  return sessions.find((row: { sessionId: string }) => row.sessionId === sessionId)?.state;
}

const chunk = (text: string) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

const lostSession = async (more: { resume?: false } = {}) => {
  const agent = fakeAgent({
    sessionIds: ["a"],
    auto: { "session/prompt": false, "session/resume": more.resume ?? {} },
  });
  const master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", limits: { promptQueue: 2 } },
  });
  const client = await master.client();
  await client.initialize({ events: true });
  await client.newSession();
  await (await agent.process(0)).exit(1);
  await eventually(async () => (await stateOf(client, "a")) === "lost", "the session is shown as lost");
  return { agent, master, client };
};

describe("a session whose agent process ended", () => {
  it("goes on in a new process at the next prompt, without its history doubled", async () => {
    await using agent = fakeAgent({
      capabilities: { loadSession: true, sessionCapabilities: {} },
      sessionIds: ["a"],
      auto: {
        "session/load": (params, process) => {
          void process.notify("session/update", { sessionId: params.sessionId, update: chunk("first") });
          return {};
        },
        "session/prompt": false,
      },
    });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession({ mcpServers: [{ name: "m", command: "/bin/true", args: [], env: [] }] });

    const turn = client.prompt("a", "one");
    const first = await agent.process(0);
    await first.received("session/prompt");
    await first.say("a", "first");
    await first.exit(3);
    expect((await turn).error).toMatchObject({ code: -32052, data: { reason: "agent_exited", exitCode: 3 } });
    await eventually(async () => (await stateOf(client, "a")) === "lost", "the session is shown as lost");

    const next = client.prompt("a", "two");
    const second = await agent.process(1);
    const load = await second.received("session/load");
    expect(load.message.params).toMatchObject({ sessionId: "a", cwd: master.work, mcpServers: [{ name: "m" }] });
    const prompt = await second.received("session/prompt");
    // Replayed after the answer: still history.
    await second.say("a", "second");
    await second.answer(prompt, { stopReason: "end_turn" });
    expect((await next).result).toEqual({ stopReason: "end_turn" });
    expect(client.text("a")).toBe("firstsecond");
    expect(await stateOf(client, "a")).toBe("idle");
  });

  it("is shared by everybody who asks for it at once: the agent sees one resume", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/resume": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    await (await agent.process(0)).exit(1);
    await eventually(async () => (await stateOf(client, "a")) === "lost", "the session is shown as lost");

    const other = await master.client();
    await other.initialize();
    const turn = client.prompt("a", "go on");
    const load = other.request("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    const second = await agent.process(1);
    const resume = await second.received("session/resume");
    await second.answer(resume, {});
    expect((await load).result).toBeDefined();
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    expect(second.count("session/resume")).toBe(1);
    expect(second.count("session/load")).toBe(0);
  });

  it("that the agent does not know any more: a load shows what was seen, a prompt says that it is lost", async () => {
    await using agent = fakeAgent({
      sessionIds: ["a"],
      auto: {
        "session/resume": () => {
          throw new Error("gone");
        },
      },
    });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    const first = await agent.process(0);
    await first.say("a", "seen");
    await client.next((message) => message.method === "session/update");
    await first.exit(0);
    await eventually(async () => (await stateOf(client, "a")) === "lost", "the session is shown as lost");

    const { error } = await client.prompt("a", "go on");
    expect(error).toMatchObject({ code: -32054, data: { reason: "session_lost" } });
    const other = await master.client();
    await other.initialize();
    expect(
      (await other.request("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] })).error,
    ).toBeUndefined();
    expect(other.text("a")).toBe("seen");
    expect(await stateOf(other, "a")).toBe("lost");
    const resumed = await other.request("session/resume", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(resumed.error?.data.reason).toBe("session_lost");
  });

  it("is looked at by an observer without being woken", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    const first = await agent.process(0);
    await first.say("a", "seen");
    await client.next((message) => message.method === "session/update");
    await first.exit(0);
    await eventually(async () => (await stateOf(client, "a")) === "lost", "the session is shown as lost");
    const observer = await master.client();
    await observer.initialize({ role: "observer", agent: null });
    await observer.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(observer.text("a")).toBe("seen");
    expect(agent.processes).toHaveLength(1);
  });
});

describe("while a session is being restored", () => {
  it("a prompt that is cancelled never reaches the agent, and prompts beyond the bound are told", async () => {
    const { agent, master, client } = await lostSession({ resume: false });
    await using _agent = agent;
    await using _master = master;
    const first = client.prompt("a", "one");
    const second = await agent.process(1);
    const resume = await second.received("session/resume");
    const waiting = [client.prompt("a", "two"), client.prompt("a", "three")];
    expect((await client.prompt("a", "four")).error?.data.reason).toBe("busy");
    await client.notify("session/cancel", { sessionId: "a" });
    for (const turn of [first, ...waiting]) expect((await turn).result).toEqual({ stopReason: "cancelled" });
    await second.answer(resume, {});
    const next = client.prompt("a", "five");
    const prompt = await second.received("session/prompt");
    expect(prompt.message.params.prompt[0].text).toBe("five");
    await second.answer(prompt, { stopReason: "end_turn" });
    expect((await next).result).toEqual({ stopReason: "end_turn" });
  });

  it("a close ends it for good: the agent is told to close, and nothing of it comes back", async () => {
    const { agent, master, client } = await lostSession({ resume: false });
    await using _agent = agent;
    await using _master = master;
    const turn = client.prompt("a", "one");
    const second = await agent.process(1);
    const resume = await second.received("session/resume");
    await client.call("_acp-master/session/close", { sessionId: "a" });
    expect((await turn).result).toEqual({ stopReason: "cancelled" });
    await second.answer(resume, {});
    expect((await second.received("session/close")).message.params).toEqual({ sessionId: "a" });
    expect(await stateOf(client, "a")).toBe("closed");
    expect(second.count("session/prompt")).toBe(0);
  });

  it("the MCP servers of who comes back first stand, and another folder is an error", async () => {
    const { agent, master, client } = await lostSession();
    await using _agent = agent;
    await using _master = master;
    const other = await client.request("session/load", { sessionId: "a", cwd: "/", mcpServers: [] });
    expect(other.error).toMatchObject({ code: -32602 });
    const mcpServers = [{ name: "m", command: "/bin/true", args: [], env: [] }];
    await client.call("session/load", { sessionId: "a", cwd: master.work, mcpServers });
    const resume = await (await agent.process(1)).received("session/resume");
    expect(resume.message.params).toMatchObject({ cwd: master.work, mcpServers });
  });
});

describe("an update that is nested too deep for the master to read", () => {
  it("passes as it is, and costs nobody anything", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize({ events: true });
    await client.newSession();
    const process = await agent.process(0);
    const deep = "[".repeat(2000) + "]".repeat(2000);
    for (const update of [
      `{"sessionUpdate":"session_info_update","title":"t","_meta":{"x":${deep}}}`,
      `{"sessionUpdate":"config_option_update","configOptions":[${deep}]}`,
    ]) {
      await process.sendRaw(
        `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":${update}}}\n`,
      );
      await client.next("session/update");
    }
    expect((await client.prompt("a", "go on")).result).toEqual({ stopReason: "end_turn" });
    expect(await stateOf(client, "a")).toBe("idle");
    const other = await master.client();
    await other.initialize();
    await other.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(other.updates("a")).toHaveLength(3);
  });
});

describe("a session that nobody needs", () => {
  it("is parked, its agent told and stopped being needed, and comes back with the next load", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await startMaster({
      agents: { fake: agent },
      config: { defaultAgent: "fake", sessions: { idleMinutes: 0.005 } },
    });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    await client.prompt("a", "one");
    const process = await agent.process(0);
    // While somebody is attached it stays.
    expect(await stateOf(client, "a")).toBe("idle");
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    await client.close();
    await process.received("session/close");
    await eventually(async () => (await stateOf(watcher, "a")) === "parked", "the session is parked");

    const back = await master.client();
    await back.initialize();
    const load = back.request("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    await process.received("session/resume");
    expect((await load).error).toBeUndefined();
    expect(await stateOf(back, "a")).toBe("idle");
  });
});

describe("an agent that ignores a cancel", () => {
  it("is given up: the client gets its answer, what still comes is nobody's, questions are refused", async () => {
    await using agent = fakeAgent({
      sessionIds: ["a", "b"],
      auto: { "session/prompt": false, "session/resume": false },
    });
    await using master = await startMaster({
      agents: { fake: agent },
      config: { defaultAgent: "fake", sessions: { cancelSeconds: 0.3 } },
    });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    const turn = client.prompt("a", "one");
    const process = await agent.process(0);
    const prompt = await process.received("session/prompt");
    await client.notify("session/cancel", { sessionId: "a" });
    await process.received("session/cancel");
    expect((await turn).result).toEqual({ stopReason: "cancelled" });
    await eventually(async () => (await stateOf(client, "a")) === "lost", "the session has left the process");

    const before = client.updates("a").length;
    await process.say("a", "late");
    const asked = await process.askPermission("a");
    expect(asked.result.outcome).toMatchObject({ outcome: "selected", optionId: "no" });
    await client.expectSilence((message) => message.method === "session/request_permission");
    expect(client.updates("a").length).toBe(before);
    // A turn of the restored session has a ladder of its own, which the old process does not disturb.
    const next = client.prompt("a", "two");
    const second = await agent.process(1);
    await second.answer(await second.received("session/resume"), {});
    await second.received("session/prompt");
    await client.notify("session/cancel", { sessionId: "a" });
    await second.received("session/cancel");
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await next).result).toEqual({ stopReason: "cancelled" });
    // That process takes no new session.
    await client.newSession();
    expect((await agent.process(2)).count("session/new")).toBe(1);
  });
});
