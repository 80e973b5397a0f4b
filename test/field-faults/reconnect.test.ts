// Field faults of kind reconnect: who comes back has each update once and in order, and a request that was lost is an error,
// never silence and never done twice.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench, chunk } from "../harness/bench.ts";
import { eventually, within } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import { type Master, startMaster } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { filesWith } from "../proposals/everything-of-the-master.ts";
import { fakeAgent, type ScriptedAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

const done = { stopReason: "end_turn" };
const PERMISSION = "session/request_permission";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 12 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const upTo = (n: number, from = 1): number[] => Array.from({ length: n - from + 1 }, (_, i) => from + i);
const numbersOf = (client: RawClient): number[] => client.text().split(",").slice(0, -1).map(Number);
const saw = (client: RawClient, n: number) => client.waitFor(({ params }) => params?.update?.content?.text === `${n},`);
const lines = (sessionId: string, numbers: readonly number[]): string =>
  numbers
    .map((n) => ({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: chunk(`${n},`) } }))
    .map((message) => `${JSON.stringify(message)}\n`)
    .join("");

describe("FF-96: a client that drops in the middle of a turn and comes back", () => {
  /** Each goes in another way. */
  const ways: Record<string, (client: RawClient) => Promise<unknown> | void> = {
    "its connection is cut": (client) => client.close(),
    "it is cut in the middle of a line": async (client) => {
      await client.send(Buffer.from('{"jsonrpc":"2.0","id":9,"method":"session/pro'));
      await client.close();
    },
    "it has stopped reading": (client) => client.pause(),
    "it has ended its input": (client) => client.endInput(),
  };

  it.each(Object.entries(ways))("has all of it once and in order, though %s", async (_, go) => {
    const bay = bench.agent({ "session/prompt": false });
    const first = await bay.client();
    const { sessionId } = await first.newSession();
    first.prompt(sessionId, "count").catch(() => {}); // its answer may find nobody
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    await process.sendRaw(lines(sessionId, upTo(40)));
    await saw(first, 40);
    await process.sendRaw(lines(sessionId, upTo(50, 41)));
    await go(first);
    await process.sendRaw(lines(sessionId, upTo(60, 51)));
    const second = await bay.client();
    const loaded = second.call("session/load", { sessionId, ...place() });
    await process.sendRaw(lines(sessionId, upTo(90, 61)));
    await loaded;
    await process.sendRaw(lines(sessionId, upTo(99, 91)));
    await process.answer(prompt, done);
    await process.sendRaw(lines(sessionId, [100]));
    await saw(second, 100);
    expect(numbersOf(second)).toEqual(upTo(100));
    // What it had before is the beginning of the same.
    expect(numbersOf(first)).toEqual(upTo(numbersOf(first).length));
    expect(second.updates().filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk")).toHaveLength(1);
    expect(process.count("session/prompt")).toBe(1);
    // And once more: nothing was added by coming back.
    await second.call("session/load", { sessionId, ...place() });
    expect(numbersOf(second)).toEqual([...upTo(100), ...upTo(100)]);
    await first.close();
  });

  it("has all of it again each time it comes, however often, while more is being said", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const first = await bay.client();
    const { sessionId } = await first.newSession();
    const process = await bay.process();
    const [rounds, perRound] = [15, 40];
    for (let round = 0; round < rounds; round++) {
      const sent = process.sendRaw(lines(sessionId, upTo((round + 1) * perRound, round * perRound + 1)), 997);
      const client = await bay.client();
      await client.call("session/load", { sessionId, ...place() });
      // It goes wherever it happens to be.
      await client.close();
      expect(numbersOf(client)).toEqual(upTo(numbersOf(client).length));
      await sent;
    }
    await saw(first, rounds * perRound);
    expect(numbersOf(first)).toEqual(upTo(rounds * perRound));
  });

  it("finds the question that was open, once, and its answer counts; the old connection is asked nothing more", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const first = await bay.client();
    const { sessionId } = await first.newSession();
    first.prompt(sessionId, "ask").catch(() => {}); // its answer finds nobody
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const asked = process.askPermission(sessionId);
    await first.next(PERMISSION);
    first.pause();
    // It is back before anybody has noticed that it was gone.
    const second = await bay.client();
    await second.call("session/load", { sessionId, ...place() });
    const offer = await second.next(PERMISSION);
    await bench.leave(first);
    const outcome = { outcome: "selected", optionId: "yes" };
    await second.send({ jsonrpc: "2.0", id: offer.message.id, result: { outcome } });
    expect((await asked).result.outcome).toEqual(outcome);
    expect(second.received(PERMISSION)).toHaveLength(1);
    await process.answer(prompt, done);
  });
});

describe("FF-97: updates that cannot be told apart by their time or their words", () => {
  it("are all there, for who was there and for who came back in between", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const first = await bay.client();
    const { sessionId } = await first.newSession();
    const process = await bay.process();
    const same = lines(sessionId, [7]);
    await process.sendRaw(same.repeat(250));
    const second = await bay.client();
    const loading = second.call("session/load", { sessionId, ...place() });
    await process.sendRaw(same.repeat(250));
    await loading;
    await process.sendRaw(lines(sessionId, [8]));
    for (const client of [first, second]) {
      await saw(client, 8);
      expect(numbersOf(client)).toEqual([...upTo(500).map(() => 7), 8]);
    }
    const third = await bay.client();
    await third.call("session/load", { sessionId, ...place() });
    expect(numbersOf(third)).toEqual(numbersOf(first));
  });

  it("are all there after the daemon was killed, and those of its next life as well", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const first = await master.client();
    await first.initialize();
    await first.newSession();
    await (await agent.process(0)).sendRaw(lines("a", [7]).repeat(500));
    await eventually(() => first.updates().length === 500, "all have come");
    // The write follows what was sent, in the same turn of the daemon's loop or the next.
    for (const _ of [1, 2]) await first.call("_acp-master/status", {});
    await master.kill9();
    await master.serve();
    const second = await master.client();
    await second.initialize();
    await second.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect((await second.prompt("a", "go on")).result).toEqual(done);
    await (await agent.process(1)).sendRaw(lines("a", [7]).repeat(500) + lines("a", [8]));
    await saw(second, 8);
    expect(numbersOf(second)).toEqual([...upTo(1000).map(() => 7), 8]);
  });
});

describe("FF-130: an editor whose daemon goes and comes again", () => {
  let agent: ScriptedAgent;
  let master: Master;
  beforeAll(async () => {
    agent = fakeAgent({ auto: { "session/prompt": false, "_x/never": false } });
    master = await startMaster({
      agents: { fake: agent },
      config: { defaultAgent: "fake", daemon: { drainSeconds: 0 }, helper: { use: "ask", isolation: "shared" } },
    });
  });
  afterAll(async () => {
    await master[Symbol.asyncDispose]();
    await agent[Symbol.asyncDispose]();
  });

  const ends: Record<string, (process: ScriptedProcess, prompt: Line) => Promise<unknown>> = {
    "killed and started by somebody": async () => {
      await master.kill9();
      await master.serve();
    },
    "stopped in order and started by somebody": async (process, prompt) => {
      const stopped = master.stop();
      await process.received("session/cancel");
      await process.answer(prompt, { stopReason: "cancelled" });
      await stopped;
      await master.serve();
    },
  };

  it.each(Object.entries(ends))(
    "has every lost request answered, none sent again, and goes on or ends with a word (%s)",
    async (_, end) => {
      const shim = master.connect(["fake", "--no-start"]);
      await shim.initialize();
      const { sessionId } = await shim.newSession();
      const text = `once ${Math.random()}`;
      const turn = shim.prompt(sessionId, text);
      const others = [shim.request("_x/never", { sessionId }), shim.request("_x/never", { sessionId }, "named")];
      const process = agent.processes.at(-1)!;
      const prompt = await process.received("session/prompt");
      for (const __ of others) await process.received("_x/never");
      // What nobody but its author has seen is written a millisecond later.
      await eventually(() => filesWith(text, master.folder).length > 0, "the prompt in the journal");
      await end(process, prompt);
      const ended = await turn;
      // One that the daemon could still end is ended, one that it could not is an error.
      if (ended.error) expect(ended.error.data.reason).toMatch(/^(daemon_restarted|agent_exited)$/);
      else expect(ended.result).toEqual({ stopReason: "cancelled" });
      for (const answer of others) expect((await answer).error?.message).toMatch(/\w/);
      // It works as before, or the editor is told why not.
      const next = shim.request("session/new", { cwd: master.work, mcpServers: [] });
      const goesOn = next.then(({ result, error }) => expect(result ?? error?.message).toBeDefined());
      const saysWhy = shim.program!.exited.then(() => expect(shim.program!.stderr).toMatch(/acp-master: .{20,}/));
      await within(Promise.any([goesOn, saysWhy]), "the editor goes on, or its shim ends with a word");
      const prompts = agent.processes.flatMap((one: ScriptedProcess) =>
        one.lines.all.filter((line) => line.message.method === "session/prompt" && line.text.includes(text)),
      );
      expect(prompts).toHaveLength(1);
      // A new connection finds the session and what was said.
      const again = master.connect(["fake", "--no-start"]);
      await again.initialize();
      await again.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
      expect(again.updates(sessionId).map(({ content }) => content.text)).toEqual([text]);
      // Nobody's editor is left to take up what the next test leaves.
      for (const client of [shim, again]) await client.close();
    },
  );

  it("as a plain client sees its connection end and is served on a new one", async () => {
    const client = await master.client();
    await client.initialize();
    const { sessionId } = await client.newSession();
    void client.prompt(sessionId, "cut off").catch(() => {});
    await agent.processes.at(-1)!.received("session/prompt");
    await master.kill9();
    await within(client.ended, "the client sees the end");
    await master.serve();
    const next = await master.client();
    await next.initialize();
    const turn = next.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
    await turn;
    expect((await next.call("_acp-master/sessions", {})).sessions.length).toBeGreaterThan(0);
  });
});
