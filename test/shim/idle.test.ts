// An idle editor over `acp-master connect` sees no more than a pause, however its daemon goes.
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Master } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { crash, editorOf, goesOn, knows, masterOf, startedOver, turn, turnIn, written } from "./restarts.ts";

/** What the client was told that people asked. */
const asked = (client: RawClient): string[] =>
  client
    .updates("a")
    .filter((update) => update.sessionUpdate === "user_message_chunk")
    .map((update) => update.content.text);

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
    await editor.waitFor(({ params }) => params?.update?.sessionUpdate === "available_commands_update");
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

  it("is told what others did and not what it did itself or did not announce; nobody looks for closed sessions", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    for (const sessionId of ["b", "c"]) expect((await editor.newSession()).sessionId).toBe(sessionId);
    const other = await master.client();
    await other.initialize();
    const load = (client: RawClient) =>
      client.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] }, 20_000);
    await load(other);
    const watcher = master.connect(["fake", "--observer"]);
    await watcher.initialize();
    await load(watcher);
    const first = await agent.process(0);
    await first.update("a", notice("one"));
    await turn(editor, first, "one");
    await turn(other, first, "two");
    for (const sessionId of ["b", "c"]) await turn(editor, first, "never mind", sessionId);
    await editor.call("session/close", { sessionId: "b" });
    expect((await master.cli(["close", "c"])).code).toBe(0);
    for (const client of [editor, watcher]) await written(client);
    await crash(master);
    for (const client of [editor, watcher]) await goesOn(client);

    const second = await agent.process(1);
    await second.update("a", notice("two"));
    await turn(editor, second, "three");
    const resumed = second.lines.all.filter(({ message }) => message.method === "session/resume");
    expect(resumed.map(({ message }) => message.params.sessionId)).toEqual(["a"]);
    await watcher.waitFor(() => watcher.text("a") === "onetwothree");
    const late = await master.client();
    await late.initialize();
    await load(late);
    for (const client of [editor, watcher, late]) {
      expect(client.text("a")).toBe("onetwothree");
      expect(client.updates("a").map(({ sessionUpdate }) => sessionUpdate)).not.toContain("notice");
    }
    expect(asked(editor)).toEqual(["say two"]);
    expect(asked(watcher)).toEqual(["say one", "say two", "say three"]);
    expect(startedOver(editor) + startedOver(watcher)).toBe(0);
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

  it("that never said anything is served by the next daemon", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = master.connect(["fake"]);
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    const clients = async () => (await watcher.call("_acp-master/status", {})).clients;
    await eventually(async () => (await clients()) === 2, "the shim is connected");
    await crash(master);
    await knows(editor);
    await editor.initialize();
    await editor.newSession();
  });
});
