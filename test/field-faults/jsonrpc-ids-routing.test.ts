// Field faults of kind jsonrpc-ids: answers go to whoever asked, in any order, however late, and to nobody else.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Line } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { OneMaster, type Talk, ways } from "./one-master.ts";

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start(
    {
      plain: { auto: { "session/prompt": false } },
      answering: {},
    },
    { limits: { clientSeconds: 1 } },
  );
});

afterAll(() => one[Symbol.asyncDispose]());

const promptUnder = (client: RawClient, id: string | number, sessionId: string, text: string): Promise<void> =>
  client.send({
    jsonrpc: "2.0",
    id,
    method: "session/prompt",
    params: { sessionId, prompt: [{ type: "text", text }] },
  });

async function promptsOf(talks: readonly Talk[]): Promise<Line[]> {
  return await Promise.all(
    talks.map(({ process, sessionId }) =>
      process.received(({ method, params }) => method === "session/prompt" && params.sessionId === sessionId),
    ),
  );
}

describe("equal ids of several clients", () => {
  it.each(ways)("on one agent each get their own answer, also in reverse order, on the %s (FF-16)", async (way) => {
    await using a = await one.talk("plain", { way });
    await using b = await one.talk("plain", { way });
    await using c = await one.talk("plain");
    const talks = [a, b, c];
    expect(new Set(talks.map(({ process }) => process.pid)).size).toBe(1);
    for (const [index, { client, sessionId }] of talks.entries())
      await promptUnder(client, 1000, sessionId, `text ${index}`);
    const prompts = await promptsOf(talks);
    expect(new Set(prompts.map(({ message }) => message.id)).size).toBe(3);
    for (const prompt of prompts.toReversed()) {
      await a.process.answer(prompt, { stopReason: "end_turn", _meta: { echo: prompt.message.params.prompt[0].text } });
    }
    for (const [index, { client }] of talks.entries()) {
      const answer = await client.next(({ id }) => id === 1000);
      expect(answer.message.result._meta.echo).toBe(`text ${index}`);
      await client.call("_acp-master/status", {});
      expect(client.lines.all.filter(({ message }) => message.result?._meta?.echo).length).toBe(1);
    }
  });

  it("work for a client that uses one id for everything (FF-16)", async () => {
    await using client = await one.connection();
    const ask = async (method: string, params: object) => {
      await client.send({ jsonrpc: "2.0", id: 1, method, params });
      return (await client.next()).message.result;
    };
    await ask("initialize", { protocolVersion: 1, _meta: { "acp-master": { agent: "answering" } } });
    const { sessionId } = await ask("session/new", { cwd: client.cwd, mcpServers: [] });
    for (let n = 0; n < 3; n++) {
      expect(await ask("session/prompt", { sessionId, prompt: [] })).toEqual({ stopReason: "end_turn" });
    }
  });

  it("of one client that are open at once are each answered, also when its input has ended (FF-16)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    for (const modeId of ["a", "b"]) {
      await client.send({ jsonrpc: "2.0", id: 5, method: "_vendor/two", params: { sessionId, modeId } });
    }
    client.endInput();
    const requests = [await process.received("_vendor/two"), await process.received("_vendor/two")];
    for (const request of requests) await process.answer(request, { for: request.message.params.modeId });
    await client.ended;
    const answers = client.lines.all.filter(({ message }) => message.id === 5).map(({ message }) => message.result.for);
    expect(answers).toEqual(["a", "b"]);
  });

  it('as 1 and "1" of one client are two requests (FF-22)', async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const other = (await client.newSession()).sessionId;
    await promptUnder(client, 77, sessionId, "number");
    await promptUnder(client, "77", other, "string");
    const [number, string] = await promptsOf([talk, { ...talk, sessionId: other }]);
    await process.answer(string!, { stopReason: "end_turn", _meta: { for: "string" } });
    await process.answer(number!, { stopReason: "end_turn", _meta: { for: "number" } });
    const first = await client.next(({ result }) => result?._meta?.for);
    const second = await client.next(({ result }) => result?._meta?.for);
    expect(first.text).toContain('"id":"77","result":{"stopReason":"end_turn","_meta":{"for":"string"}}');
    expect(second.text).toContain('"id":77,"result":{"stopReason":"end_turn","_meta":{"for":"number"}}');
  });
});

describe("answers of clients", () => {
  it("in another order than asked each reach their own request (FF-26)", async () => {
    await using a = await one.talk("plain");
    await using b = await one.talk("plain", { way: "shim" });
    const asked = [a, b, a].map(({ process, sessionId }, n) =>
      process.askPermission(sessionId, {
        id: `P${n}`,
        toolCall: { toolCallId: `call-${n}`, title: `${n}` },
        options: [
          { optionId: `yes-${n}`, name: "Yes", kind: "allow_once" },
          { optionId: `no-${n}`, name: "No", kind: "reject_once" },
        ],
      }),
    );
    const offers = await Promise.all(
      [a, b, a].map(({ client }, n) =>
        client.next(
          ({ method, params }) => method === "session/request_permission" && params.toolCall.title === `${n}`,
        ),
      ),
    );
    for (const n of [2, 0, 1]) {
      const optionId = `${n === 1 ? "no" : "yes"}-${n}`;
      const { client } = n === 1 ? b : a;
      await client.send({
        jsonrpc: "2.0",
        id: offers[n]!.message.id,
        result: { outcome: { outcome: "selected", optionId } },
      });
    }
    const outcomes = (await Promise.all(asked)).map(({ result }) => result.outcome.optionId);
    expect(outcomes).toEqual(["yes-0", "no-1", "yes-2"]);
    for (const n of [0, 1, 2]) {
      expect(a.process.lines.all.filter(({ message }) => message.id === `P${n}`).length).toBe(1);
    }
  });

  it("under another client's question settle nothing (FF-16)", async () => {
    await using a = await one.talk("plain");
    await using b = await one.talk("plain");
    const asked = a.process.askPermission(a.sessionId);
    const offer = await a.client.next("session/request_permission");
    const allow = { outcome: { outcome: "selected", optionId: "yes" } };
    await b.client.send({ jsonrpc: "2.0", id: offer.message.id, result: allow });
    await b.client.expectSilence();
    await a.client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    expect((await asked).result.outcome.optionId).toBe("no");
    // A second answer to the same question is nobody's.
    await a.client.send({ jsonrpc: "2.0", id: offer.message.id, result: allow });
    await a.client.expectSilence();
  });
});

describe("a late answer", () => {
  it("of the agent to a client that is gone is dropped; agent and other sessions live on (FF-25)", async () => {
    await using a = await one.talk("plain");
    await using b = await one.talk("plain");
    const { process } = a;
    await promptUnder(a.client, 1, a.sessionId, "go");
    await a.client.send({ jsonrpc: "2.0", id: 2, method: "_vendor/slow", params: {} });
    const [prompt] = await promptsOf([a]);
    const slow = await process.received("_vendor/slow");
    await a.client.close();
    await b.client.call("_acp-master/status", {});
    await process.answer(slow, { late: true });
    await process.answer(prompt!, { stopReason: "end_turn" });
    await process.answer(prompt!, { stopReason: "end_turn" });
    await promptUnder(b.client, 1, b.sessionId, "on");
    await process.answer((await promptsOf([b]))[0]!, { stopReason: "end_turn" });
    await b.client.next(({ id, result }) => id === 1 && result?.stopReason === "end_turn");
    expect(b.client.lines.all.some(({ text }) => text.includes('"late"'))).toBe(false);
    expect(b.process.pid).toBe(process.pid);
  });

  it("of the agent after its own second answer, or to a request that the daemon answered, is dropped (FF-25)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const [prompt] = await promptsOf([talk]);
    await process.answer(prompt!, { stopReason: "end_turn" });
    await process.answer(prompt!, { stopReason: "refusal" });
    await process.fail(prompt!, { code: 1, message: "x" });
    expect((await turn).result.stopReason).toBe("end_turn");
    await client.expectSilence(() => true, {
      through: () => client.request("session/set_mode", { sessionId, modeId: "m" }),
    });
  });

  it("of a client, after the daemon gave up waiting for it, is dropped; the connection stays (FF-25)", async () => {
    await using talk = await one.talk("plain", { capabilities: { fs: { readTextFile: true } } });
    const { client, sessionId, process } = talk;
    const answer = await process.request("fs/read_text_file", { sessionId, path: "/x" }, "gave-up");
    expect(answer.error?.data.reason).toBe("no_client");
    const question = await client.next("fs/read_text_file");
    const cancel = await client.next("$/cancel_request");
    expect(cancel.message.params).toEqual({ requestId: question.message.id });
    await client.send({ jsonrpc: "2.0", id: question.message.id, result: { content: "late" } });
    await client.expectSilence(() => true, {
      through: () => client.request("session/set_mode", { sessionId, modeId: "m" }),
    });
    expect(process.lines.all.filter(({ message }) => message.id === "gave-up").length).toBe(1);
  });
});
