// session/close and session/delete: a leave, an end, and everything that was still open.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, Bench } from "../harness/bench.ts";
import type { Loose } from "../harness/lines.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 24 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const cancelled = { stopReason: "cancelled" };

describe("session/close", () => {
  it("with another controller attached is a leave that the agent never hears of", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const looker = await bay.client({ role: "observer" });
    const { sessionId } = await a.newSession();
    for (const client of [b, looker]) await client.call("session/load", { sessionId, ...place() });
    const turn = a.prompt(sessionId, "go");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const asked = process.askPermission(sessionId);
    await a.next("session/request_permission");
    expect(await a.call("session/close", { sessionId })).toEqual({});
    await process.say(sessionId, "on");
    await b.next((message) => message.params?.update?.content?.text === "on");
    const offer = await b.next("session/request_permission");
    await b.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "yes" } },
    });
    expect((await asked).result.outcome.optionId).toBe("yes");
    await process.answer(prompt, { stopReason: "end_turn" });
    // Its prompt is still its own.
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    expect(a.text(sessionId)).toBe("");
    expect(process.count("session/close")).toBe(0);

    // The last controller's close is the end; one that looks on does not keep it.
    expect(await b.call("session/close", { sessionId })).toEqual({});
    expect((await process.received("session/close")).message.params).toEqual({ sessionId });
    expect((await b.prompt(sessionId, "x")).error?.data.reason).toBe("not_attached");
    await process.say(sessionId, "ghost");
    await looker.call("_acp-master/status", {});
    await bay.reached(a);
    expect(looker.text(sessionId)).toBe("on");
  });

  it.each([
    ["with a close of its own", announcing({})],
    ["without one", announcing({ sessionCapabilities: { close: undefined } })],
  ])("of a session without a turn only leaves it, in an agent %s", async (_, initialize) => {
    const bay = bench.agent({ initialize });
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    expect(await a.call("session/close", { sessionId })).toEqual({});
    const process = await bay.process();
    await bay.reached(a);
    expect(process.count("session/close")).toBe(0);
    expect((await a.prompt(sessionId, "x")).error?.data.reason).toBe("not_attached");
    await b.call("session/load", { sessionId, ...place() });
    expect((await b.prompt(sessionId, "x")).result).toEqual({ stopReason: "end_turn" });
    expect(process.count("session/load")).toBe(0);
  });

  it("settles everything that is open, tells the agent, and answers every prompt", async () => {
    const bay = bench.agent({ "session/prompt": false, "session/close": false });
    const a = await bay.client({ capabilities: { fs: { readTextFile: true } } });
    const { sessionId } = await a.newSession();
    const running = a.prompt(sessionId, "1");
    const waiting = a.prompt(sessionId, "2");
    const process = await bay.process();
    await process.received("session/prompt");
    const asked = process.askPermission(sessionId);
    await a.next("session/request_permission");
    const closing = a.request("session/close", { sessionId, _meta: { n: 1 } });
    expect((await asked).result).toEqual({ outcome: { outcome: "cancelled" } });
    expect((await waiting).result).toEqual(cancelled);
    await process.received("session/cancel");
    const close = await process.received("session/close");
    expect(close.message.params).toEqual({ sessionId, _meta: { n: 1 } });
    // This agent never answers the prompt that it dropped.
    await process.answer(close, { _meta: { closed: 1 } });
    const ended = await running;
    expect(ended.result).toEqual(cancelled);
    const closed = await closing;
    expect(closed.result).toEqual({ _meta: { closed: 1 } });
    const order = a.lines.all.map(({ message }) => message);
    expect(order.indexOf(ended)).toBeLessThan(order.indexOf(closed));
    const prompt = process.lines.all.find(({ message }) => message.method === "session/prompt");
    await process.answer(prompt!, cancelled);
    await bay.reached(a);
    expect(a.lines.all.filter(({ message }) => message.result?.stopReason !== undefined)).toHaveLength(2);
    const { sessions } = await a.call("_acp-master/sessions", {});
    expect(sessions.find((row: Loose) => row.sessionId === sessionId)).toMatchObject({ state: "closed", clients: [] });
  });

  it("counts an unknown session in the agent as closed; another error leaves all as it was", async () => {
    const bay = bench.agent({ "session/close": false });
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    await a.prompt(sessionId, "a turn");
    const process = await bay.process();
    const refused = a.request("session/close", { sessionId });
    await process.fail(await process.received("session/close"), { code: -32603, message: "not now", data: 1 });
    expect((await refused).error).toEqual({ code: -32603, message: "not now", data: 1 });
    expect((await a.prompt(sessionId, "goes on")).result).toEqual({ stopReason: "end_turn" });
    const closed = a.request("session/close", { sessionId });
    await process.fail(await process.received("session/close"), { code: -32002, message: "gone" });
    expect((await closed).result).toEqual({});
    expect((await a.prompt(sessionId, "x")).error?.data.reason).toBe("not_attached");
  });

  it("of a session that was loaded is told to the agent, which has it in its store", async () => {
    const bay = bench.agent();
    const a = await bay.client();
    await a.call("session/load", { sessionId: "stored", ...place() });
    await a.call("session/close", { sessionId: "stored" });
    expect((await bay.process()).count("session/close")).toBe(1);
    await a.call("session/load", { sessionId: "stored", ...place() });
    const process = await bay.process();
    expect([process.count("session/load"), process.count("session/resume")]).toEqual([1, 1]);
  });

  it("answers what runs in an agent that has no close", async () => {
    const bay = bench.agent({
      initialize: announcing({ sessionCapabilities: { close: undefined } }),
      "session/prompt": false,
    });
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    const running = a.prompt(sessionId, "1");
    const process = await bay.process();
    await process.received("session/prompt");
    expect(await a.call("session/close", { sessionId })).toEqual({});
    expect((await running).result).toEqual(cancelled);
    await process.received("session/cancel");
    await bay.reached(a);
    expect(process.count("session/close")).toBe(0);
  });
});

describe("session/delete", () => {
  const deleting = announcing({ sessionCapabilities: { delete: {} } });

  it("is refused as busy while another controller is attached", async () => {
    const bay = bench.agent({ initialize: deleting });
    const [a, b] = [await bay.client(), await bay.client()];
    const looker = await bay.client({ role: "observer" });
    const { sessionId } = await a.newSession();
    for (const client of [b, looker]) await client.call("session/load", { sessionId, ...place() });
    const outside = await bay.client();
    for (const client of [a, outside]) {
      const { error } = await client.request("session/delete", { sessionId });
      expect(error).toMatchObject({ code: -32057, data: { reason: "busy" } });
    }
    expect((await looker.request("session/delete", { sessionId })).error?.data.reason).toBe("observer");
    const process = await bay.process();
    expect(process.count("session/delete")).toBe(0);
    await bench.leave(b);
    expect(await a.call("session/delete", { sessionId })).toEqual({});
    expect((await process.received("session/delete")).message.params).toEqual({ sessionId });
    expect((await a.prompt(sessionId, "x")).error?.data.reason).toBe("unknown_session");
  });

  it("needs no attachment, and passes the agent's answer on", async () => {
    const bay = bench.agent({ initialize: deleting, "session/delete": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    await bench.leave(a);
    const process = await bay.process();
    const refused = b.request("session/delete", { sessionId });
    await process.fail(await process.received("session/delete"), { code: -32603, message: "locked" });
    expect((await refused).error).toEqual({ code: -32603, message: "locked" });
    await b.call("session/load", { sessionId, ...place() });
    const deleted = b.request("session/delete", { sessionId });
    await process.fail(await process.received("session/delete"), { code: -32002, message: "gone" });
    expect((await deleted).result).toEqual({});
    // One that does not run here is the agent's own business.
    const stored = b.request("session/delete", { sessionId: "elsewhere" });
    const request = await process.received("session/delete");
    expect(request.message.params).toEqual({ sessionId: "elsewhere" });
    await process.answer(request, { n: 1 });
    expect((await stored).result).toEqual({ n: 1 });
  });

  it("ends the turn that runs", async () => {
    const bay = bench.agent({ initialize: deleting, "session/prompt": false });
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    const running = a.prompt(sessionId, "1");
    const process = await bay.process();
    await process.received("session/prompt");
    const asked = process.askPermission(sessionId);
    await a.next("session/request_permission");
    expect(await a.call("session/delete", { sessionId })).toEqual({});
    expect((await asked).result.outcome).toEqual({ outcome: "cancelled" });
    expect((await running).result).toEqual(cancelled);
  });

  it("of an agent that has none lets the session go and forgets it", async () => {
    const bay = bench.agent();
    const a = await bay.client();
    const { sessionId } = await a.newSession();
    expect(await a.call("session/delete", { sessionId })).toEqual({});
    const process = await bay.process();
    expect([process.count("session/delete"), process.count("session/close")]).toEqual([0, 1]);
    expect((await a.call("session/list", {})).sessions).toEqual([]);
  });
});
