// Field faults of kind jsonrpc-ids: the id in a cancel means something on one connection only; it is translated, or dropped.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { OneMaster, ways } from "./one-master.ts";

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({
    plain: { auto: { "session/prompt": false } },
    slow: { auto: { "session/new": false } },
  });
});

afterAll(() => one[Symbol.asyncDispose]());

const cancelsOf = (process: ScriptedProcess): Loose[] =>
  process.lines.all.filter(({ message }) => message.method === "$/cancel_request").map(({ message }) => message.params);

/** Everything that was sent before has arrived when this is through. */
const settle = (client: { call(method: string, params: object): Promise<Loose> }, sessionId: string): Promise<Loose> =>
  client.call("session/set_mode", { sessionId, modeId: "m" });

describe("a client's cancel of a request", () => {
  it.each(ways)("names, on the way from the %s to the agent, the id that the agent knows (FF-27)", async (way) => {
    await using talk = await one.talk("plain", { way });
    const { client, sessionId, process } = talk;
    const params = { sessionId, prompt: [{ type: "text", text: "go" }] };
    await client.send({ jsonrpc: "2.0", id: 101, method: "session/prompt", params });
    const prompt = await process.received("session/prompt");
    await client.notify("$/cancel_request", { requestId: 101 });
    const cancel = await process.received("$/cancel_request");
    expect(cancel.message.params).toEqual({ requestId: prompt.message.id });
    await process.fail(prompt, { code: -32800, message: "cancelled" });
    const answer = await client.next(({ id }) => id === 101);
    expect(answer.message.error).toEqual({ code: -32800, message: "cancelled" });
  });

  it.each(["0", '"0"', '""', "null", '"é"', '"\\u00e9"', "9007199254740993", "1e3", "-0"])(
    "finds a request under id %s, and not under another spelling (FF-27, FF-22)",
    async (id) => {
      await using talk = await one.talk("plain");
      const { client, sessionId, process } = talk;
      const before = cancelsOf(process).length;
      await client.send(`{"jsonrpc":"2.0","id":${id},"method":"_vendor/long","params":{}}`);
      const request = await process.received("_vendor/long");
      for (const other of [
        "1",
        '"1"',
        "101",
        '"null"',
        "false",
        "{}",
        "[]",
        '"-0"',
        "0.0",
        "1000",
        "9007199254740992",
      ]) {
        await client.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${other}}}`);
      }
      await client.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id}}}`);
      await settle(client, sessionId);
      expect(cancelsOf(process).slice(before)).toEqual([{ requestId: request.message.id }]);
      await process.answer(request, {});
      await client.next(({ result }) => JSON.stringify(result) === "{}");
      // What is answered cannot be cancelled.
      await client.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id}}}`);
      await settle(client, sessionId);
      expect(cancelsOf(process).length).toBe(before + 1);
    },
  );

  it("reaches the agent although its requests wait for answers, and before later ones (FF-27)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const from = process.lines.all.length;
    for (const id of ["a", "b", "c"]) await client.send({ jsonrpc: "2.0", id, method: "_vendor/long", params: {} });
    await client.notify("$/cancel_request", { requestId: "b" });
    await client.send({ jsonrpc: "2.0", id: "d", method: "_vendor/long", params: {} });
    await settle(client, sessionId);
    const methods = process.lines.all.slice(from).map(({ message }) => message.method);
    const long = "_vendor/long";
    expect(methods).toEqual([long, long, long, "$/cancel_request", long, "session/set_mode"]);
    const lines = process.lines.all.slice(from).map(({ message }) => message);
    expect(lines[3]?.params.requestId).toBe(lines[1]?.id);
    for (let n = 0; n < 4; n++) await process.answer(await process.received(long), {});
  });

  it("sent together with a request that first has to find its process is not lost (FF-27)", async () => {
    await using client = await one.client("slow");
    const params = { cwd: client.cwd, mcpServers: [] };
    await client.send(
      Buffer.from(
        `{"jsonrpc":"2.0","id":"new","method":"session/new","params":${JSON.stringify(params)}}\n{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"new"}}\n`,
      ),
    );
    const process = await one.agent("slow").process(0);
    const request = await process.received("session/new");
    expect((await process.received("$/cancel_request")).message.params).toEqual({ requestId: request.message.id });
    await process.fail(request, { code: -32800, message: "cancelled" });
    expect((await client.next(({ id }) => id === "new")).message.error?.code).toBe(-32800);
  });

  it("of a prompt that still waits for another is answered here; the agent hears of neither (FF-27)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const before = cancelsOf(process).length;
    const first = client.prompt(sessionId, "first");
    const prompt = await process.received("session/prompt");
    const params = { sessionId, prompt: [{ type: "text", text: "second" }] };
    await client.send({ jsonrpc: "2.0", id: "second", method: "session/prompt", params });
    await client.notify("$/cancel_request", { requestId: "second" });
    const second = await client.next(({ id }) => id === "second");
    expect(second.message.result.stopReason).toBe("cancelled");
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await first).result.stopReason).toBe("end_turn");
    await settle(client, sessionId);
    expect(cancelsOf(process).length).toBe(before);
  });

  it("that is another client's, the agent's or nobody's reaches nobody (FF-27)", async () => {
    await using a = await one.talk("plain");
    await using b = await one.talk("plain");
    const { process } = a;
    const before = cancelsOf(process).length;
    const params = { sessionId: a.sessionId, prompt: [] };
    await a.client.send({ jsonrpc: "2.0", id: 101, method: "session/prompt", params });
    const prompt = await process.received("session/prompt");
    const asked = process.askPermission(a.sessionId, { id: `mine-${a.sessionId}` });
    const offer = await a.client.next("session/request_permission");
    const ids = [101, "101", prompt.message.id, offer.message.id, `mine-${a.sessionId}`, 31337, null, undefined];
    for (const requestId of ids) await b.client.notify("$/cancel_request", { requestId });
    for (const requestId of [prompt.message.id, offer.message.id, `mine-${a.sessionId}`, 102]) {
      await a.client.notify("$/cancel_request", { requestId });
    }
    await b.client.send({ jsonrpc: "2.0", method: "$/cancel_request" });
    await b.client.send({ jsonrpc: "2.0", method: "$/cancel_request", params: [101] });
    await settle(b.client, b.sessionId);
    await settle(a.client, a.sessionId);
    expect(cancelsOf(process).length).toBe(before);
    expect(a.client.received("$/cancel_request")).toEqual([]);
    await a.client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    expect((await asked).result.outcome.optionId).toBe("no");
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await a.client.next(({ id }) => id === 101)).message.result.stopReason).toBe("end_turn");
  });

  it("sent as a request is told that it is none, and passed to nobody (FF-27)", async () => {
    await using a = await one.talk("plain");
    await using b = await one.talk("plain");
    const before = cancelsOf(a.process).length;
    await a.client.send({ jsonrpc: "2.0", id: 101, method: "_vendor/long", params: {} });
    const request = await a.process.received("_vendor/long");
    for (const params of [
      { requestId: 101 },
      { requestId: request.message.id },
      { requestId: 101, sessionId: b.sessionId },
    ]) {
      expect((await b.client.request("$/cancel_request", params)).error?.code).toBe(-32601);
    }
    await settle(b.client, b.sessionId);
    expect(cancelsOf(a.process).length).toBe(before);
    await a.process.answer(request, { done: true });
    expect((await a.client.next(({ id }) => id === 101)).message.result).toEqual({ done: true });
  });
});

describe("an agent's cancel of its own request", () => {
  it.each(["7", "0", '"p"', "null", "1e3", "4294967296"])(
    "under id %s withdraws the question from the client under the client's id, and is answered (FF-27)",
    async (id) => {
      await using talk = await one.talk("plain");
      const { client, sessionId, process } = talk;
      const params = {
        sessionId,
        toolCall: { toolCallId: "t" },
        options: [{ optionId: "y", name: "Y", kind: "allow_once" }],
      };
      await process.send(
        `{"jsonrpc":"2.0","id":${id},"method":"session/request_permission","params":${JSON.stringify(params)}}`,
      );
      const offer = await client.next("session/request_permission");
      await process.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":${id}}}`);
      const answer = await process.received(({ result }) => result?.outcome !== undefined);
      expect(answer.text).toBe(`{"jsonrpc":"2.0","id":${id},"result":{"outcome":{"outcome":"cancelled"}}}`);
      const cancel = await client.next("$/cancel_request");
      expect(cancel.message.params).toEqual({ requestId: offer.message.id });
      const late = { outcome: { outcome: "selected", optionId: "y" } };
      await client.send({ jsonrpc: "2.0", id: offer.message.id, result: late });
      await client.expectSilence(() => true, {
        through: () => client.request("session/set_mode", { sessionId, modeId: "m" }),
      });
    },
  );

  it("reaches the client that was asked, whose answer still counts (FF-27)", async () => {
    await using talk = await one.talk("plain", { capabilities: { fs: { readTextFile: true } } });
    await using beside = await one.talk("plain", { capabilities: { fs: { readTextFile: true } } });
    const { client, sessionId, process } = talk;
    const reading = process.request("fs/read_text_file", { sessionId, path: "/x" }, `read-${sessionId}`);
    const question = await client.next("fs/read_text_file");
    await process.notify("$/cancel_request", { requestId: `read-${sessionId}` });
    const cancel = await client.next("$/cancel_request");
    expect(cancel.message.params).toEqual({ requestId: question.message.id });
    await client.send({ jsonrpc: "2.0", id: question.message.id, error: { code: -32800, message: "cancelled" } });
    expect((await reading).error).toEqual({ code: -32800, message: "cancelled" });
    expect(beside.client.received("$/cancel_request")).toEqual([]);
  });

  it("that names no open request of its own reaches nobody (FF-27)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const params = { sessionId, prompt: [] };
    await client.send({ jsonrpc: "2.0", id: 101, method: "session/prompt", params });
    const prompt = await process.received("session/prompt");
    const asked = process.askPermission(sessionId, { id: "open" });
    const offer = await client.next("session/request_permission");
    for (const requestId of [101, prompt.message.id, offer.message.id, "OPEN", 31337, null, {}, undefined]) {
      await process.notify("$/cancel_request", { requestId });
      await process.send({ jsonrpc: "2.0", id: "as-request", method: "$/cancel_request", params: { requestId } });
      expect((await process.received(({ id }) => id === "as-request")).message.error?.code).toBe(-32601);
    }
    await process.answer(prompt, { stopReason: "end_turn" });
    await client.next(({ id }) => id === 101);
    // The end of its turn is what withdraws the question.
    expect((await asked).result.outcome.outcome).toBe("cancelled");
    expect(client.received("$/cancel_request").map((message) => message.params.requestId)).toEqual([offer.message.id]);
  });
});
