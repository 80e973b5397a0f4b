// The harness on a real daemon: what it starts, what it sees, and that it notices what is left behind.
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeHome } from "./home.ts";
import { startMaster } from "./master.ts";
import { isRunning, processGone } from "./processes.ts";
import { Program } from "./program.ts";
import { fakeAgent } from "./scripted-agent.ts";

describe("startMaster", () => {
  it("gives a daemon whose agent is under the test's control, over the socket and over connect", async () => {
    await using agent = fakeAgent({ sessionIds: ["a", "b"], auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    for (const client of [await master.client(), master.connect(["fake"])]) {
      await client.initialize();
      const { sessionId } = await client.newSession();
      const turn = client.prompt(sessionId, "hello");
      const process = await agent.process(0);
      const prompt = await process.received("session/prompt");
      expect(prompt.message.params.prompt[0].text).toBe("hello");
      await process.say(prompt.message.params.sessionId, "hi");
      await process.answer(prompt, { stopReason: "end_turn" });
      expect((await turn).result.stopReason).toBe("end_turn");
      expect(client.text(sessionId)).toBe("hi");
      await client.expectSilence();
    }
  });

  it("stops, starts again in the same home, runs commands, reads the log, and removes everything at the end", async () => {
    let folder: string;
    let pid: number;
    {
      await using master = await startMaster();
      folder = master.folder;
      expect(await master.stop()).toMatchObject({ code: 0 });
      await master.serve();
      pid = master.pid;
      expect(master.masterFile()?.pid).toBe(pid);
      expect((await master.cli(["status", "--json"])).code).toBe(0);
      expect(master.logLines().length).toBeGreaterThan(0);
      await master.kill9();
      expect(isRunning(pid)).toBe(false);
      await master.serve();
      pid = master.pid;
    }
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  it("says why when the daemon does not start", async () => {
    await expect(startMaster({ config: "{ no json" })).rejects.toThrow(/ended before it was ready.*config\.json/s);
  });
});

describe("a home", () => {
  it("fails its disposal when a process of it is left behind, and ends that process", async () => {
    const home = makeHome();
    const stray = new Program(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { env: home.env });
    await expect(home[Symbol.asyncDispose]()).rejects.toThrow(`left behind: ${stray.pid} `);
    await processGone(stray.pid);
    await stray.exited;
  });
});
