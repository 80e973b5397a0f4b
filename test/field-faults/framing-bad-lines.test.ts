// Field faults of kind framing: lines of a client that are no legal message. The sender is told, everybody else goes on.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { OneMaster, ways } from "./one-master.ts";

/** This many lines in a row that are no message close the connection. */
const THRESHOLD = 20;
const WITHIN_MS = 5_000;

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({ plain: { auto: { "session/prompt": false } } });
});

afterAll(() => one[Symbol.asyncDispose]());

const list = (id: Loose): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"session/list","params":{}}`;

/** Sends the line and a good request; gives what came back for the line, by its raw id and code. */
async function answersTo(client: RawClient, line: string | Buffer): Promise<[string, Loose][]> {
  const from = client.lines.all.length;
  await client.send(line);
  await client.send(list("good"));
  await client.next((message) => message.id === "good", WITHIN_MS);
  return client.lines.all.slice(from, -1).map((answer) => [rawId(answer), answer.message.error?.code]);
}

const rawId = ({ text }: Line): string => /^\{"jsonrpc":"2\.0","id":(.*?),"(?:error|result)"/.exec(text)?.[1] ?? text;

describe("a line that is no JSON", () => {
  const bad: readonly (readonly [string, string | Buffer])[] = [
    ["a message cut short", '{"jsonrpc":"2.0","id":1,"method":'],
    ["text", "hello"],
    ["a message with a comma too many", '{"jsonrpc":"2.0","id":1,"method":"session/list",}'],
    ["two messages", `${list(1)}${list(2)}`],
    ["single quotes", "{'jsonrpc':'2.0','id':1,'method':'session/list'}"],
    ["a comment", `${list(1)} // mine`],
    ["a raw tab in a string", '{"jsonrpc":"2.0","id":1,"method":"session/\tlist"}'],
    ["invalid UTF-8", Buffer.from('{"jsonrpc":"2.0","id":"\xff","method":"session/list"}\n', "latin1")],
    ["a zero byte", Buffer.from("\0\n")],
    ["UTF-16", Buffer.from(`${list(1)}\n`, "utf16le").subarray(0, -1)],
    ["a number of a shape that JSON has not", '{"jsonrpc":"2.0","id":01,"method":"session/list"}'],
    ["not a number", '{"jsonrpc":"2.0","id":NaN,"method":"session/list"}'],
  ];

  it.each(bad)("(%s) is answered -32700 with id null, and the next one as ever (FF-9)", async (_, line) => {
    await using client = await one.client(null);
    expect(await answersTo(client, line)).toEqual([["null", -32700]]);
  });

  it.each(ways)("on the %s costs no other line of the same connection (FF-9)", async (way) => {
    await using talk = await one.talk("plain", { way });
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    expect(await answersTo(client, '{"jsonrpc":"2.0","id":1,"method":')).toEqual([["null", -32700]]);
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result.stopReason).toBe("end_turn");
  });

  it("before initialize is told as well (FF-9)", async () => {
    await using client = await one.connection();
    await client.send("nonsense");
    expect((await client.next()).message).toMatchObject({ id: null, error: { code: -32700 } });
    await client.initialize({ agent: null });
  });

  it.each(ways)(
    "again and again closes the %s after twenty in a row, saying why, and nobody else's (FF-9)",
    async (way) => {
      await using beside = await one.client(null);
      await using client = await one.client(null, { way, events: true });
      for (const garbage of [THRESHOLD - 1, THRESHOLD - 1]) {
        for (let n = 0; n < garbage; n++) await client.send("garbage");
        await client.send(list("good"));
        await client.next((message) => message.id === "good");
      }
      for (let n = 0; n < THRESHOLD + 5; n++) await client.send("garbage");
      await within(client.ended, "the connection is closed");
      const errors = client.lines.all.filter((line) => line.message.error?.code === -32700);
      expect(errors.length).toBe(3 * THRESHOLD - 2);
      if (way === "socket") {
        expect(client.received("_acp-master/closing")[0]?.params.reason).toMatch(/20 lines/);
      } else {
        expect((await client.program!.exited).code).toBe(1);
        expect(client.program!.stderr).toMatch(/20 lines/);
      }
      expect((await beside.request("session/list", {})).result).toBeDefined();
    },
  );
});

describe("JSON that is no legal request", () => {
  const bad: readonly (readonly [string, string])[] = [
    ['{"jsonrpc":"1.0","id":3,"method":"session/list"}', "3"],
    ['{"jsonrpc":"2.0","id":4,"method":17}', "4"],
    ['{"id":5,"method":"session/list"}', "5"],
    ['{"jsonrpc":2,"id":6,"method":"session/list"}', "6"],
    ['{"jsonrpc":"2.0","id":7,"method":null}', "7"],
    ['{"jsonrpc":"2.0","id":8,"method":"session/list","params":"x"}', "8"],
    ['{"jsonrpc":"2.0","id":9,"method":"session/list","params":null}', "9"],
    ['{"jsonrpc":"2.0","id":10,"method":"session/list","result":{}}', "10"],
    ['{"jsonrpc":"2.0","id":11}', "11"],
    ['{"jsonrpc":"2.0","id":"é","method":{}}', '"é"'],
    ['{"jsonrpc":"1.0","id":0,"method":"session/list"}', "0"],
    ['{"jsonrpc":"1.0","id":"","method":"session/list"}', '""'],
    ['{"jsonrpc":"1.0","id":null,"method":"session/list"}', "null"],
    ['{"jsonrpc":"1.0","id":9007199254740993,"method":"session/list"}', "9007199254740993"],
    ['{"jsonrpc":"2.0","id":12,"method":"session/list","method":"session/new"}', "12"],
    ['{"jsonrpc":"2.0","id":13,"m\\u0065thod":"session/list"}', "13"],
    ['{"jsonrpc":"2.0","id":14,"method":"session/list","params":{"cwd":"/a","cwd":"/b"}}', "14"],
    ['{"jsonrpc":"2.0","id":15,"id":16,"method":"session/list"}', "null"],
    ['{"jsonrpc":"2.0","id":true,"method":"session/list"}', "null"],
    ['{"jsonrpc":"2.0","id":{},"method":"session/list"}', "null"],
    ['{"jsonrpc":"2.0","id":[1],"method":"session/list"}', "null"],
    ["{}", "null"],
    ["42", "null"],
    ['"session/list"', "null"],
    ["null", "null"],
    ["[]", "null"],
    [`[${list(1)}]`, "null"],
    [`[${list(1)},${list(2)}]`, "null"],
  ];

  it.each(bad)("%s is answered -32600 under id %s (FF-12, bad input)", async (line, id) => {
    await using client = await one.client(null);
    expect(await answersTo(client, line)).toEqual([[id, -32600]]);
  });

  it("reaches no agent, also with a session (FF-12)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const from = process.lines.all.length;
    const params = { sessionId, prompt: [] };
    await client.send({ jsonrpc: "1.0", id: 1, method: "session/prompt", params });
    await client.send({ jsonrpc: "1.0", method: "session/cancel", params: { sessionId } });
    await client.send([{ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } }]);
    await client.call("session/set_mode", { sessionId, modeId: "m" });
    expect(process.lines.all.slice(from).map((line) => line.message.method)).toEqual(["session/set_mode"]);
  });
});

describe("a response that nobody asked for", () => {
  it.each(ways)("of a client on the %s is dropped without an answer (bad input, FF-13)", async (way) => {
    await using client = await one.client(null, { way });
    const strays = [
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: "1", error: { code: 1, message: "x" } },
      { jsonrpc: "2.0", id: null, result: null },
      { jsonrpc: "2.0", id: null, error: { code: -32700, message: "x" } },
      { jsonrpc: "2.0", id: "0000000000000000-1", result: { outcome: { outcome: "selected", optionId: "yes" } } },
      { jsonrpc: "2.0", id: 5, result: {}, error: { code: 1, message: "x" } },
      { id: 5, result: {} },
    ];
    for (const stray of strays) expect(await answersTo(client, JSON.stringify(stray))).toEqual([]);
  });

  it("of an agent is dropped, and its sessions go on (bad input)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const from = client.lines.all.length;
    await process.send({ jsonrpc: "2.0", id: 999_999, result: {} });
    await process.send({ jsonrpc: "2.0", id: "x", error: { code: 1, message: "x" } });
    await process.say(sessionId, "on");
    await client.next("session/update");
    expect(client.lines.all.length).toBe(from + 1);
  });
});
