// Frames that name a session before the answer that makes it one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, Bench, chunk } from "../harness/bench.ts";
import type { Line, Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 24 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const update = (sessionId: string, text: string): Loose => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { sessionId, update: chunk(text) },
});
const kinds = (client: RawClient, from = 0): string[] =>
  client.lines.all
    .slice(from)
    .map(({ message }) => message.params?.update?.content?.text ?? message.method ?? "answer");

const asLines = (messages: readonly Loose[]): string => messages.map((each) => `${JSON.stringify(each)}\n`).join("");

describe("FF-92: what comes before the answer to session/new", () => {
  it.each([
    ["in lines of their own", false],
    ["in one chunk with it", true],
  ])("is delivered after it, in order, when it comes %s", async (_, together) => {
    const bay = bench.agent({ "session/new": false });
    const client = await bay.client();
    const made = client.newSession();
    const process = await bay.process();
    const request = await process.received("session/new");
    const id = `early-${together}`;
    const frames = [
      update(id, "1"),
      { jsonrpc: "2.0", method: "_x/told", params: { sessionId: id } },
      update(id, "2"),
      { jsonrpc: "2.0", id: request.message.id, result: { sessionId: id } },
      update(id, "3"),
      { jsonrpc: "2.0", method: "_x/told", params: { sessionId: id } },
    ];
    if (together) await process.sendRaw(asLines(frames));
    else for (const frame of frames) await process.send(frame);
    await made;
    await client.waitFor((message) => message.params?.update?.content?.text === "3");
    await bay.reached(client);
    expect(kinds(client, 1).slice(0, 6)).toEqual(["answer", "1", "_x/told", "2", "3", "_x/told"]);
  });

  it("starts with a notice, where that is the first to name the session", async () => {
    const bay = bench.agent({ "session/new": false });
    const client = await bay.client();
    const made = client.newSession();
    const process = await bay.process();
    const request = await process.received("session/new");
    await process.notify("_x/told", { sessionId: "noticed", n: 1 });
    await process.answer(request, { sessionId: "noticed" });
    await made;
    expect((await client.next("_x/told")).message.params).toEqual({ sessionId: "noticed", n: 1 });
    expect(kinds(client, 1)).toEqual(["answer", "_x/told"]);
  });

  it("is asked at once where it is a question, permissions included", async () => {
    const bay = bench.agent({ "session/new": false });
    const client = await bay.client({ capabilities: able });
    const made = client.newSession();
    const process = await bay.process();
    const request = await process.received("session/new");
    await process.say("asking", "text");
    const read = process.request("fs/read_text_file", { sessionId: "asking", path: "/" });
    const question = await client.next("fs/read_text_file");
    await client.send({ jsonrpc: "2.0", id: question.message.id, result: { content: "c" } });
    expect((await read).result).toEqual({ content: "c" });
    const asked = process.askPermission("asking");
    const offer = await client.next("session/request_permission");
    await client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "yes" } },
    });
    expect((await asked).result.outcome.optionId).toBe("yes");
    expect(client.updates()).toEqual([]);
    await process.answer(request, { sessionId: "asking" });
    await made;
    await client.next("session/update");
  });

  it("goes nowhere when the request fails, or names another session", async () => {
    const bay = bench.agent({ "session/new": false });
    const client = await bay.client();
    const process = async (): Promise<ScriptedProcess> => await bay.process();
    const failed = client.request("session/new", place());
    const first = await (await process()).received("session/new");
    await (await process()).say("ghost", "boo");
    const asked = (await process()).askPermission("ghost");
    await client.next("session/request_permission");
    await (await process()).fail(first, { code: -32603, message: "no" });
    expect((await failed).error?.message).toBe("no");
    expect((await asked).result.outcome).toEqual({ outcome: "cancelled" });

    const other = client.newSession();
    const second = await (await process()).received("session/new");
    await (await process()).say("ghost", "boo");
    await (await process()).answer(second, { sessionId: "real" });
    expect((await other).sessionId).toBe("real");
    await (await process()).say("ghost", "boo");
    await (await process()).say("real", "text");
    await client.next("session/update");
    expect(client.updates().map((one) => one.content.text)).toEqual(["text"]);
    const { sessions } = await client.call("_acp-master/sessions", {});
    expect(sessions.map((row: Loose) => row.sessionId)).not.toContain("ghost");
  });

  it("is one client's alone while another one makes a session, too", async () => {
    const bay = bench.agent({ "session/new": false });
    const [a, b] = [await bay.client({ capabilities: able }), await bay.client({ capabilities: able })];
    const process = await bay.process();
    const made = [a.newSession()];
    const requests: Line[] = [await process.received("session/new")];
    made.push(b.newSession());
    requests.push(await process.received("session/new"));
    await process.say("of-b", "b1");
    await process.say("of-a", "a1");
    await process.notify("_x/told", { sessionId: "of-b" });
    const read = process.request("fs/read_text_file", { sessionId: "of-b", path: "/" });
    const asked = process.askPermission("of-a");
    await bay.reached(a);
    await bay.reached(b);
    expect([...kinds(a), ...kinds(b)].filter((kind) => kind !== "answer")).toEqual([]);
    await process.answer(requests[0]!, { sessionId: "of-a" });
    expect((await made[0]!).sessionId).toBe("of-a");
    // Only one is left, but what waits already keeps its place.
    await process.say("of-b", "b2");
    await process.answer(requests[1]!, { sessionId: "of-b" });
    await made[1]!;
    const question = await b.next("fs/read_text_file");
    await b.send({ jsonrpc: "2.0", id: question.message.id, result: { content: "" } });
    await read;
    const offer = await a.next("session/request_permission");
    await a.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    expect((await asked).result.outcome.optionId).toBe("no");
    await b.waitFor((message) => message.params?.update?.content?.text === "b2");
    expect(a.text()).toBe("a1");
    expect(b.text()).toBe("b1b2");
    expect(a.received("fs/read_text_file")).toEqual([]);
    expect(b.received("session/request_permission")).toEqual([]);
  });

  it("is refused after five seconds when no answer names it", async () => {
    const bay = bench.agent({ "session/new": false });
    const [a, b] = [await bay.client({ capabilities: able }), await bay.client({ capabilities: able })];
    const process = await bay.process();
    const made = [a.newSession()];
    const requests = [await process.received("session/new")];
    made.push(b.newSession());
    requests.push(await process.received("session/new"));
    const began = performance.now();
    const [read, permission] = await Promise.all([
      process.request("fs/read_text_file", { sessionId: "nobody", path: "/" }),
      process.askPermission("nobody"),
    ]);
    expect(performance.now() - began).toBeGreaterThan(4000);
    expect(read.error?.data.reason).toBe("unknown_session");
    expect(permission.result.outcome).toEqual({ outcome: "selected", optionId: "no" });
    await process.answer(requests[0]!, { sessionId: "one" });
    await process.answer(requests[1]!, { sessionId: "two" });
    expect((await Promise.all(made)).map(({ sessionId }) => sessionId)).toEqual(["one", "two"]);
  });

  it.each(["session/close", "session/delete"])(
    "is nobody's when it is the last word of a session that %s has just ended",
    async (method) => {
      const bay = bench.agent({
        initialize: announcing({ sessionCapabilities: { delete: {} } }),
        "session/new": false,
      });
      const client = await bay.client({ capabilities: able });
      const process = await bay.process();
      const made = async (id: string, ...before: Loose[]): Promise<Loose> => {
        const answer = client.newSession();
        const request = await process.received("session/new");
        await process.sendRaw(
          asLines([...before, { jsonrpc: "2.0", id: request.message.id, result: { sessionId: id } }]),
        );
        return await answer;
      };
      const [former, next] = [`former-${method}`, `next-${method}`];
      await made(former);
      await client.prompt(former, "a turn");
      await client.call(method, { sessionId: former });
      await made(next, update(former, "ghost"), update(next, "first"));
      await bay.reached(client);
      expect(client.text(former)).toBe("");
      expect(client.text(next)).toBe("first");
      const { sessions } = await client.call("_acp-master/sessions", {});
      const states = sessions.map((row: Loose) => [row.sessionId, row.state]);
      expect(states).toContainEqual([next, "idle"]);
      expect(states).not.toContainEqual([former, "idle"]);
      // An agent may use the id of a deleted one again; the answer says so.
      if (method === "session/delete") {
        await made(former, update(former, "anew"));
        await client.waitFor((message) => message.params?.update?.content?.text === "anew");
      }
    },
  );

  it("is refused at once when no session is being made", async () => {
    const bay = bench.agent();
    const client = await bay.client({ capabilities: able });
    await client.newSession();
    const process = await bay.process();
    const { error } = await process.request("fs/read_text_file", { sessionId: "nobody", path: "/" }, undefined, 900);
    expect(error?.data.reason).toBe("unknown_session");
    const refused = await process.askPermission("nobody", { deadlineMs: 900 });
    expect(refused.result.outcome).toEqual({ outcome: "selected", optionId: "no" });
    const noChoice = await process.askPermission("nobody", { options: [], deadlineMs: 900 });
    expect(noChoice.result.outcome).toEqual({ outcome: "cancelled" });
  });

  it.each(["session/fork", "session/load", "session/resume"])("holds for %s as well", async (method) => {
    const bay = bench.agent({ [method]: false });
    const client = await bay.client({ capabilities: able });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const named = method === "session/fork" ? sessionId : `made-by-${method}`;
    const from = client.lines.all.length;
    const made = client.call(method, { sessionId: named, ...place() });
    const request = await process.received(method);
    const id = method === "session/fork" ? `${sessionId}-fork` : named;
    const read = process.request("fs/read_text_file", { sessionId: id, path: "/" });
    const question = await client.next("fs/read_text_file");
    await client.send({ jsonrpc: "2.0", id: question.message.id, result: { content: "" } });
    expect((await read).result).toEqual({ content: "" });
    await process.say(id, "early");
    await process.answer(request, method === "session/fork" ? { sessionId: id } : {});
    await made;
    await process.say(id, "late");
    await client.waitFor((message) => message.params?.update?.content?.text === "late");
    const seen = kinds(client, from).filter((kind) => kind !== "fs/read_text_file");
    // A load replays before its answer, the others have nothing to show before it.
    expect(seen).toEqual(method === "session/load" ? ["early", "answer", "late"] : ["answer", "early", "late"]);
    expect((await client.prompt(id, "x")).result).toEqual({ stopReason: "end_turn" });
  });
});

describe("FF-106: a session/new whose caller is gone", () => {
  it.each(["a connection", "a killed shim"])("is closed in the agent, the caller being %s", async (what) => {
    const bay = bench.agent({ "session/new": false });
    const viaShim = what === "a killed shim";
    const client = viaShim ? bench.master.connect([bay.name, "--no-start"]) : await bench.master.client();
    await client.initialize(viaShim ? {} : { agent: bay.name });
    void client.newSession();
    const process = await bay.process();
    const request = await process.received("session/new");
    await client.close();
    const watcher = await bench.master.client();
    await watcher.initialize({ agent: null });
    await process.answer(request, { sessionId: `left-${bay.name}` });
    expect((await process.received("session/close")).message.params).toEqual({ sessionId: `left-${bay.name}` });
    const { sessions } = await watcher.call("_acp-master/sessions", {});
    expect(sessions.map((row: Loose) => row.sessionId)).not.toContain(`left-${bay.name}`);
  });

  it("stays when the caller has ended its input and still reads", async () => {
    const bay = bench.agent({ "session/new": false });
    const client = await bay.client();
    const made = client.newSession();
    const process = await bay.process();
    const request = await process.received("session/new");
    client.endInput();
    await process.answer(request, { sessionId: "kept" });
    expect((await made).sessionId).toBe("kept");
    await client.ended;
    const next = await bay.client();
    await next.call("session/load", { sessionId: "kept", ...place() });
    expect((await next.prompt("kept", "x")).result).toEqual({ stopReason: "end_turn" });
    expect(process.count("session/close")).toBe(0);
  });
});
