// Field faults of kind jsonrpc-ids: every form an id may have is an id, and comes back as it was written.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import { OneMaster, ways } from "./one-master.ts";

/** Raw JSON. Every two of them are different ids. */
const IDS: readonly string[] = [
  "0",
  "-0",
  "0.0",
  "1",
  "-1",
  "1.0",
  "1.5",
  "1e3",
  "1E3",
  "1000",
  "1e-2",
  "-1.25e+10",
  "2147483647",
  "2147483648",
  "4294967296",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "123456789012345678901234567890",
  "1e400",
  "null",
  '""',
  '"0"',
  '"1"',
  '"null"',
  '" "',
  '"1.0"',
  '"é"',
  '"\\u00e9"',
  '"中𝄞👩‍👩‍👧"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"\\"quoted\\\\\\""',
  '"\\n\\u0000"',
  '"a/b"',
  '"a\\/b"',
  '"\u2028"',
  '"__proto__"',
  '"constructor"',
  `"${"x".repeat(4000)}"`,
];

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({ plain: {}, held: { auto: { "session/prompt": false, "session/set_mode": false } } });
});

afterAll(() => one[Symbol.asyncDispose]());

const underId =
  (id: string) =>
  ({ text }: Line): boolean =>
    text.startsWith(`{"jsonrpc":"2.0","id":${id},`);

const raw = (id: string, method: string, params: object): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`;

describe("an id of a client", () => {
  it.each(ways)("of any form is echoed by the master, byte for byte, on the %s (FF-18, FF-19, FF-21)", async (way) => {
    await using client = await one.client("plain", { way });
    for (const id of IDS) {
      const from = client.lines.all.length;
      await client.send(raw(id, "_acp-master/sessions", {}));
      await client.next((message) => "result" in message);
      expect(client.lines.all.slice(from).map(underId(id))).toEqual([true]);
    }
  });

  it("0 and the empty one work from initialize on, and null is answered by its own (FF-18, FF-19)", async () => {
    await using client = await one.connection();
    const first = async (): Promise<Line> => await client.next(() => true, 5_000);
    await client.send(raw("0", "initialize", { protocolVersion: 1, _meta: { "acp-master": { agent: "plain" } } }));
    expect((await first()).message).toMatchObject({ id: 0, result: { protocolVersion: 1 } });
    await client.send(raw('""', "session/new", { cwd: client.cwd, mcpServers: [] }));
    const created = await first();
    expect(created.message).toMatchObject({ id: "", result: { sessionId: expect.any(String) } });
    const agent = one.agent("plain").processes[0]!;
    const from = agent.lines.all.length;
    await client.send(raw("null", "session/list", {}));
    expect((await first()).message).toMatchObject({ id: null, result: { sessions: expect.any(Array) } });
    await client.send(raw("null", "session/prompt", { sessionId: created.message.result.sessionId, prompt: [] }));
    expect((await first()).message).toMatchObject({ id: null, result: { stopReason: "end_turn" } });
    await client.send(raw("null", "_vendor/ask", {}));
    const vendor = await agent.received("_vendor/ask");
    await agent.fail(vendor, { code: 7, message: "no" });
    expect((await first()).message).toMatchObject({ id: null, error: { code: 7 } });
    // The agent saw requests, under ids of the master's.
    const seen = agent.lines.all.slice(from).map(({ message }) => message);
    expect(seen.filter(({ id }) => typeof id !== "number" || id < 1)).toEqual([]);
  });

  it("of any form is open beside all others, and each answer finds its own (FF-22, FF-16)", async () => {
    await using talk = await one.talk("held");
    const { client, sessionId, process } = talk;
    for (const [index, id] of IDS.entries()) {
      await client.send(raw(id, "session/set_mode", { sessionId, modeId: `m${index}` }));
    }
    const requests = await eventually(() => {
      const lines = process.lines.all.filter(({ message }) => message.params?.sessionId === sessionId);
      return lines.length === IDS.length && lines;
    }, "the agent has all requests");
    expect(new Set(requests.map(({ message }) => message.id)).size).toBe(IDS.length);
    for (const { message } of requests.toReversed()) {
      await process.send({ jsonrpc: "2.0", id: message.id, result: { for: message.params.modeId } });
    }
    for (const [index, id] of IDS.entries()) {
      const answer = await client.lines.waitFor((line) => underId(id)(line) && line.message.result?.for);
      expect(answer.message.result).toEqual({ for: `m${index}` });
    }
    expect(client.lines.all.filter(({ message }) => message.result?.for).length).toBe(IDS.length);
  });

  it("of any form is in the error that comes when its agent ends, and in one of the master's own (FF-18, FF-19)", async () => {
    await using talk = await one.talk("held");
    const { client, sessionId, process } = talk;
    for (const id of IDS) await client.send(raw(id, "session/set_mode", { sessionId, modeId: "m" }));
    await eventually(
      () => process.lines.all.filter(({ message }) => message.params?.modeId === "m").length === IDS.length,
      "the agent has all requests",
    );
    await process.exit(1);
    for (const id of IDS) {
      const told = await client.lines.waitFor((line) => underId(id)(line) && line.message.error !== undefined);
      expect(told.message.error?.data.reason).toBe("agent_exited");
    }
    for (const id of IDS) {
      const from = client.lines.all.length;
      await client.send(raw(id, "session/prompt", { sessionId: "nobody's", prompt: [] }));
      await client.next(({ error }) => error?.data?.reason === "unknown_session");
      expect(client.lines.all.slice(from).map(underId(id))).toEqual([true]);
    }
  });
});

describe("an id of an agent", () => {
  it("of any form gets its permission answered under it, byte for byte (FF-18, FF-19, FF-21)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    client.answer("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }));
    const params = {
      sessionId,
      toolCall: { toolCallId: "t", title: "x" },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    };
    for (const id of IDS) {
      const from = process.lines.all.length;
      await process.send(raw(id, "session/request_permission", params));
      const answer = await process.received(({ result }) => result?.outcome !== undefined);
      expect(answer.text).toBe(
        `{"jsonrpc":"2.0","id":${id},"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`,
      );
      expect(process.lines.all.length).toBe(from + 1);
    }
  });

  it("of any form is open beside all others, and each answer of the client finds its own (FF-22, FF-26)", async () => {
    await using talk = await one.talk("plain", { capabilities: { fs: { readTextFile: true } } });
    const { client, sessionId, process } = talk;
    for (const [index, id] of IDS.entries()) {
      await process.send(raw(id, "fs/read_text_file", { sessionId, path: `/${index}` }));
    }
    const requests = await eventually(() => {
      const lines = client.lines.all.filter(({ message }) => message.method === "fs/read_text_file");
      return lines.length === IDS.length && lines;
    }, "the client has all requests");
    expect(requests.every(({ message }) => /^[0-9a-f]{16}-\d+$/.test(String(message.id)))).toBe(true);
    for (const { message } of requests.toReversed()) {
      await client.send({ jsonrpc: "2.0", id: message.id, result: { content: message.params.path } });
    }
    for (const [index, id] of IDS.entries()) {
      const answer = await process.lines.waitFor((line) => underId(id)(line) && "result" in line.message);
      expect(answer.message.result).toEqual({ content: `/${index}` });
    }
  });

  it("counts on from 2147483648 as from anywhere (FF-21)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    client.answer("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "no" } }));
    for (const id of [2147483648, 2147483649, 4294967296, 4294967297, Number.MAX_SAFE_INTEGER]) {
      const answer: Loose = await process.askPermission(sessionId, { id });
      expect(answer).toMatchObject({ id, result: { outcome: { optionId: "no" } } });
    }
  });

  it("that is used twice at once never lets one answer stand for both (FF-16)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const first = process.askPermission(sessionId, { id: `twice-${sessionId}`, toolCall: { toolCallId: "harmless" } });
    const offer = await client.next("session/request_permission");
    await process.send({
      jsonrpc: "2.0",
      id: `twice-${sessionId}`,
      method: "session/request_permission",
      params: { sessionId, toolCall: { toolCallId: "harmful" }, options: offer.message.params.options },
    });
    expect((await first).result.outcome).toEqual({ outcome: "cancelled" });
    await client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    const second = await process.received(({ id }) => id === `twice-${sessionId}`);
    expect(second.message.result.outcome).toEqual({ outcome: "selected", optionId: "no" });
    expect(client.received("session/request_permission").length).toBe(1);
  });
});
