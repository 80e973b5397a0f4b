// Field faults of kind framing: answers of a client to an agent's request that are no legal responses.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OneMaster, ways } from "./one-master.ts";

const ALLOW = '{"outcome":{"outcome":"selected","optionId":"yes"}}';
const ERROR = '{"code":1,"message":"x"}';

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({ plain: { auto: { "session/prompt": false } } });
});

afterAll(() => one[Symbol.asyncDispose]());

/** What a client may send instead of an answer; every one of them would allow, if it were read loosely. */
const malformed: readonly (readonly [string, (id: string) => string])[] = [
  ["both result and error", (id) => `{"jsonrpc":"2.0","id":${id},"result":${ALLOW},"error":${ERROR}}`],
  ["neither result nor error", (id) => `{"jsonrpc":"2.0","id":${id}}`],
  ["another version", (id) => `{"jsonrpc":"1.0","id":${id},"result":${ALLOW}}`],
  ["no version", (id) => `{"id":${id},"result":${ALLOW}}`],
  ["two results", (id) => `{"jsonrpc":"2.0","id":${id},"result":${ALLOW},"result":${ALLOW}}`],
  ["an escaped key", (id) => `{"jsonrpc":"2.0","id":${id},"r\\u0065sult":${ALLOW},"error":${ERROR}}`],
  [
    "two outcomes",
    (id) => `{"jsonrpc":"2.0","id":${id},"result":{"outcome":{"outcome":"selected","optionId":"no","optionId":"yes"}}}`,
  ],
];

describe("a malformed answer to a permission request", () => {
  it.each(malformed)(
    "(%s) is never answered, and settles as a refusal once it came too often (FF-13)",
    async (_, line) => {
      await using talk = await one.talk("plain");
      const { client, sessionId, process } = talk;
      client.answer("session/request_permission", (__, { id }) => void client.send(line(JSON.stringify(id))));
      const id = `perm-${sessionId}`;
      const answer = await process.askPermission(sessionId, { id });
      expect(answer.result.outcome).toEqual({ outcome: "selected", optionId: "no" });
      await client.call("session/set_mode", { sessionId, modeId: "m" });
      const offers = client.received("session/request_permission").map((offer) => offer.id);
      expect(new Set(offers).size).toBe(4);
      const back = client.lines.all.filter(({ message }) => !message.method && offers.includes(message.id));
      expect(back).toEqual([]);
      expect(process.lines.all.filter(({ message }) => message.id === id).length).toBe(1);
      // What comes after the end is not answered either.
      for (const offer of offers) await client.send(line(JSON.stringify(offer)));
      await client.expectSilence();
    },
  );

  it.each(ways)("on the %s leaves the question answerable by the same client (FF-13)", async (way) => {
    await using talk = await one.talk("plain", { way });
    const { client, sessionId, process } = talk;
    const answer = process.askPermission(sessionId);
    const first = await client.next("session/request_permission");
    await client.send({ jsonrpc: "2.0", id: first.message.id, result: {}, error: { code: 1, message: "x" } });
    const second = await client.next("session/request_permission");
    expect(second.message.id).not.toBe(first.message.id);
    await client.send({ jsonrpc: "2.0", id: second.message.id, result: JSON.parse(ALLOW) });
    expect((await answer).result.outcome).toEqual({ outcome: "selected", optionId: "yes" });
  });
});

describe("an answer to another request of an agent", () => {
  const capabilities = { fs: { readTextFile: true, writeTextFile: true } };

  it.each(malformed.slice(0, 5))("with %s fails that request, once, and is never answered (FF-13)", async (_, line) => {
    await using talk = await one.talk("plain", { capabilities });
    const { client, sessionId, process } = talk;
    client.answer("fs/read_text_file", (__, { id }) => void client.send(line(JSON.stringify(id))));
    const id = `read-${sessionId}`;
    const answer = await process.request("fs/read_text_file", { sessionId, path: "/x" }, id);
    expect(answer.error?.code).toBe(-32603);
    await client.call("session/set_mode", { sessionId, modeId: "m" });
    expect(client.lines.all.filter(({ message }) => message.error)).toEqual([]);
    expect(process.lines.all.filter(({ message }) => message.id === id).length).toBe(1);
  });

  const results: readonly string[] = ["null", "false", "0", '""', "[]", "{}", "9007199254740993"];

  it.each(results)("whose result is %s is one and arrives as it is (FF-13)", async (result) => {
    await using talk = await one.talk("plain", { capabilities });
    const { client, sessionId, process } = talk;
    client.answer(
      "fs/write_text_file",
      (_, { id }) => void client.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`),
    );
    const id = `write-${sessionId}`;
    void process.request("fs/write_text_file", { sessionId, path: "/x", content: "" }, id).catch(() => {});
    const { text } = await process.lines.waitFor(({ message }) => message.id === id);
    expect(text).toBe(`{"jsonrpc":"2.0","id":"${id}","result":${result}}`);
  });

  it("of the agent whose result is null arrives at the client as null (FF-13)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    await process.answer(await process.received("session/prompt"), null);
    expect(await turn).toMatchObject({ result: null });
    expect("error" in (await turn)).toBe(false);
  });
});
