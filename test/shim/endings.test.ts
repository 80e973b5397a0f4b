// When the shim does not go on with the next daemon: what it says, and with which code it ends.
import { existsSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { crash, editorOf, goesOn, masterOf, turn, written } from "./restarts.ts";

const scripted = (more: Parameters<typeof fakeAgent>[0] = {}) =>
  fakeAgent({ sessionIds: ["a"], ...more, auto: { "session/prompt": false, ...more.auto } });

async function ends(editor: RawClient, says: RegExp): Promise<void> {
  expect(await within(editor.program!.exited, "the shim ends", 20_000)).toEqual({ code: 1, signal: null });
  expect(editor.program!.stderr.trim().split("\n").at(-1)).toMatch(says);
}

describe("the shim ends with 1 and says why", () => {
  it("when the daemon is stopped, and starts none", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    expect((await master.cli(["stop"])).code).toBe(0);
    await ends(editor, /was stopped/);
    expect(master.masterFile()).toBeUndefined();
  });

  it("when a session cannot be resumed; what the editor asked meanwhile is answered", async () => {
    await using agent = scripted({
      auto: {
        "session/resume": () => {
          throw new Error("gone");
        },
      },
    });
    await using master = await masterOf(agent);
    const editor = await editorOf(master, ["--no-start"]);
    await turn(editor, await agent.process(0), "one");
    await written(editor);
    await crash(master);
    await eventually(() => editor.program!.stderr.includes("goes on with the next one"), "the shim knows");
    const held = editor.prompt("a", "two", 20_000);
    await master.serve();
    expect((await held).error).toMatchObject({ data: { reason: "daemon_restarted" } });
    await ends(editor, /session a cannot be resumed: .*The agent answered with error/);
  });

  it("when its folder is gone", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master, ["--no-start"]);
    await crash(master);
    rmSync(master.work, { recursive: true });
    await master.serve();
    await ends(editor, /session a cannot be resumed: .*does not exist/);
    expect(existsSync(master.work)).toBe(false);
  });

  it("when the agent has other capabilities than the editor was promised", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master, ["--no-start"]);
    await crash(master);
    agent.setAuto("initialize", {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, fork: {} } },
    });
    await master.serve();
    await ends(editor, /other capabilities/);
  });

  it("when its agent is not configured any more", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master, ["--no-start"]);
    await crash(master);
    master.configure({ config: {} });
    await master.serve();
    await ends(editor, /refuses this connection: There is no agent "fake"/);
  });
});

describe("the shim starts no daemon", () => {
  it("after one that was stopped, also when the editor did not read why", async () => {
    await using agent = scripted();
    await using master = await masterOf(agent);
    const editor = await editorOf(master);
    const process = await agent.process(0);
    editor.pause();
    for (let n = 0; n < 4; n++) await process.say("a", "x".repeat(1 << 20));
    expect((await master.cli(["stop"])).code).toBe(0);
    editor.resume();
    await eventually(() => editor.program!.stderr.includes("goes on with the next one"), "the shim knows");
    // It would have started by now: this one is refused where another runs.
    await master.serve();
    await goesOn(editor);
    await editor.waitFor(() => editor.text("a").length === 4 << 20);
  });
});
