// What is open when a daemon goes: requests fail once and are never handed on twice, dialogs close and decide nothing, and
// what an editor says meanwhile waits.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import type { Master } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { crash, editorOf, goesOn, masterOf, turn, written } from "./restarts.ts";

const yes = (id: unknown) => ({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: "yes" } } });

/** An editor whose daemon is gone, and which starts none. */
async function away(master: Master): Promise<RawClient> {
  const editor = await editorOf(master, ["--no-start"]);
  await crash(master);
  await eventually(() => editor.program!.stderr.includes("goes on with the next one"), "the shim knows");
  return editor;
}

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
    void editor.prompt("a", "two", 20_000).catch(() => {});
    await second.received("session/prompt");
    const again = second.askPermission("a");
    const next = await editor.next("session/request_permission");
    await editor.send(yes(next.message.id));
    // The agent of now gets the answer to its own question, and only that.
    expect((await again).result).toEqual({ outcome: { outcome: "selected", optionId: "yes" } });
    expect(second.lines.all.filter(({ message }) => message.method === undefined && "result" in message)).toHaveLength(
      1,
    );
    const { counters } = await editor.call("_acp-master/status", {});
    expect(counters.lateAnswers).toBe(0);
    const record = readFileSync(join(master.home, "state", "audit.ndjson"), "utf8").split("\n");
    const settled = record.filter((line) => line.includes(approvalId)).map((line) => JSON.parse(line));
    expect(settled).toMatchObject([{ outcome: { result: "cancelled" }, by: { kind: "agent_exit" } }]);
    expect((await master.cli(["audit", "verify"])).code).toBe(0);
  });
});

describe("while no daemon runs", () => {
  it("what the editor sends waits, in order, for the next one", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await away(master);
    const held = editor.prompt("a", "one", 20_000);
    await editor.notify("session/cancel", { sessionId: "a" });
    const other = editor.prompt("a", "two", 20_000);
    await editor.send("this is no JSON");
    await master.serve();
    // The cancel came between the two: it ends the first alone, which no agent has to hear of.
    expect((await held).result).toEqual({ stopReason: "cancelled" });
    const second = await agent.process(1);
    const prompt = await second.received("session/prompt");
    expect(prompt.message.params.prompt[0].text).toBe("two");
    await second.answer(prompt, { stopReason: "end_turn" });
    expect((await other).result).toEqual({ stopReason: "end_turn" });
    expect((await editor.waitFor((message) => message.error?.code === -32700)).message.id).toBeNull();
  });

  it("an editor that goes is let go with 0, at once when nothing of it waits", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await away(master);
    editor.endInput();
    expect(await within(editor.program!.exited, "the shim ends")).toEqual({ code: 0, signal: null });
  });

  it("an editor that asked something and goes gets its answer from the next one, then the shim ends with 0", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await away(master);
    const held = editor.prompt("a", "one", 20_000);
    editor.endInput();
    await master.serve();
    const second = await agent.process(1);
    const prompt = await second.received("session/prompt");
    await second.say("a", "late");
    await second.answer(prompt, { stopReason: "end_turn" });
    expect((await held).result).toEqual({ stopReason: "end_turn" });
    expect(editor.text("a")).toBe("late");
    expect(await within(editor.program!.exited, "the shim ends")).toEqual({ code: 0, signal: null });
  });

  it("the shim ends at SIGTERM", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await away(master);
    editor.program!.child.kill("SIGTERM");
    expect(await within(editor.program!.exited, "the shim ends")).toEqual({ code: 130, signal: null });
  });
});
