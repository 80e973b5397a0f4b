// What is open when a daemon goes: requests fail once and are never handed on twice, dialogs close and decide nothing, and
// what an editor says meanwhile waits.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { within } from "../harness/events.ts";
import type { Message } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { crash, editorOf, goesOn, knows, masterOf, turn, written } from "./restarts.ts";

const yes = (id: unknown) => ({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: "yes" } } });

const scripted = () => fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });

describe("an editor in mid-turn", () => {
  it("is told once that its prompt failed; the agent never gets it again, and goes on with the next one", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    const first = await agent.process(0);
    const running = editor.prompt("a", "one", 20_000);
    const queued = editor.prompt("a", "two", 20_000);
    await first.received("session/prompt");
    await first.say("a", "half");
    await editor.next("session/update");
    await written(editor);
    await crash(master);
    for (const lost of [running, queued]) {
      expect((await lost).error).toMatchObject({ code: -32062, data: { reason: "daemon_restarted" } });
    }
    await goesOn(editor);
    const second = await agent.process(1);
    expect(await turn(editor, second, "three")).toEqual({ stopReason: "end_turn" });
    expect(second.count("session/prompt")).toBe(1);
    expect(editor.text("a")).toBe("halfthree");
    expect(editor.lines.all.filter(({ message }) => message.id === 3 || message.id === 4)).toHaveLength(2);
    // What the lost turn left is in the session's history, once.
    const late = await master.client();
    await late.initialize();
    await late.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(late.text("a")).toBe("halfthree");
  });
});

describe("an open dialog", () => {
  it("is closed; its late answer reaches nobody and the permission is refused", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    const first = await agent.process(0);
    void editor.prompt("a", "one", 20_000).catch(() => {});
    await first.received("session/prompt");
    void first.askPermission("a").catch(() => {});
    const dialog = await editor.next("session/request_permission");
    const { approvalId } = dialog.message.params._meta["acp-master"];
    await written(editor);
    await crash(master);
    const closed = await editor.next("$/cancel_request");
    expect(closed.message.params).toEqual({ requestId: dialog.message.id });
    await goesOn(editor);
    await editor.send(yes(dialog.message.id));

    const second = await agent.process(1);
    const turn = editor.prompt("a", "two", 20_000);
    const prompt = await second.received("session/prompt");
    const again = second.askPermission("a");
    const next = await editor.next("session/request_permission");
    await editor.send(yes(next.message.id));
    // The agent of now gets the answer to its own question, and only that.
    expect((await again).result).toEqual({ outcome: { outcome: "selected", optionId: "yes" } });
    expect(second.lines.all.filter(({ message }) => message.method === undefined && "result" in message)).toHaveLength(
      1,
    );
    await second.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    const { counters } = await editor.call("_acp-master/status", {});
    expect(counters.lateAnswers).toBe(0);
    const record = readFileSync(join(master.home, "state", "audit.ndjson"), "utf8").split("\n");
    const settled = record.filter((line) => line.includes(approvalId)).map((line) => JSON.parse(line));
    expect(settled).toMatchObject([{ outcome: { result: "cancelled" }, by: { kind: "agent_exit" } }]);
    expect((await master.cli(["audit", "verify"])).code).toBe(0);
  });
});

describe("while no daemon runs", () => {
  it("what editors send waits in order; those that go or are ended need not wait", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await masterOf(agent);
    const open = async () => {
      const editor = master.connect(["fake", "--no-start"]);
      await editor.initialize();
      return { editor, sessionId: (await editor.newSession()).sessionId };
    };
    const [waits, asks, goes, isEnded] = [await open(), await open(), await open(), await open()];
    await crash(master);
    for (const { editor } of [waits, asks, goes, isEnded]) await knows(editor);

    const cancelled = waits.editor.prompt(waits.sessionId, "one", 20_000);
    await waits.editor.notify("session/cancel", { sessionId: waits.sessionId });
    const held = waits.editor.prompt(waits.sessionId, "two", 20_000);
    await waits.editor.send("this is no JSON");
    const late = asks.editor.prompt(asks.sessionId, "three", 20_000);
    asks.editor.endInput();
    goes.editor.endInput();
    expect(await within(goes.editor.program!.exited, "the shim ends")).toEqual({ code: 0, signal: null });
    isEnded.editor.program!.child.kill("SIGTERM");
    expect(await within(isEnded.editor.program!.exited, "the shim ends")).toEqual({ code: 130, signal: null });

    await master.serve();
    const second = await agent.process(1);
    const answered = async (editor: RawClient, sessionId: string, turn: Promise<Message>): Promise<string> => {
      const prompt = await second.received(
        ({ method, params }) => method === "session/prompt" && params.sessionId === sessionId,
      );
      await second.say(sessionId, "heard");
      await second.answer(prompt, { stopReason: "end_turn" });
      expect((await turn).result).toEqual({ stopReason: "end_turn" });
      expect(editor.text(sessionId)).toBe("heard");
      return prompt.message.params.prompt[0].text;
    };
    // The cancel came between the two prompts: it ends the first alone, which no agent has to hear of.
    expect((await cancelled).result).toEqual({ stopReason: "cancelled" });
    expect(await answered(waits.editor, waits.sessionId, held)).toBe("two");
    expect((await waits.editor.waitFor(({ error }) => error?.code === -32700)).message.id).toBeNull();
    expect(await answered(asks.editor, asks.sessionId, late)).toBe("three");
    expect(await within(asks.editor.program!.exited, "the shim ends")).toEqual({ code: 0, signal: null });
  });
});
