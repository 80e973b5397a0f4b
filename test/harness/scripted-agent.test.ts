// The harness on itself: a scripted agent driven by a raw client, with no master in between.
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isRunning, processesMarked, processGone } from "./processes.ts";
import { Program } from "./program.ts";
import { RawClient } from "./raw-client.ts";
import { fakeAgent, type ScriptedAgent } from "./scripted-agent.ts";

function start(agent: ScriptedAgent): RawClient {
  const { command, args, env } = agent.definition;
  return RawClient.overProgram(new Program(command, args ?? [], { env: { PATH: process.env.PATH ?? "", ...env } }));
}

describe("the scripted agent", () => {
  it("answers initialize, session/new and session/prompt by itself and gives the ids it was told", async () => {
    await using agent = fakeAgent({ sessionIds: ["one"], capabilities: { loadSession: false } });
    await using client = start(agent);
    expect((await client.initialize()).agentCapabilities.loadSession).toBe(false);
    expect(await client.newSession()).toEqual({ sessionId: "one" });
    expect((await client.newSession()).sessionId).toBe("s-2");
    expect((await client.prompt("one", "hi")).result).toEqual({ stopReason: "end_turn" });
  });

  it("shows every line as the bytes that came, and writes bytes as they are, in pieces", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using client = start(agent);
    await client.initialize();
    const odd = '{"jsonrpc":"2.0", "id":7,"method":"session/prompt","params":{"n":9007199254740993,"u":"ü"}}';
    await client.send(odd);
    const process = await agent.process();
    expect((await process.received("session/prompt")).text).toBe(odd);
    const line = '{"jsonrpc":"2.0","id":7,"result":{"stopReason":"ü"}}\n';
    await process.sendRaw(line, 3);
    expect((await client.next((message) => message.id === 7)).text).toBe(line.trimEnd());
  });

  it("asks permission, and the client's responder answers", async () => {
    await using agent = fakeAgent();
    await using client = start(agent);
    client.answer("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }));
    await client.initialize();
    const answer = await (await agent.process()).askPermission("s-1");
    expect(answer.result.outcome.optionId).toBe("yes");
  });

  it("exits, dies by a signal, lives on without stdin, and tells when it is gone", async () => {
    await using agent = fakeAgent({ start: { ignoreEof: true } });
    await using first = start(agent);
    await using second = start(agent);
    const [one, two] = [await agent.process(0), await agent.process(1)];
    expect(one.env.FIXTURE_RUN).toBe(agent.marker);
    first.endInput();
    second.endInput();
    await Promise.all([one.inputEnded, two.inputEnded]);
    expect(isRunning(one.pid) && isRunning(two.pid)).toBe(true);
    await one.exit(3);
    await two.signal("SIGKILL");
    await Promise.all([first.ended, second.ended]);
    const exits = await Promise.all([first.program?.exited, second.program?.exited]);
    expect(new Set(exits.map((exit) => exit?.code ?? exit?.signal))).toEqual(new Set([3, "SIGKILL"]));
  });

  it("closes its stdout or its stdin and lives on", async () => {
    await using agent = fakeAgent();
    await using client = start(agent);
    const process = await agent.process();
    await process.closeStdin();
    await process.closeStdout();
    await client.ended;
    expect(isRunning(process.pid)).toBe(true);
    await process.exit();
  });

  it("fails its disposal when a child of it is left behind, and ends that child", async () => {
    const agent = fakeAgent();
    await using client = start(agent);
    const process = await agent.process();
    const child = await process.spawn({ detached: true });
    expect(processesMarked(agent.marker).map((one) => one.pid)).toContain(child);
    await client.close();
    await expect(agent[Symbol.asyncDispose]()).rejects.toThrow(`left behind: ${child} `);
    await processGone(child);
  });
});

describe("the raw client", () => {
  it("proves silence by a round trip, and fails when something came before its answer", async () => {
    await using agent = fakeAgent({
      auto: { "_acp-master/status": (_, process) => process.say("s", "x").then(() => ({})) },
    });
    await using client = start(agent);
    await client.initialize();
    await client.expectSilence(undefined, { through: () => client.request("authenticate") });
    await expect(client.expectSilence()).rejects.toThrow("silence was expected");
  });

  it("fails a wait at once when the other side ends, and says what came before", async () => {
    await using agent = fakeAgent();
    await using client = start(agent);
    await client.initialize();
    const wait = client.next("session/update");
    await (await agent.process()).exit(0);
    await expect(wait).rejects.toThrow(/ended .*"agentInfo"/s);
    if (client.program?.running) await once(client.program.child, "close");
  });
});
