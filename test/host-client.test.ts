// File and terminal requests of an agent whose editor is gone: this host serves them, inside the session's folders.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "./harness/events.ts";
import { type Master, startMaster } from "./harness/master.ts";
import { isRunning } from "./harness/processes.ts";
import { fakeAgent, type ScriptedAgent } from "./harness/scripted-agent.ts";
import type { ScriptedProcess } from "./harness/scripted-process.ts";

const capabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

describe("an agent that was told of files and terminals, and whose editor is gone", () => {
  let agent: ScriptedAgent;
  let master: Master;
  let process: ScriptedProcess;

  beforeAll(async () => {
    agent = fakeAgent({ sessionIds: ["a", "b"] });
    master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const editor = await master.client();
    await editor.initialize({ capabilities });
    await editor.newSession();
    process = await agent.process(0);
    await editor.close();
  });
  afterAll(async () => {
    await master[Symbol.asyncDispose]();
    await agent[Symbol.asyncDispose]();
  });

  const ask = (method: string, params: object) => process.request(method, { sessionId: "a", ...params });

  it("writes and reads files inside the session's folder, and nowhere else", async () => {
    const path = join(master.work, "sub", "made.txt");
    expect((await ask("fs/write_text_file", { path, content: "one\ntwo\n" })).result).toEqual({});
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
    expect((await ask("fs/read_text_file", { path, line: 2, limit: 1 })).result).toEqual({ content: "two\n" });

    const outside = join(master.folder, "outside.txt");
    writeFileSync(outside, "secret");
    mkdirSync(join(master.work, "links"), { recursive: true });
    symlinkSync(outside, join(master.work, "links", "out"));
    for (const foreign of [outside, join(master.work, "..", "outside.txt"), join(master.work, "links", "out")]) {
      expect((await ask("fs/read_text_file", { path: foreign })).error?.code).toBe(-32603);
      expect((await ask("fs/write_text_file", { path: foreign, content: "x" })).error?.code).toBe(-32603);
    }
    expect(readFileSync(outside, "utf8")).toBe("secret");
    expect((await ask("fs/read_text_file", { path: join(master.work, "none") })).error?.code).toBe(-32002);
  });

  it("runs commands in terminals that end when they are killed or released", async () => {
    const { result } = await ask("terminal/create", { command: "sh", args: ["-c", "pwd; printf é; exit 3"] });
    const { terminalId } = result;
    expect((await ask("terminal/wait_for_exit", { terminalId })).result).toEqual({ exitCode: 3, signal: null });
    const { output } = (await ask("terminal/output", { terminalId })).result;
    expect(output).toBe(`${master.work}\né`);
    expect((await ask("terminal/release", { terminalId })).result).toEqual({});
    expect((await ask("terminal/output", { terminalId })).error).toBeDefined();

    const sleeper = (await ask("terminal/create", { command: "echo $$; exec sleep 1000" })).result.terminalId;
    const shown = async () => (await ask("terminal/output", { terminalId: sleeper })).result.output;
    const pid = Number(await eventually(async () => (await shown()).trim() || undefined, "the command tells its pid"));
    expect(isRunning(pid)).toBe(true);
    await ask("terminal/kill", { terminalId: sleeper });
    expect((await ask("terminal/wait_for_exit", { terminalId: sleeper })).result.signal).toBe("SIGKILL");
    expect(isRunning(pid)).toBe(false);
  });

  it("cuts output between characters and says so (FF-152)", async () => {
    const { terminalId } = (await ask("terminal/create", { command: "printf 'ééééé'", outputByteLimit: 5 })).result;
    await ask("terminal/wait_for_exit", { terminalId });
    expect((await ask("terminal/output", { terminalId })).result).toMatchObject({ output: "éé", truncated: true });
  });

  it("is not served where the preset forbids it, nor anything that was never announced", async () => {
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    await watcher.call("_acp-master/session/preset", { sessionId: "a", preset: "read-only" });
    const path = join(master.work, "forbidden.txt");
    expect((await ask("fs/write_text_file", { path, content: "x" })).error?.data?.reason).toBe("refused_by_preset");
    expect(existsSync(path)).toBe(false);
    await watcher.call("_acp-master/session/preset", { sessionId: "a", preset: "ask" });

    const plain = await master.client();
    await plain.initialize();
    await plain.newSession();
    const other = await agent.process(1);
    await plain.close();
    const refused = await other.request("fs/read_text_file", { sessionId: "b", path });
    expect(refused.error).toMatchObject({ code: -32601, data: { reason: "no_client" } });
  });

  it("has its commands ended with the session (FF-153)", async () => {
    const { terminalId } = (await ask("terminal/create", { command: "echo $$; exec sleep 1000" })).result;
    const shown = async () => (await ask("terminal/output", { terminalId })).result.output;
    const pid = Number(await eventually(async () => (await shown()).trim(), "the command tells its pid"));
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    await watcher.call("_acp-master/session/close", { sessionId: "a" });
    await eventually(() => !isRunning(pid), "the command has ended");
  });
});
