// An agent process that nobody needs ends; one that serves a client or holds a session does not.
import { describe, expect, it } from "vitest";
import { eventually, within } from "./harness/events.ts";
import { startMaster } from "./harness/master.ts";
import { fakeAgent } from "./harness/scripted-agent.ts";

describe("a process without session and client", () => {
  it("ends after `limits.agentIdleSeconds`; those that are needed run on", async () => {
    await using idle = fakeAgent({ sessionIds: ["i"] });
    await using bound = fakeAgent();
    await using busy = fakeAgent({ sessionIds: ["b"] });
    const config = { limits: { agentIdleSeconds: 0.5 }, helper: { use: "ask" } };
    await using master = await startMaster({ agents: { idle, bound, busy }, config });
    const connect = async (agent: string) => {
      const client = await master.client();
      await client.initialize({ agent, events: true });
      return client;
    };
    // It has asked its agent for something, and so its process is its own while it is there.
    const stays = await connect("bound");
    await stays.call("authenticate", { methodId: "m" });
    const leaves = await connect("busy");
    await leaves.newSession();
    await leaves.close();
    // Last of all, so that whatever ends the other two by mistake ends them first.
    const last = await connect("idle");
    const { sessionId } = await last.newSession();
    const ending = await idle.process(0);
    await last.call("session/delete", { sessionId });
    await last.close();
    await within(ending.inputEnded, "the idle process is asked to end");
    await ending.gone;
    await stays.waitFor(({ params }) => params?.type === "agent_exited" && params.agent === "idle");
    const status = await stays.call("_acp-master/status", {});
    expect(status.agents.map(({ name }: { name: string }) => name).toSorted()).toEqual(["bound", "busy"]);
    expect(status.exits).toMatchObject([{ agent: "idle" }]);
    // Its end was no failure: the next client has one at once.
    await connect("idle");
    expect(idle.processes).toHaveLength(2);
    // What held the others is gone now.
    await stays.close();
    const rest = await connect("busy");
    await rest.call("session/delete", { sessionId: "b" });
    await rest.close();
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    await eventually(
      async () => (await watcher.call("_acp-master/status", {})).agents.length === 0,
      "no process is left",
    );
  });

  it("is kept by a client that comes in time", async () => {
    await using agent = fakeAgent();
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    for (const _ of [1, 2]) {
      const client = await master.client();
      await client.initialize();
      await client.close();
    }
    expect(agent.processes).toHaveLength(1);
  });
});
