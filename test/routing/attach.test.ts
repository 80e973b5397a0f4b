// load and resume: one place in the stream where a client joins, nothing lost, nothing twice.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, Bench, chunk } from "../harness/bench.ts";
import type { Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 20 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const numbersOf = (client: RawClient, sessionId: string): number[] =>
  client
    .text(sessionId)
    .split(",")
    .filter((text) => text !== "")
    .map(Number);
const upTo = (n: number, from = 0): number[] => Array.from({ length: n - from }, (_, i) => from + i);

/** One of each kind of which late joiners get the latest. */
const snapshots = (n: number): Loose[] => [
  { sessionUpdate: "available_commands_update", availableCommands: [{ name: `c${n}` }] },
  { sessionUpdate: "current_mode_update", currentModeId: `m${n}` },
  { sessionUpdate: "config_option_update", configOptions: [{ id: `o${n}` }] },
  { sessionUpdate: "session_info_update", title: `t${n}` },
  { sessionUpdate: "usage_update", used: n, size: 9 },
];

/** The members of an opened session's result; what they hold would change on its way through a parser. */
const spelled = (mode: string, sessionId = ""): string =>
  `{${sessionId}"_meta":{"big":9007199254740993,"one":1.0,"minus":-0,"far":1e400,"u":"\\u00e9"},` +
  `"modes":{"n":1.50,"currentModeId":"${mode}","availableModes":[{"id":"a","rank":18446744073709551615}]},` +
  `"configOptions":[{"id":"o","type":"select","currentValue":1.0,"options":[]}]`;

describe("joining a live session while a turn streams", () => {
  it("by load gives all that was before, then the answer, then all that follows", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    const turn = a.prompt(sessionId, "count");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const total = 3000;
    const joined: Promise<RawClient>[] = [];
    let sent: Promise<unknown> = Promise.resolve();
    for (let n = 0; n < total; n += 100) {
      const lines = upTo(n + 100, n).map(
        (i) =>
          `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: chunk(`${i},`) } })}\n`,
      );
      sent = process.sendRaw(lines.join(""));
      if (n % 500 === 0) {
        joined.push(
          (async () => {
            const client = await bay.client();
            await client.call("session/load", { sessionId, ...place() });
            return client;
          })(),
        );
        await sent;
      }
    }
    await sent;
    await process.answer(prompt, { stopReason: "end_turn" });
    await turn;
    expect(numbersOf(a, sessionId)).toEqual(upTo(total));
    for (const client of await Promise.all(joined)) {
      await client.waitFor((message) => message.params?.update?.content?.text === `${total - 1},`);
      expect(numbersOf(client, sessionId)).toEqual(upTo(total));
    }
    expect(process.count("session/load")).toBe(0);
  });

  it("by resume gives the answer, the latest state of each kind, and from there every frame", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    const turn = a.prompt(sessionId, "count");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    for (const update of [...snapshots(1), chunk("before"), ...snapshots(2)]) await process.update(sessionId, update);
    await a.waitFor((message) => message.params?.update?.used === 2);
    const b = await bay.client();
    await b.call("session/resume", { sessionId, ...place() });
    await process.say(sessionId, "after");
    await process.answer(prompt, { stopReason: "end_turn" });
    await turn;
    await b.waitFor((message) => message.params?.update?.content?.text === "after");
    const answerAt = b.lines.all.findIndex(({ message }) => message.id === 2);
    const first = b.lines.all.findIndex(({ message }) => message.method === "session/update");
    expect(answerAt).toBeLessThan(first);
    expect(b.updates(sessionId)).toEqual([...snapshots(2), chunk("after")]);
    expect(process.count("session/resume")).toBe(0);
  });

  it("FF-87: leaves the running prompt to its caller, and a cancel still reaches it", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const b = await bay.client();
    const { sessionId } = await a.newSession();
    const turn = a.prompt(sessionId, "long");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    await a.call("session/load", { sessionId, ...place() });
    await b.call("session/load", { sessionId, ...place() });
    await b.notify("session/cancel", { sessionId });
    await process.received("session/cancel");
    await process.answer(prompt, { stopReason: "cancelled" });
    expect((await turn).result).toEqual({ stopReason: "cancelled" });
    expect(b.lines.all.filter(({ message }) => message.result?.stopReason !== undefined)).toEqual([]);
  });

  it("answers with what the session was opened with, as it stands by then", async () => {
    const modes = { currentModeId: "a", availableModes: [{ id: "a" }, { id: "b" }] };
    const configOptions = [{ id: "o", type: "select", currentValue: "1", options: [] }];
    const bay = bench.agent({
      "session/new": { sessionId: "state", modes, models: { currentModelId: "x" }, extra: { n: 1 }, _meta: { t: 1 } },
      "session/set_model": {},
      "session/set_config_option": { configOptions },
    });
    const a = await bay.client();
    await a.call("session/new", place());
    await a.call("session/set_mode", { sessionId: "state", modeId: "b" });
    await a.call("session/set_model", { sessionId: "state", modelId: "y" });
    await a.call("session/set_config_option", { sessionId: "state", configId: "o", value: "1" });
    for (const method of ["session/load", "session/resume"]) {
      const b = await bay.client();
      expect(await b.call(method, { sessionId: "state", ...place() })).toEqual({
        modes: { ...modes, currentModeId: "b" },
        models: { currentModelId: "y" },
        extra: { n: 1 },
        _meta: { t: 1 },
        configOptions,
      });
    }
    await (await bay.process()).update("state", { sessionUpdate: "current_mode_update", currentModeId: "c" });
    await a.next("session/update");
    const late = await bay.client();
    expect((await late.call("session/load", { sessionId: "state", ...place() })).modes.currentModeId).toBe("c");
  });

  it("answers in the agent's own spelling, with only what was set since changed", async () => {
    const bay = bench.agent({ "session/new": false, "session/set_mode": {} });
    const a = await bay.client();
    const made = a.request("session/new", place());
    const process = await bay.process();
    const request = await process.received("session/new");
    await process.sendRaw(
      `{"jsonrpc":"2.0","id":${request.message.id},"result":${spelled("a", '"sessionId":"spelled",')}}}\n`,
    );
    await made;
    await a.call("session/set_mode", { sessionId: "spelled", modeId: "b" });
    for (const method of ["session/load", "session/resume"]) {
      const b = await bay.client();
      const { id } = await b.request(method, { sessionId: "spelled", ...place() });
      const answer = b.lines.all.findLast(({ message }) => message.id === id);
      expect(answer?.text).toContain(`"result":${spelled("b")}}`);
    }
  });

  it("offers the open questions behind the history, and again to whoever loads again", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    void a.prompt(sessionId, "x");
    const process = await bay.process();
    await process.received("session/prompt");
    await process.say(sessionId, "history");
    const asked = process.askPermission(sessionId);
    await a.next("session/request_permission");
    const b = await bay.client();
    await b.call("session/load", { sessionId, ...place() });
    const offer = await b.next("session/request_permission");
    const kinds = b.lines.all.slice(1).map(({ message }) => message.method ?? "answer");
    expect(kinds).toEqual(["session/update", "session/update", "answer", "session/request_permission"]);
    await b.call("session/load", { sessionId, ...place() });
    expect(b.text(sessionId)).toBe("historyhistory");
    await b.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    const again = await b.next("session/request_permission");
    expect(again.message.params).toEqual(offer.message.params);
    await b.send({
      jsonrpc: "2.0",
      id: again.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    expect((await asked).result.outcome.optionId).toBe("no");
  });
});

describe("opening a session that only the agent knows", () => {
  it("FF-94: gives its replay before the answer, in order, and to nobody else", async () => {
    const bay = bench.agent({ "session/load": false });
    const [a, other] = [await bay.client(), await bay.client()];
    await other.newSession();
    const answer = a.call("session/load", { sessionId: "old", ...place(), _meta: { "acp-master": {}, theirs: 1 } });
    const process = await bay.process();
    const load = await process.received("session/load");
    expect(load.message.params).toEqual({ sessionId: "old", ...place(), _meta: { theirs: 1 } });
    for (const text of ["1", "2", "3", "4", "5"]) await process.say("old", text);
    await process.answer(load, { modes: { currentModeId: "m", availableModes: [] } });
    expect((await answer).modes.currentModeId).toBe("m");
    expect(a.lines.all.slice(1).map(({ message }) => message.params?.update?.content.text ?? "answer")).toEqual([
      "1",
      "2",
      "3",
      "4",
      "5",
      "answer",
    ]);
    const b = await bay.client();
    await b.call("session/load", { sessionId: "old", ...place() });
    expect(b.text("old")).toBe("12345");
    expect(a.text("old")).toBe("12345");
    expect(process.count("session/load")).toBe(1);
    expect(other.received("session/update")).toEqual([]);
  });

  it("gives what the agent says behind its answer behind it, though the Helper has not said yet what it has", async () => {
    const bay = bench.agent({ "session/load": false });
    const client = await bay.client();
    const sessionId = `${bay.name}-old`;
    const loaded = client.request("session/load", { sessionId, ...place() });
    const process = await bay.process();
    const load = await process.received("session/load");
    const update = (text: string) => ({ method: "session/update", params: { sessionId, update: chunk(text) } });
    const result = { configOptions: [{ id: "o", type: "select", currentValue: "1", options: [] }] };
    const frames = [update("before"), { id: load.message.id, result }, update("behind")];
    await process.sendRaw(frames.map((frame) => `${JSON.stringify({ jsonrpc: "2.0", ...frame })}\n`).join(""));
    expect((await loaded).error).toBeUndefined();
    await client.waitFor(({ params }) => params?.update?.content?.text === "behind");
    const order = client.lines.all.map(({ message }) => message.params?.update?.content?.text ?? message.id);
    expect(order.slice(-3)).toEqual(["before", (await loaded).id, "behind"]);
  });

  it("FF-101: is one load for all who ask meanwhile, each with the whole history", async () => {
    const bay = bench.agent({ "session/load": false });
    const clients = [await bay.client(), await bay.client(), await bay.client()];
    const methods = ["session/load", "session/load", "session/resume"];
    const ask = (n: number): Promise<Loose> => clients[n]!.call(methods[n]!, { sessionId: "shared", ...place() });
    const first = ask(0);
    const process = await bay.process();
    const load = await process.received("session/load");
    const answers = [first, ask(1), ask(2)];
    await process.say("shared", "once");
    for (const client of clients) await bay.reached(client);
    await process.answer(load, {});
    await Promise.all(answers);
    expect(clients.map((client) => client.text("shared"))).toEqual(["once", "once", ""]);
    expect(process.count("session/load") + process.count("session/resume")).toBe(1);
    await process.say("shared", "!");
    for (const client of clients) await client.waitFor((message) => message.params?.update?.content.text === "!");
  });

  it("FF-104: passes the agent's error on to all who asked, and leaves no route", async () => {
    const bay = bench.agent({ "session/load": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const first = a.request("session/load", { sessionId: "never-made", ...place() });
    const process = await bay.process();
    const load = await process.received("session/load");
    const second = b.request("session/load", { sessionId: "never-made", ...place() });
    await b.call("_acp-master/status", {});
    await process.fail(load, { code: -32002, message: "No such session", data: { sessionId: "never-made" } });
    expect((await first).error).toEqual({
      code: -32002,
      message: "No such session",
      data: { sessionId: "never-made" },
    });
    expect((await second).error?.data.reason).toBe("unknown_session");
    await process.say("never-made", "ghost");
    expect((await process.request("_x/ask", { sessionId: "never-made" })).error?.data.reason).toBe("unknown_session");
    for (const client of [a, b]) expect(client.received("session/update")).toEqual([]);
    expect((await a.call("_acp-master/sessions", {})).sessions.map((row: Loose) => row.sessionId)).not.toContain(
      "never-made",
    );
    // It can be tried again.
    bay.agent.setAuto("session/load", {});
    expect(await a.call("session/load", { sessionId: "never-made", ...place() })).toEqual({});
  });

  it("uses what the agent has for it: resume as load without its replay, or the other way round", async () => {
    const loads = bench.agent({
      initialize: announcing({ sessionCapabilities: { resume: undefined } }),
      "session/load": async (_: Loose, process: Loose) => {
        await process.say("old-a", "replayed");
        return {};
      },
    });
    const a = await loads.client();
    await a.call("session/resume", { sessionId: "old-a", ...place() });
    await (await loads.process()).say("old-a", "live");
    await a.next("session/update");
    expect(a.text("old-a")).toBe("live");

    const resumes = bench.agent({ initialize: announcing({ loadSession: false }) });
    const b = await resumes.client();
    expect(await b.call("session/load", { sessionId: "old-b", ...place() })).toEqual({});
    expect((await resumes.process()).count("session/resume")).toBe(1);

    const neither = bench.agent({
      initialize: announcing({ loadSession: false, sessionCapabilities: { resume: undefined } }),
    });
    const c = await neither.client();
    const { error } = await c.request("session/load", { sessionId: "old-c", ...place() });
    expect(error?.data.reason).toBe("unknown_session");
  });

  it("lets a program that wants no agent join what runs, and nothing else", async () => {
    const bay = bench.agent();
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    const b = await bench.master.client();
    await b.initialize({ agent: null });
    await b.call("session/load", { sessionId, ...place() });
    expect((await b.prompt(sessionId, "x")).result).toEqual({ stopReason: "end_turn" });
    const { error } = await b.request("session/load", { sessionId: "elsewhere", ...place() });
    expect(error?.data.reason).toBe("unknown_session");
    expect((await b.request("session/new", place())).error?.data.reason).toBe("unknown_agent");
    const own = { ...place(), _meta: { "acp-master": { agent: bay.name } } };
    expect((await b.call("session/new", own)).sessionId).toMatch(bay.name);
  });
});
