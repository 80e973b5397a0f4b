// An idle editor over `acp-master connect` sees no more than a pause, however its daemon goes.
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Master } from "../harness/master.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { crash, editorOf, goesOn, masterOf, startedOver, turn, turnIn, written } from "./restarts.ts";

const notice = (text: string) => ({ sessionUpdate: "notice", level: "info", text });
const scripted = () => fakeAgent({ auto: { "session/prompt": false }, sessionIds: ["a", "b", "c"] });

describe("an idle editor", () => {
  it.each([
    ["is killed", crash],
    ["restarts", async (master: Master) => expect((await master.cli(["restart"])).code).toBe(0)],
  ])("whose daemon %s goes on in its sessions and is told nothing twice", async (_, end) => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    await editor.newSession({ mcpServers: [{ name: "m", command: "/bin/true", args: [], env: [] }] });
    const first = await agent.process(0);
    await turn(editor, first, "one");
    await turn(editor, first, "uno", "b");
    await first.update("a", { sessionUpdate: "available_commands_update", availableCommands: [] });
    await written(editor);
    const before = editor.lines.all.length;
    await end(master);
    await goesOn(editor);
    expect(editor.lines.all.slice(before)).toEqual([]);

    const second = await agent.process(1);
    expect(second.count("session/resume")).toBe(2);
    const [, resumed] = second.lines.all.filter(({ message }) => message.method === "session/resume");
    expect(resumed!.message.params).toMatchObject({ sessionId: "b", cwd: master.work, mcpServers: [{ name: "m" }] });
    expect(await turn(editor, second, "two")).toEqual({ stopReason: "end_turn" });
    expect(await turn(editor, second, "due", "b")).toEqual({ stopReason: "end_turn" });
    expect(editor.text("a")).toBe("onetwo");
    expect(editor.text("b")).toBe("unodue");
    expect(startedOver(editor)).toBe(0);
    // What only the shim and its daemon say to each other stays between them.
    expect(editor.lines.all.filter(({ text }) => text.includes("_acp-master/"))).toEqual([]);
    expect(editor.program!.running).toBe(true);
  });

  it("gets what others did in its session, but not what it did itself", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    const other = await master.client();
    await other.initialize();
    await other.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    const first = await agent.process(0);
    await turn(editor, first, "one");
    await turn(other, first, "two");
    await written(editor);
    await crash(master);
    await goesOn(editor);
    const asked = () =>
      editor
        .updates("a")
        .filter((update) => update.sessionUpdate === "user_message_chunk")
        .map((update) => update.content.text);
    expect(asked()).toEqual(["say two"]);
    await turn(editor, await agent.process(1), "three");
    expect(editor.text("a")).toBe("onetwothree");
    expect(asked()).toEqual(["say two"]);
  });

  it("is not told of updates that it did not announce, also of those that a former daemon wrote", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    const first = await agent.process(0);
    await first.update("a", notice("one"));
    await turn(editor, first, "one");
    await written(editor);
    await crash(master);
    await goesOn(editor);
    const second = await agent.process(1);
    await second.update("a", notice("two"));
    await turn(editor, second, "two");
    expect(editor.text("a")).toBe("onetwo");
    expect(startedOver(editor)).toBe(0);
    const late = await master.client();
    await late.initialize();
    await late.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(late.updates("a").map(({ sessionUpdate }) => sessionUpdate)).not.toContain("notice");
    expect(late.text("a")).toBe("onetwo");
  });

  it("of a session that another client closed is not asked to resume it", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    await editor.newSession();
    await editor.newSession();
    const first = await agent.process(0);
    await turn(editor, first, "one");
    await turn(editor, first, "two", "b");
    await turn(editor, first, "three", "c");
    await editor.call("session/close", { sessionId: "c" });
    expect((await master.cli(["close", "b"])).code).toBe(0);
    await crash(master);
    await goesOn(editor);
    const second = await agent.process(1);
    const resumed = second.lines.all.filter(({ message }) => message.method === "session/resume");
    expect(resumed.map(({ message }) => message.params.sessionId)).toEqual(["a"]);
    await turn(editor, second, "four");
  });

  it("that has asked nothing yet goes on, also where the agent keeps nothing of such a session", async () => {
    await using agent = fakeAgent({
      sessionIds: ["a", "b", "c"],
      auto: {
        "session/prompt": false,
        "session/resume": ({ sessionId }) => {
          if (sessionId === "a") throw new Error("never heard of it");
          return {};
        },
      },
    });
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    await (await agent.process(0)).update("a", { sessionUpdate: "available_commands_update", availableCommands: [] });
    await editor.next("session/update");
    await crash(master);
    await goesOn(editor);
    const second = await agent.process(1);
    await turnIn(editor, second, { sessionId: "a", agentId: "b" }, "one");
    await written(editor);
    const rows = (await editor.call("_acp-master/sessions", {})).sessions;
    expect(rows.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(["a"]);
    // It had a turn now: the next daemon resumes it in the agent under the agent's own id.
    await crash(master);
    await goesOn(editor, 2);
    const third = await agent.process(2);
    expect((await third.received("session/resume")).message.params.sessionId).toBe("b");
    await turnIn(editor, third, { sessionId: "a", agentId: "b" }, "two");
    expect(editor.text("a")).toBe("onetwo");
    expect(editor.received("session/update").every(({ params }) => params.sessionId === "a")).toBe(true);
  });

  it("that only looks on goes on looking", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    const watcher = master.connect(["fake", "--observer"]);
    await watcher.initialize();
    await watcher.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    await turn(client, await agent.process(0), "one");
    await written(watcher);
    await crash(master);
    await goesOn(watcher);
    const next = await master.client();
    await next.initialize();
    await next.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    await turn(next, agent.processes.at(-1)!, "two");
    await watcher.waitFor(() => watcher.text("a") === "onetwo");
    expect(startedOver(watcher)).toBe(0);
  });

  it("that never said anything is served by the next daemon", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = master.connect(["fake"]);
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    const clients = async () => (await watcher.call("_acp-master/status", {})).clients;
    await eventually(async () => (await clients()) === 2, "the shim is connected");
    await crash(master);
    await eventually(() => editor.program!.stderr.includes("goes on with the next one"), "the shim knows");
    await editor.initialize();
    await editor.newSession();
  });
});
