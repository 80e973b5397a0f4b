// Field faults of kind backpressure: whoever does not read, be it a client, an agent or a Helper, costs a bounded amount of
// memory and delays nobody else, and nothing is lost without a word.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bay, Bench, chunk } from "../harness/bench.ts";
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import { residentBytesOf } from "../harness/processes.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

/** ACP_MASTER_FULL_SIZE=1 runs the faults at the size in which they were met. */
const full = process.env.ACP_MASTER_FULL_SIZE === "1";
const big = { timeout: full ? 180_000 : 30_000 };
const MIB = 1024 * 1024;
const done = { stopReason: "end_turn" };
const PERMISSION = "session/request_permission";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 16 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** A frame of this size that says its number. */
const bulky = (process: ScriptedProcess, sessionId: string, n: number, bytes: number) =>
  process.sendFilled(
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${n},"},"_meta":{"filler":"`,
    bytes,
    '"}}}}\n',
  );
const numbersOf = (client: RawClient): number[] => client.text().split(",").slice(0, -1).map(Number);

/** The most that the daemon holds while `work` goes on, above what it held before. */
async function growthWhile(work: (look: () => void) => Promise<void>): Promise<number> {
  const before = residentBytesOf(bench.master.pid);
  let most = before;
  await work(() => (most = Math.max(most, residentBytesOf(bench.master.pid))));
  return most - before;
}

/** Another agent's client, whose round trips show that nobody has to wait. */
async function bystander(): Promise<() => Promise<unknown>> {
  const bay = bench.agent();
  const client = await bay.client();
  const { sessionId } = await client.newSession();
  return async () => expect((await client.prompt(sessionId, "quick")).result).toEqual(done);
}

describe("FF-120: a client that stops reading", () => {
  it(
    "costs no memory and delays nobody, keeps its question, and has all of it in order when it reads again",
    big,
    async () => {
      const bay = bench.agent({ "session/prompt": false });
      const [frozen, good] = [await bay.client(), await bay.client()];
      const shim = bench.master.connect([bay.name, "--no-start"]);
      await shim.initialize();
      const { sessionId } = await frozen.newSession();
      const turn = frozen.prompt(sessionId, "much", big.timeout);
      const process = await bay.process();
      const prompt = await process.received("session/prompt");
      await good.call("session/resume", { sessionId, ...place() });
      await shim.call("session/resume", { sessionId, ...place() });
      const quick = await bystander();
      await quick();
      frozen.pause();
      globalThis.process.kill(shim.program!.pid, "SIGSTOP");
      const frames = full ? 500 : 64;
      const growth = await growthWhile(async (look) => {
        for (const n of upTo(frames)) {
          await bulky(process, sessionId, n, MIB);
          await quick();
          look();
        }
        await good.waitFor(({ params }) => params?.update?.content?.text === `${frames - 1},`);
      });
      // Of 64 MiB (500) for each of two clients.
      expect(growth).toBeLessThan((full ? 100 : 60) * MIB);
      const asked = process.askPermission(sessionId);
      const offer = await good.next(PERMISSION);
      expect(offer.message.params.toolCall.toolCallId).toBe("call-1");
      frozen.resume();
      globalThis.process.kill(shim.program!.pid, "SIGCONT");
      const late = await frozen.next(PERMISSION, big.timeout);
      expect(numbersOf(frozen)).toEqual(upTo(frames));
      await shim.next(PERMISSION, big.timeout);
      expect(numbersOf(shim)).toEqual(upTo(frames));
      const outcome = { outcome: "selected", optionId: "yes" };
      await frozen.send({ jsonrpc: "2.0", id: late.message.id, result: { outcome } });
      expect((await asked).result.outcome).toEqual(outcome);
      await process.answer(prompt, done);
      expect((await turn).result).toEqual(done);
      expect(numbersOf(good)).toEqual(upTo(frames));
    },
  );

  it("and still asks for more is cut off with a reason, and finds everything when it comes back", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const greedy = await bay.client({ events: true });
    const { sessionId } = await greedy.newSession();
    const turn = greedy.prompt(sessionId, "much");
    turn.catch(() => {}); // it is cut off before the end
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    greedy.pause();
    const growth = await growthWhile(async (look) => {
      for (const n of upTo(4)) await bulky(process, sessionId, n, MIB);
      const question = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "_x/ask", params: { sessionId: "unknown" } });
      void greedy.send(Buffer.from(`${question}\n`.repeat(2000)));
      const watcher = await bay.client();
      await eventually(async () => {
        look();
        const { sessions } = await watcher.call("_acp-master/sessions", {});
        return sessions.find((row: Loose) => row.sessionId === sessionId).clients.length === 0;
      }, "it is let go");
    });
    expect(growth).toBeLessThan(64 * MIB);
    greedy.resume();
    await greedy.ended;
    expect(greedy.received("_acp-master/closing").map(({ params }) => params.reason)).toEqual([
      expect.stringMatching(/does not read/),
    ]);
    const back = await bay.client();
    await back.call("session/load", { sessionId, ...place() });
    expect(numbersOf(back)).toEqual(upTo(4));
    await process.answer(prompt, done);
    await bay.reached(back);
  });

  it("while it only looks on, or only listens to events, is nobody's burden either", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const good = await bay.client();
    const { sessionId } = await good.newSession();
    const observer = await bay.client({ role: "observer" });
    await observer.call("session/load", { sessionId, ...place() });
    const listener = await bench.master.client();
    await listener.initialize({ agent: null, events: true });
    for (const client of [observer, listener]) client.pause();
    const process = await bay.process();
    const rounds = 400;
    for (const n of upTo(rounds)) {
      const turn = good.prompt(sessionId, `${n}`);
      const prompt = await process.received("session/prompt");
      if (n % 40 === 0) await bulky(process, sessionId, n, MIB);
      await process.answer(prompt, done);
      expect((await turn).result).toEqual(done);
    }
    observer.resume();
    const sent = upTo(rounds).filter((n) => n % 40 === 0);
    await eventually(() => numbersOf(observer).length === sent.length, "the observer has all of it");
    expect(numbersOf(observer)).toEqual(sent);
    listener.resume();
    // It has everything, or was told that it was let go.
    await Promise.race([listener.call("_acp-master/status", {}), listener.waitFor("_acp-master/closing")]);
  });
});

describe("FF-121: one who is slow, among several", () => {
  it("neither holds up the others nor fails the turn, be it a client, an observer or a shim", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const good = await bay.client();
    const { sessionId } = await good.newSession();
    const slow = await bay.client();
    const observer = await bay.client({ role: "observer" });
    const shim = bench.master.connect([bay.name, "--no-start"]);
    await shim.initialize();
    for (const client of [slow, observer, shim]) await client.call("session/load", { sessionId, ...place() });
    for (const client of [slow, observer]) client.pause();
    globalThis.process.kill(shim.program!.pid, "SIGSTOP");
    const turn = good.prompt(sessionId, "count");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const total = 5000;
    // Small ones, each a write of its own for the first hundred, then in bursts; padded, so that no socket holds them all.
    const padding = "p".repeat(300);
    const lines = upTo(total).map(
      (n) =>
        `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: { ...chunk(`${n},`), _meta: { padding } } } })}\n`,
    );
    for (const line of lines.slice(0, 100)) await process.sendRaw(line);
    const asked = process.askPermission(sessionId);
    const offer = await good.next(PERMISSION);
    await process.sendRaw(lines.slice(100).join(""));
    await good.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    await asked;
    await process.answer(prompt, done);
    expect((await turn).result).toEqual(done);
    expect(numbersOf(good)).toEqual(upTo(total));
    for (const client of [slow, observer]) client.resume();
    globalThis.process.kill(shim.program!.pid, "SIGCONT");
    for (const client of [slow, observer, shim]) {
      await client.waitFor(({ params }) => params?.update?.content?.text === `${total - 1},`);
      expect(numbersOf(client)).toEqual(upTo(total));
    }
  });
});

/** Two agents: one that has stopped reading, and the trips of a bystander to the other. */
async function stuck(): Promise<{
  bay: Bay;
  client: RawClient;
  process: ScriptedProcess;
  readonly quick: () => Promise<unknown>;
}> {
  const bay = bench.agent();
  const client = await bay.client();
  const quick = await bystander();
  await client.newSession();
  const process = await bay.process();
  await process.pauseInput();
  return { bay, client, process, quick };
}

const reasons = async (answers: readonly Promise<Message>[]) =>
  (await Promise.all(answers)).map(({ error }) => error?.data.reason);

describe("an agent that asks without end", () => {
  it("has so many requests open and no more: the rest is refused, and what waits can still be answered (FF-120)", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    await bench.leave(client);
    const quick = await bystander();
    const total = 70;
    const ask = (n: number): Promise<unknown> =>
      process.sendFilled(
        `{"jsonrpc":"2.0","id":"ask-${n}","method":"session/request_permission","params":{"sessionId":"${sessionId}","options":[{"optionId":"yes","name":"Y","kind":"allow_once"},{"optionId":"no","name":"N","kind":"reject_once"}],"toolCall":{"toolCallId":"t${n}","title":"`,
        MIB,
        '"}}}\n',
      );
    for (const n of upTo(total)) await ask(n);
    const answer = (n: number) => process.lines.waitFor(({ message }) => message.id === `ask-${n}`);
    expect((await answer(total - 1)).message.result.outcome.optionId).toBe("no");
    const refused = process.lines.all.filter(({ message }) => String(message.id).startsWith("ask-"));
    expect(refused.length).toBeGreaterThan(3);
    expect(refused.length).toBeLessThan(10);
    await quick();
    const watcher = await bench.master.client();
    await watcher.initialize({ agent: null });
    await eventually(async () => {
      const { sessions } = await watcher.call("_acp-master/sessions", {});
      return sessions.find((row: Loose) => row.sessionId === sessionId).approvals === total - refused.length;
    }, "people are asked about all others");
    await watcher.call("_acp-master/session/close", { sessionId });
    expect((await answer(0)).message.result).toEqual({ outcome: { outcome: "cancelled" } });
    // There is room again.
    const back = await bay.client();
    const again = (await back.newSession()).sessionId;
    const outcome = { outcome: "selected", optionId: "yes" };
    back.answer(PERMISSION, () => ({ outcome }));
    expect((await process.askPermission(again)).result).toEqual({ outcome });
  });

  it("is told of so many small ones too, and the client that has them all is not cut off", async () => {
    const bay = bench.agent();
    const client = await bay.client({ capabilities: { fs: { readTextFile: true } } });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const lines = upTo(1200).map((n) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: `read-${n}`,
        method: "fs/read_text_file",
        params: { sessionId, path: "/x" },
      }),
    );
    await process.sendRaw(`${lines.join("\n")}\n`);
    await process.lines.waitFor(({ message }) => message.id === "read-1199");
    const refused = process.lines.all.filter(({ message }) => String(message.id).startsWith("read-"));
    expect(new Set(refused.map(({ message }) => message.error?.data.reason))).toEqual(new Set(["busy"]));
    expect(refused).toHaveLength(200);
    await eventually(() => client.received("fs/read_text_file").length === 1000, "the client was asked for the others");
    for (const { id } of client.received("fs/read_text_file")) {
      void client.send({ jsonrpc: "2.0", id, result: { content: "" } });
    }
    await process.lines.waitFor(({ message }) => message.id === "read-999");
    expect((await client.prompt(sessionId, "x")).result).toEqual(done);
  });
});

describe("FF-122: an agent that does not read its input", () => {
  it("gets what fits, the rest is an error at once; others go on, and when it ends everything is answered", async () => {
    const { bay, client, process, quick } = await stuck();
    await process.resumeInput();
    const sessions: string[] = [];
    for (const _ of upTo(4)) sessions.push((await client.newSession()).sessionId);
    const onlooker = await bay.client();
    await onlooker.call("session/load", { sessionId: sessions[3], ...place() });
    await process.pauseInput();
    const words = "w".repeat(16 * MIB);
    // Many in one session fill its own queue: one is on its way, three wait.
    const inOne = upTo(5).map(() => client.prompt(sessions[0]!, words));
    await quick();
    expect(await reasons(inOne.slice(4))).toEqual(inOne.slice(4).map(() => "busy"));
    // One in each session fills the way to the agent.
    const inEach = sessions.slice(1).map((sessionId) => client.prompt(sessionId, words));
    await quick();
    expect(await reasons(inEach.slice(2))).toEqual(inEach.slice(2).map(() => "busy"));
    // The others see once what was asked, although the agent never got it.
    await onlooker.waitFor(() => onlooker.updates(sessions[3]).length > 0);
    await onlooker.call("_acp-master/status", {});
    expect(onlooker.updates(sessions[3])).toHaveLength(1);
    expect(await reasons([client.request("_x/ask", { sessionId: sessions[0], words })])).toEqual(["busy"]);
    await quick();
    await process.signal("SIGKILL");
    expect(await reasons(inOne.slice(0, 4))).toEqual(["agent_exited", "session_lost", "session_lost", "session_lost"]);
    expect(await reasons(inEach.slice(0, 2))).toEqual(["agent_exited", "agent_exited"]);
  });

  it("that reads again has everything that was taken, in order, and goes on", async () => {
    const { bay, client, process } = await stuck();
    const big = "b".repeat(4 * MIB);
    bay.agent.setAuto("_x/big", ({ n }: Loose) => ({ n }));
    const answers = upTo(17).map((n) => client.request("_x/big", { n, big }));
    const refused = await Promise.race(answers);
    expect(refused.error?.data.reason).toBe("busy");
    await process.resumeInput();
    const ended = await Promise.all(answers);
    const taken = ended.flatMap(({ result }) => result?.n ?? []);
    expect(taken.length).toBeGreaterThan(10);
    expect(taken.length).toBeLessThan(17);
    const got = process.lines.all.filter(({ message }) => message.method === "_x/big");
    expect(got.map(({ message }) => message.params.n)).toEqual(taken);
    expect((await client.newSession()).sessionId).toBeDefined();
  });
});
