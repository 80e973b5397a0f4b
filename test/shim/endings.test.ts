// When the shim does not go on with the next daemon: what it says, and with which code it ends.
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { within } from "../harness/events.ts";
import { startMaster } from "../harness/master.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { crash, editorOf, goesOn, knows, masterOf, turn, written } from "./restarts.ts";

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

  it("when a session cannot be resumed, its folder or agent is gone, or the agent has other capabilities", async () => {
    await using forgetful = scripted({
      auto: {
        "session/resume": () => {
          throw new Error("gone");
        },
      },
    });
    await using changed = scripted({ sessionIds: ["b"] });
    await using removed = scripted({ sessionIds: ["c"] });
    await using homeless = scripted({ sessionIds: ["d"] });
    await using master = await startMaster({ agents: { forgetful, changed, removed, homeless } });
    const folder = join(master.work, "folder");
    mkdirSync(folder);
    const open = async (agent: string, cwd = master.work): Promise<RawClient> => {
      const editor = master.connect([agent, "--no-start"]);
      await editor.initialize();
      await editor.newSession({ cwd });
      return editor;
    };
    const editor = await open("forgetful");
    const others = [await open("changed"), await open("removed"), await open("homeless", folder)];
    await turn(editor, await forgetful.process(0), "one");
    await written(editor);
    await crash(master);
    await knows(editor);
    const held = editor.prompt("a", "two", 20_000);
    changed.setAuto("initialize", {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {}, fork: {} } },
    });
    master.configure({ agents: { forgetful, changed, homeless } });
    rmdirSync(folder);
    await master.serve();
    await ends(editor, /session a cannot be resumed: .*The agent answered with error/);
    expect((await held).error).toMatchObject({ data: { reason: "daemon_restarted" } });
    await ends(others[0]!, /other capabilities/);
    await ends(others[1]!, /refuses this connection: There is no agent "removed"/);
    await ends(others[2]!, /session d cannot be resumed: .*does not exist/);
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
    await knows(editor);
    // It would have started by now: this one is refused where another runs.
    await master.serve();
    await goesOn(editor);
    await editor.waitFor(() => editor.text("a").length === 4 << 20);
  });
});
