// Prompts: one turn at a time, a bounded queue, and cancels that reach what they were meant for.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench } from "../harness/bench.ts";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 20, config: { limits: { promptQueue: 2 } } });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const cancelled = { stopReason: "cancelled" };
const done = { stopReason: "end_turn" };

async function pair(): Promise<{ bay: ReturnType<Bench["agent"]>; a: RawClient; b: RawClient; sessionId: string }> {
  const bay = bench.agent({ "session/prompt": false });
  const [a, b] = [await bay.client(), await bay.client()];
  const { sessionId } = await a.newSession();
  await b.call("session/load", { sessionId, ...place() });
  return { bay, a, b, sessionId };
}

describe("prompts", () => {
  it("run one after the other, in the order in which they came, whoever sent them", async () => {
    const { bay, a, b, sessionId } = await pair();
    const turns = [a.prompt(sessionId, "1")];
    const process = await bay.process();
    const first = await process.received("session/prompt");
    turns.push(b.prompt(sessionId, "2"));
    await bay.reached(b);
    turns.push(a.prompt(sessionId, "3"));
    await bay.reached(a);
    expect((await b.prompt(sessionId, "4")).error).toMatchObject({ code: -32057, data: { reason: "busy" } });
    expect(process.count("session/prompt")).toBe(1);
    await process.answer(first, { ...done, n: 1 });
    const second = await process.received("session/prompt");
    expect(second.message.params.prompt[0].text).toBe("2");
    // There is room again.
    turns.push(b.prompt(sessionId, "5"));
    await process.fail(second, { code: -32603, message: "broke" });
    const third = await process.received("session/prompt");
    expect(third.message.params.prompt[0].text).toBe("3");
    await process.answer(third, done);
    await process.answer(await process.received("session/prompt"), done);
    const answers = await Promise.all(turns);
    expect(answers.map(({ result, error }) => result ?? error)).toEqual([
      { ...done, n: 1 },
      { code: -32603, message: "broke" },
      done,
      done,
    ]);
  });

  it("FF-98: are shown to the others when they are handed on, block by block, and not to their sender", async () => {
    const { bay, a, b, sessionId } = await pair();
    const blocks = [
      { type: "text", text: "å", annotations: { n: 1 } },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "resource_link", uri: "file:///x", name: "x" },
    ];
    const turn = a.request("session/prompt", { sessionId, prompt: blocks, _meta: { m: 1 } });
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    expect(prompt.message.params).toEqual({ sessionId, prompt: blocks, _meta: { m: 1 } });
    const waiting = b.prompt(sessionId, "mine");
    await bay.reached(b);
    expect(a.updates()).toEqual([]);
    await process.say(sessionId, "answer");
    await process.answer(prompt, done);
    await turn;
    await process.answer(await process.received("session/prompt"), done);
    await waiting;
    expect(b.updates().map((one) => one.content)).toEqual([...blocks, { type: "text", text: "answer" }]);
    expect(a.updates().map((one) => [one.sessionUpdate, one.content.text])).toEqual([
      ["agent_message_chunk", "answer"],
      ["user_message_chunk", "mine"],
    ]);
    const late = await bay.client();
    await late.call("session/load", { sessionId, ...place() });
    expect(late.updates().map((one) => one.sessionUpdate)).toEqual([
      ...blocks.map(() => "user_message_chunk"),
      "agent_message_chunk",
      "user_message_chunk",
    ]);
  });

  it("come back, with every setting, to a client that asked to be told of its own doings", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client({ echo: true });
    const { sessionId } = await a.newSession();
    const turns = [a.prompt(sessionId, "1"), a.prompt(sessionId, "2")];
    const process = await bay.process();
    const first = await process.received("session/prompt");
    await bay.reached(a);
    expect(a.updates().map((one) => one.content.text)).toEqual(["1"]);
    await process.answer(first, done);
    await process.answer(await process.received("session/prompt"), done);
    await Promise.all(turns);
    const set = a.request("session/set_mode", { sessionId, modeId: "m" });
    await process.answer(await process.received("session/set_mode"), {});
    await set;
    await bay.reached(a);
    expect(a.updates().map((one) => one.content?.text ?? one.currentModeId)).toEqual(["1", "2", "m"]);
  });

  it("of a client that went stay, and run in their turn", async () => {
    const { bay, a, b, sessionId } = await pair();
    const turn = b.prompt(sessionId, "1");
    const process = await bay.process();
    const first = await process.received("session/prompt");
    void a.prompt(sessionId, "left behind");
    await bay.reached(a);
    await a.close();
    await process.answer(first, done);
    await turn;
    const second = await process.received("session/prompt");
    expect(second.message.params.prompt[0].text).toBe("left behind");
    await process.say(sessionId, "on it");
    await b.next((message) => message.params?.update?.content?.text === "on it");
    await process.answer(second, done);
    expect(b.updates()[0]).toMatchObject({ sessionUpdate: "user_message_chunk" });
    const after = b.prompt(sessionId, "3");
    await process.answer(await process.received("session/prompt"), done);
    expect((await after).result).toEqual(done);
  });
});

describe("session/cancel", () => {
  it("ends the running turn and the caller's own waiting prompts, nobody else's", async () => {
    const { bay, a, b, sessionId } = await pair();
    const running = a.prompt(sessionId, "1");
    const process = await bay.process();
    const first = await process.received("session/prompt");
    const theirs = a.prompt(sessionId, "a waits");
    await bay.reached(a);
    const own = b.prompt(sessionId, "b waits");
    await bay.reached(b);
    await b.notify("session/cancel", { sessionId, _meta: { n: 1 } });
    expect((await own).result).toEqual(cancelled);
    expect((await process.received("session/cancel")).message.params).toEqual({ sessionId, _meta: { n: 1 } });
    await b.notify("session/cancel", { sessionId });
    await bay.reached(b);
    expect(process.count("session/cancel")).toBe(1);
    await process.answer(first, cancelled);
    expect((await running).result).toEqual(cancelled);
    const second = await process.received("session/prompt");
    expect(second.message.params.prompt[0].text).toBe("a waits");
    await process.answer(second, done);
    expect((await theirs).result).toEqual(done);
    expect([process.count("session/prompt"), process.count("session/cancel")]).toEqual([2, 1]);
  });

  it("right behind a prompt is neither lost nor early", async () => {
    const { bay, a, sessionId } = await pair();
    const process = await bay.process();
    for (let n = 0; n < 10; n++) {
      const id = `turn-${n}`;
      const cancels = process.count("session/cancel");
      const turn = a.next((message) => message.id === id);
      const lines = [
        { jsonrpc: "2.0", id, method: "session/prompt", params: { sessionId, prompt: [{ type: "text", text: id }] } },
        { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } },
      ];
      await a.send(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
      // It was handed on before the cancel, or the cancel came before the hand-over.
      const reached = await eventually(
        () =>
          (process.count("session/cancel") > cancels && "agent") ||
          (a.lines.all.some(({ message }) => message.id === id) && "master"),
        "the cancel has an effect",
      );
      if (reached === "agent") {
        const prompt = await process.received("session/prompt");
        const cancel = await process.received("session/cancel");
        expect(process.lines.all.indexOf(prompt)).toBeLessThan(process.lines.all.indexOf(cancel));
        await process.answer(prompt, cancelled);
      }
      expect((await turn).message.result).toEqual(cancelled);
    }
  });

  it("FF-85: that comes late reaches neither the agent nor the next turn", async () => {
    const { bay, a, b, sessionId } = await pair();
    await a.notify("session/cancel", { sessionId });
    const first = a.prompt(sessionId, "1");
    const process = await bay.process();
    await process.answer(await process.received("session/prompt"), done);
    await first;
    await a.notify("session/cancel", { sessionId });
    await b.notify("session/cancel", { sessionId });
    await b.call("_acp-master/session/cancel", { sessionId });
    const second = a.prompt(sessionId, "2");
    const prompt = await process.received("session/prompt");
    await bay.reached(a);
    expect(process.count("session/cancel")).toBe(0);
    await process.answer(prompt, done);
    expect((await second).result).toEqual(done);
  });

  it("settles the open questions first, takes them back, and answers those that still come", async () => {
    const { bay, a, b, sessionId } = await pair();
    const turn = a.prompt(sessionId, "1");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const asked = [process.askPermission(sessionId), process.askPermission(sessionId)];
    for (const client of [a, b, a, b]) await client.next("session/request_permission");
    await a.notify("session/cancel", { sessionId });
    for (const one of asked) expect((await one).result).toEqual({ outcome: { outcome: "cancelled" } });
    await process.received("session/cancel");
    const order = process.lines.all.map(({ message }) => message.method ?? message.result?.outcome?.outcome);
    expect(order.slice(-3)).toEqual(["cancelled", "cancelled", "session/cancel"]);
    for (const client of [a, b]) {
      const offers = new Set(client.received("session/request_permission").map((message) => message.id));
      for (let n = 0; n < 2; n++) {
        expect(offers.has((await client.next("$/cancel_request")).message.params.requestId)).toBe(true);
      }
    }
    expect((await process.askPermission(sessionId)).result).toEqual({ outcome: { outcome: "cancelled" } });
    await process.say(sessionId, "late");
    await process.answer(prompt, cancelled);
    expect((await turn).result).toEqual(cancelled);
    expect(a.text(sessionId)).toBe("late");
    expect(a.received("session/request_permission")).toHaveLength(2);
  });

  it("of the master itself ends the waiting prompts of all", async () => {
    const { bay, a, b, sessionId } = await pair();
    const turns = [a.prompt(sessionId, "1")];
    const process = await bay.process();
    const first = await process.received("session/prompt");
    turns.push(a.prompt(sessionId, "2"), b.prompt(sessionId, "3"));
    await bay.reached(a);
    await bay.reached(b);
    const other = await bench.master.client();
    await other.initialize({ agent: null });
    await other.call("_acp-master/session/cancel", { sessionId });
    await process.received("session/cancel");
    await process.answer(first, cancelled);
    for (const turn of turns) expect((await turn).result).toEqual(cancelled);
    expect(process.count("session/prompt")).toBe(1);
  });
});

describe("$/cancel_request", () => {
  it("takes back a waiting prompt without a word to the agent, and only its sender's", async () => {
    const { bay, a, b, sessionId } = await pair();
    const running = a.prompt(sessionId, "1");
    const process = await bay.process();
    const first = await process.received("session/prompt");
    const waiting = a.request("session/prompt", { sessionId, prompt: [] }, "w");
    await bay.reached(a);
    await b.notify("$/cancel_request", { requestId: "w" });
    await a.notify("$/cancel_request", { requestId: "unknown" });
    await a.notify("$/cancel_request", { requestId: 1 });
    await a.notify("$/cancel_request", {});
    await bay.reached(b);
    await bay.reached(a);
    expect(process.count("$/cancel_request")).toBe(0);
    await a.notify("$/cancel_request", { requestId: "w" });
    expect((await waiting).result).toEqual(cancelled);
    await process.answer(first, done);
    expect((await running).result).toEqual(done);
    expect([process.count("session/prompt"), process.count("session/cancel")]).toEqual([1, 0]);
  });

  it("is passed on under the id of the hop, and the cancelled request still gets its answer", async () => {
    const { bay, a, sessionId } = await pair();
    bay.agent.setAuto("session/set_mode", false);
    bay.agent.setAuto("session/new", false);
    const process = await bay.process();
    await process.received("session/new");
    const cases: [string, Loose, string][] = [
      ["session/prompt", { sessionId, prompt: [] }, "\u00e5"],
      ["session/set_mode", { sessionId, modeId: "m" }, "1"],
      ["session/new", place(), ""],
      ["_x/do", { sessionId }, "x"],
      ["_x/do", {}, "y"],
    ];
    for (const [method, params, id] of cases) {
      const answer = a.request(method, params, id);
      const request = await process.received(method);
      await a.notify("$/cancel_request", { requestId: id });
      const notice = await process.received("$/cancel_request");
      expect(notice.message.params).toEqual({ requestId: request.message.id });
      await process.fail(request, { code: -32800, message: "cancelled" });
      expect((await answer).error).toEqual({ code: -32800, message: "cancelled" });
      // Answered requests are nobody's to cancel.
      await a.notify("$/cancel_request", { requestId: id });
      await bay.reached(a);
    }
    expect(process.count("$/cancel_request")).toBe(cases.length);
  });

  it("of the agent reaches the client that was asked, under the id of its question", async () => {
    const bay = bench.agent();
    const capabilities = { fs: { readTextFile: true } };
    const [a, b] = [await bay.client({ capabilities }), await bay.client({ capabilities })];
    const { sessionId } = await a.newSession();
    await b.newSession();
    const process = await bay.process();
    for (const [method, id] of [
      ["fs/read_text_file", 0],
      ["_x/ask", "0"],
    ] as const) {
      const answered = process.request(method, { sessionId, path: "/" }, id);
      const question = await a.next(method);
      await process.notify("$/cancel_request", { requestId: id === 0 ? "0" : 0 });
      await process.notify("$/cancel_request", { requestId: 12_345 });
      await process.notify("$/cancel_request", { requestId: id });
      expect((await a.next("$/cancel_request")).message.params).toEqual({ requestId: question.message.id });
      await a.send({ jsonrpc: "2.0", id: question.message.id, error: { code: -32800, message: "stopped" } });
      expect((await answered).error).toEqual({ code: -32800, message: "stopped" });
    }
    await bay.reached(b);
    expect(a.received("$/cancel_request")).toHaveLength(2);
    expect(b.received("$/cancel_request")).toEqual([]);
    const asked = process.request(
      "session/request_permission",
      {
        sessionId,
        toolCall: { toolCallId: "t", title: "T" },
        options: [{ optionId: "y", name: "Y", kind: "allow_once" }],
      },
      "perm",
    );
    const offer = await a.next("session/request_permission");
    await process.notify("$/cancel_request", { requestId: "perm" });
    expect((await asked).result).toEqual({ outcome: { outcome: "cancelled" } });
    expect((await a.next("$/cancel_request")).message.params).toEqual({ requestId: offer.message.id });
  });
});
