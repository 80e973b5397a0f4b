// Restores that fail before or in the agent, and restores that meet: what the session is then, and what each caller is told.
import { describe, expect, it } from "vitest";
import { eventually } from "./harness/events.ts";
import type { Loose } from "./harness/lines.ts";
import { type Master, startMaster } from "./harness/master.ts";
import type { RawClient } from "./harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent } from "./harness/scripted-agent.ts";

const place = (master: Master): Loose => ({ cwd: master.work, mcpServers: [] });

async function rowOf(client: RawClient, sessionId: string): Promise<Loose> {
  const { sessions } = await client.call("_acp-master/sessions", {});
  return sessions.find((row: Loose) => row.sessionId === sessionId);
}

/** A session that had a turn and in which "seen" was said, in a daemon that has stopped. */
async function keptSession(agent: ScriptedAgent): Promise<Master> {
  const master = await startMaster({ agents: { fake: agent }, config: { helper: { use: "ask" } } });
  const client = await master.client();
  await client.initialize({ agent: "fake" });
  await client.newSession();
  const process = await agent.process(0);
  await process.say("a", "seen");
  await client.next("session/update");
  expect((await client.prompt("a", "go")).result).toEqual({ stopReason: "end_turn" });
  await client.close();
  await master.stop();
  return master;
}

/** Whoever needs the agent is told that the session is lost and why; whoever only looks is not refused. */
async function expectLost(master: Master, agentError: Loose): Promise<RawClient> {
  const client = await master.client();
  await client.initialize({ agent: null });
  const resumed = await client.request("session/resume", { sessionId: "a", ...place(master) });
  expect(resumed.error).toMatchObject({ code: -32054, data: { reason: "session_lost", agent: "fake", agentError } });
  expect((await rowOf(client, "a")).state).toBe("lost");
  expect((await client.request("session/load", { sessionId: "a", ...place(master) })).error).toBeUndefined();
  expect(client.text("a")).toBe("seen");
  const prompted = await client.prompt("a", "go on");
  expect(prompted.error).toMatchObject({ code: -32054, data: { reason: "session_lost", agent: "fake", agentError } });
  expect((await rowOf(client, "a")).state).toBe("lost");
  return client;
}

describe("a restore that fails", () => {
  it("because its agent is not configured any more says so, and works once it is again", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await keptSession(agent);
    master.configure({ config: {} });
    await master.serve();
    const client = await expectLost(master, { code: -32050, data: { reason: "unknown_agent" } });
    master.configure({ config: {}, agents: { fake: agent } });
    await eventually(
      async () => (await client.prompt("a", "go on")).result?.stopReason === "end_turn",
      "the prompt is answered once the agent is configured",
    );
    expect((await rowOf(client, "a")).state).toBe("idle");
  });

  it("because its agent does not start says so, with the last words of that process", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await keptSession(agent);
    const broken = { command: process.execPath, args: ["-e", "console.error('no licence'); process.exitCode = 3"] };
    master.configure({ config: {}, agents: { fake: broken } });
    await master.serve();
    await expectLost(master, {
      code: -32051,
      data: { reason: "agent_failed_to_start", stderrTail: expect.stringContaining("no licence") },
    });
  });

  it("because the agent ends over it says how that ended", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await keptSession(agent);
    agent.setAuto("session/resume", (_: Loose, process: Loose) => void process.exit(7));
    await master.serve();
    await expectLost(master, { code: -32052, data: { reason: "agent_exited", exitCode: 7 } });
  });

  it("because the agent refuses passes on what the agent said", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await keptSession(agent);
    const refusal = { code: -32002, message: "no such session", data: { reason: "busy", n: 1 } };
    agent.setAuto("session/resume", () => {
      throw refusal;
    });
    await master.serve();
    await expectLost(master, refusal);
  });
});

const promptLine = (id: string, sessionId: string): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "session/prompt", params: { sessionId, prompt: [] } })}\n`;

describe("two restores at once", () => {
  it("of an agent with a process per session take a process each", async () => {
    await using agent = fakeAgent({ definition: { share: "session" }, sessionIds: ["a", "b"] });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    for (const _ of ["a", "b"]) await client.newSession();
    for (const n of [0, 1]) await (await agent.process(n)).exit(0);
    await eventually(async () => (await rowOf(client, "b")).state === "lost", "both are lost");
    await client.call("_acp-master/agent/retry", { agent: "fake" });
    // A third process runs and has no session: both prompts of one chunk find it.
    const other = await master.client();
    await other.initialize();
    await client.send(Buffer.from(promptLine("to a", "a") + promptLine("to b", "b")));
    for (const id of ["to a", "to b"]) {
      const answer = await client.waitFor((message) => message.id === id);
      expect(answer.message.result).toEqual({ stopReason: "end_turn" });
    }
    const resumed = [await agent.process(2), await agent.process(3)];
    expect(resumed.map((process) => process.count("session/resume"))).toEqual([1, 1]);
  });
});
