// Field faults of kind ordering: what an agent writes one after the other reaches each client in that order, whatever it is,
// however the bytes are cut, and also when the turn is over.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bay, Bench, chunk } from "../harness/bench.ts";
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const done = { stopReason: "end_turn" };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 24 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const update = (sessionId: string, one: object): object => ({
  method: "session/update",
  params: { sessionId, update: one },
});
const told = (sessionId: string, n: number): object => ({ method: "_x/told", params: { sessionId, n } });

/** Of every kind of message one, each with its number where a client can see it. */
const kinds: readonly ((sessionId: string, n: number) => object)[] = [
  (id, n) => update(id, chunk(`n${n}`)),
  (id, n) => update(id, { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `n${n}` } }),
  (id, n) => update(id, { sessionUpdate: "tool_call", toolCallId: `t${n}`, title: `n${n}`, status: "pending" }),
  (id, n) => update(id, { sessionUpdate: "tool_call_update", toolCallId: `t${n - 1}`, title: `n${n}` }),
  (id, n) => update(id, { sessionUpdate: "plan", entries: [], _meta: { n: `n${n}` } }),
  (id, n) => update(id, { sessionUpdate: "available_commands_update", availableCommands: [{ name: `n${n}` }] }),
  (id, n) => update(id, { sessionUpdate: "current_mode_update", currentModeId: `n${n}` }),
  (id, n) => update(id, { sessionUpdate: "session_info_update", title: `n${n}` }),
  (id, n) => update(id, { sessionUpdate: "usage_update", used: 1, size: 2, _meta: { n: `n${n}` } }),
  (id, n) => update(id, { sessionUpdate: "_of_the_future", words: `n${n}` }),
  (id, n) => ({ method: "_x/told", params: { sessionId: id, n: `n${n}` } }),
  (id, n) => ({ id: `read-${n}`, method: "fs/read_text_file", params: { sessionId: id, path: `/n${n}` } }),
];

/** The numbers that a client saw, in its order; `answer` where a prompt was answered. */
const numbersOf = (messages: readonly Message[]): (number | "answer")[] =>
  messages.flatMap((message): (number | "answer")[] => {
    if (message.result?.stopReason !== undefined) return ["answer"];
    const found = /\/?\bn(\d+)"/.exec(message.method === undefined ? "" : JSON.stringify(message.params));
    return found ? [Number(found[1])] : [];
  });
const seen = (client: RawClient, from = 0) => numbersOf(client.lines.all.slice(from).map(({ message }) => message));
const upTo = (n: number, from = 0): number[] => Array.from({ length: n - from }, (_, i) => from + i);

async function turn(bay: Bay, client: RawClient): Promise<Loose> {
  const { sessionId } = await client.newSession();
  const from = client.lines.all.length;
  const answered = client.prompt(sessionId, "go on");
  const process = await bay.process();
  const prompt = await process.received("session/prompt");
  return { sessionId, answered, process, prompt: prompt.message, from };
}

const kindsOf = (client: RawClient, since: number) =>
  client.lines.all
    .slice(since)
    .map((one) => one.message)
    .filter(({ method, id }) => method !== undefined || id === "set")
    .map(({ params }) => params?.update?.content?.text ?? params?.update?.sessionUpdate ?? params?.n ?? "answer");

describe("messages that an agent writes at once", () => {
  // Whole, in pieces that cut every message, and in pieces that hold several.
  it.each([undefined, 61, 4099])(
    "FF-93: come in their order, the answer behind them (in pieces of %s bytes)",
    async (size) => {
      const bay = bench.agent({ "session/prompt": false });
      const [a, b] = [await bay.client({ capabilities: able }), await bay.client()];
      const { sessionId, answered, process, prompt, from } = await turn(bay, a);
      await b.call("session/load", { sessionId, ...place() });
      const total = size === 61 ? 60 : 240;
      const frames = upTo(total).map((n) => line(kinds[n % kinds.length]!(sessionId, n)));
      const after = upTo(total + 5, total).map((n) => line(update(sessionId, chunk(`n${n}`))));
      await process.sendRaw([...frames, line({ id: prompt.id, result: done }), ...after].join(""), size);
      await answered;
      await b.waitFor(({ params }) => params?.update?.content?.text === `n${total + 4}`);
      await bay.reached(a);
      expect(seen(a, from)).toEqual([...upTo(total), "answer", ...upTo(total + 5, total)]);
      // The other one is asked nothing and gets no answer; the rest has the same order.
      const questions = upTo(total).filter((n) => kinds[n % kinds.length] === kinds.at(-1));
      expect(seen(b)).toEqual(upTo(total + 5).filter((n) => !questions.includes(n)));
    },
  );

  it("FF-93: come to each client in the order of its own session, however the sessions are mixed", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const clients = [await bay.client(), await bay.client(), await bay.client()];
    const turns: Loose[] = [];
    for (const client of clients) turns.push(await turn(bay, client));
    const frames = upTo(300).map((n) => line(kinds[n % 11]!(turns[n % 3].sessionId, n)));
    const answers = turns.map(({ prompt }) => line({ id: prompt.id, result: done }));
    await turns[0].process.sendRaw([...frames, ...answers].join(""));
    for (const each of turns) await each.answered;
    for (const [at, client] of clients.entries()) {
      expect(seen(client, turns[at].from)).toEqual([...upTo(300).filter((n) => n % 3 === at), "answer"]);
    }
  });

  it("FF-93: keep their order around the answer to a setting, for its caller and for the others", async () => {
    const bay = bench.agent({ "session/set_mode": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    await b.call("session/load", { sessionId, ...place() });
    const from = a.lines.all.length;
    const set = a.request("session/set_mode", { sessionId, modeId: "m" }, "set");
    const process = await bay.process();
    const { message } = await process.received("session/set_mode");
    await process.sendRaw(
      [
        line(update(sessionId, chunk("n0"))),
        line(told(sessionId, 1)),
        line({ id: message.id, result: {} }),
        line(update(sessionId, chunk("n2"))),
        line(told(sessionId, 3)),
      ].join(""),
    );
    await set;
    await b.next(({ params }) => params?.n === 3);
    await bay.reached(a);
    expect(kindsOf(a, from)).toEqual(["n0", 1, "answer", "n2", 3]);
    expect(kindsOf(b, 2)).toEqual(["n0", 1, "current_mode_update", "n2", 3]);
  });

  it("FF-93: keep their order for a client that was not reading, its answers and questions among them", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client({ capabilities: able });
    const b = await bay.client();
    const { sessionId, answered, process, prompt, from } = await turn(bay, a);
    await b.call("session/load", { sessionId, ...place() });
    a.pause();
    const filler = "x".repeat(64 * 1024);
    const big = (n: number): string => line(update(sessionId, { ...chunk(`n${n}`), _meta: { filler } }));
    const read = (n: number): string => line(kinds.at(-1)!(sessionId, n));
    // More than a socket holds before the first question, and before the answer.
    const frames = upTo(120).map((n) => (n % 30 === 29 ? read(n) : big(n)));
    await process.sendRaw([...frames, line({ id: prompt.id, result: done }), big(120)].join(""));
    await b.waitFor(({ params }) => params?.update?.content?.text === "n120");
    expect(seen(a, from).length).toBeLessThan(100);
    a.resume();
    await answered;
    await a.waitFor(({ params }) => params?.update?.content?.text === "n120");
    expect(seen(a, from)).toEqual([...upTo(120), "answer", 120]);
  });

  it.each(["session/new", "session/load", "session/resume", "session/fork"])(
    "FF-92, FF-93: of a session that %s opens keep their order around its answer",
    async (method) => {
      const bay = bench.agent({ [method]: false });
      const client = await bay.client();
      const sessionId = `${bay.name}-by-${method.slice(8)}`;
      const source = method === "session/fork" ? (await client.newSession()).sessionId : sessionId;
      const from = client.lines.all.length;
      const opened = client.call(method, { sessionId: source, ...place() });
      const process = await bay.process();
      const { message } = await process.received(method);
      // All that an agent tells of itself before it says which session this is.
      const early = upTo(22).map((n) => line(kinds[n % 11]!(sessionId, n)));
      const late = upTo(44, 22).map((n) => line(kinds[n % 11]!(sessionId, n)));
      await process.sendRaw([...early, line({ id: message.id, result: { sessionId } }), ...late].join(""));
      await opened;
      await client.waitFor(({ params }) => params?.n === "n43");
      expect(seen(client, from)).toEqual(upTo(44));
      const texts = client.lines.all.slice(from).map((one) => one.message);
      const answerAt = texts.findIndex(({ result }) => result !== undefined);
      // Only a load shows history before its answer.
      expect(numbersOf(texts.slice(0, answerAt))).toEqual(method === "session/load" ? upTo(22) : []);
    },
  );
});

/** What an agent that does one thing after the other would have been told. */
const allOf = (sessionId: string, manner: string): string =>
  [
    { id: "open", method: `session/${manner}`, params: { sessionId, ...place() } },
    { id: "mode", method: "session/set_mode", params: { sessionId, modeId: "m" } },
    told(sessionId, 1),
    { id: "ask", method: "_x/ask", params: { sessionId } },
    { id: "turn", method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: "go" }] } },
  ]
    .map(line)
    .join("");
describe("messages that a client writes at once", () => {
  const able = { "session/prompt": false, "_x/ask": {}, "session/set_mode": {} };

  it.each(["live", "lost", "known to the agent only"])(
    "FF-93: are done one after the other, the first of them a load or resume of a session that is %s",
    async (state) => {
      const bay = bench.agent(able);
      const first = await bay.client({ events: true });
      const { sessionId: made } = await first.newSession();
      const before = await bay.process(0);
      const sessionId = state === "known to the agent only" ? `${bay.name}-old` : made;
      if (state === "lost") {
        await before.exit();
        await first.waitFor(({ params }) => params?.type === "agent_exited" && params.agent === bay.name);
      }
      if (state === "live") await first.call("session/load", { sessionId, ...place() });
      else await bench.leave(first);
      for (const manner of ["load", "resume"]) {
        const client = await bay.client();
        const process = bay.agent.processes.at(-1)!;
        const from = state === "lost" && manner === "load" ? 0 : process.lines.all.length;
        await client.send(Buffer.from(allOf(sessionId, manner)));
        const agent = state === "lost" ? await bay.process(1) : process;
        const prompt = await agent.received("session/prompt");
        await agent.answer(prompt, done);
        const answer = (id: string) => client.waitFor(({ id: of }) => of === id);
        expect((await answer("turn")).message.result).toEqual(done);
        const answers = client.lines.all.map(({ message }) => message).filter(({ method }) => method === undefined);
        expect(answers.slice(1).map(({ id, error }) => error ?? id)).toEqual(["open", "mode", "ask", "turn"]);
        const heardOf = agent.lines.all.slice(from).map(({ message }) => message.method);
        const rest = ["session/set_mode", "_x/told", "_x/ask", "session/prompt"];
        expect(heardOf.filter((method) => rest.includes(method ?? ""))).toEqual(rest);
        await client.close();
      }
    },
  );

  it("FF-93: are errors in their order when the first of them fails", async () => {
    const bay = bench.agent({
      ...able,
      "session/load": () => {
        throw { code: -32002, message: "gone" };
      },
    });
    const client = await bay.client();
    await client.send(Buffer.from(allOf("never-made", "load")));
    await client.waitFor(({ id }) => id === "turn");
    const errors = client.lines.all.slice(1).map(({ message }) => [message.id, message.error?.message.slice(0, 4)]);
    expect(errors).toEqual([
      ["open", "gone"],
      ["mode", "Ther"],
      ["ask", "Ther"],
      ["turn", "Ther"],
    ]);
  });
});

describe("what an agent says after its answer", () => {
  const endings: Record<string, (prompt: Message) => object> = {
    "the end of the turn": ({ id }) => ({ id, result: done }),
    "its end by a cancel": ({ id }) => ({ id, result: { stopReason: "cancelled" } }),
    "an error": ({ id }) => ({ id, error: { code: -32603, message: "broke" } }),
  };
  it.each(Object.entries(endings))(
    "FF-99: reaches everybody behind %s, and those who come later",
    async (_, ending) => {
      const bay = bench.agent({ "session/prompt": false });
      const [a, b] = [await bay.client(), await bay.client()];
      const { sessionId, answered, process, prompt, from } = await turn(bay, a);
      await b.call("session/load", { sessionId, ...place() });
      const tail = [
        chunk("tail"),
        { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "tail" } },
        { sessionUpdate: "tool_call", toolCallId: "late", title: "T", status: "pending" },
        { sessionUpdate: "tool_call_update", toolCallId: "late", status: "completed" },
        { sessionUpdate: "usage_update", used: 1, size: 2 },
      ];
      const lines = tail.map((one) => line(update(sessionId, one)));
      await process.sendRaw(line(update(sessionId, chunk("before"))) + line(ending(prompt)) + lines.join(""));
      await answered;
      // And once more, when the turn has long been over.
      await bay.reached(a);
      await process.sendRaw(lines.join(""));
      const all = [chunk("before"), ...tail, ...tail];
      for (const client of [a, b]) {
        await eventually(() => client.updates(sessionId).length >= all.length, "all has come");
        expect(client.updates(sessionId).filter((one) => one.sessionUpdate !== "user_message_chunk")).toEqual(all);
      }
      const answerAt = a.lines.all.findIndex(({ message }, at) => at >= from && message.method === undefined);
      expect(a.lines.all[answerAt - 1]!.message.params.update).toEqual(chunk("before"));
      const late = await bay.client();
      await late.call("session/load", { sessionId, ...place() });
      expect(late.updates(sessionId).slice(1)).toEqual(all);
    },
  );

  it("FF-99: stands before what the next turn brings, though its prompt was waiting", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const { sessionId, answered, process, prompt, from } = await turn(bay, a);
    const next = a.prompt(sessionId, "next");
    await bay.reached(a);
    await process.sendRaw(
      line({ id: prompt.id, result: done }) +
        line(update(sessionId, chunk("n0"))) +
        line(update(sessionId, chunk("n1"))),
    );
    await answered;
    const second = await process.received("session/prompt");
    await process.sendRaw(line(update(sessionId, chunk("n2"))) + line({ id: second.message.id, result: done }));
    await next;
    expect(seen(a, from)).toEqual(["answer", 0, 1, 2, "answer"]);
  });

  it("FF-99: is kept when nobody is attached any more", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const { sessionId, answered, process, prompt } = await turn(bay, a);
    await process.answer(prompt, done);
    await answered;
    await bench.leave(a);
    for (const n of upTo(20)) await process.update(sessionId, chunk(`n${n}`));
    const b = await bay.client();
    await b.call("session/load", { sessionId, ...place() });
    await b.waitFor(({ params }) => params?.update?.content?.text === "n19");
    expect(seen(b)).toEqual(upTo(20));
  });
});
