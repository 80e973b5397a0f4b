// Field faults of kind jsonrpc-ids: numbers inside payloads keep their spelling on every way through the master.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Line } from "../harness/lines.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { OneMaster, ways } from "./one-master.ts";

/** A value that changes on every round trip through a parser of doubles. */
const NUMBERS =
  '{"rowId":215250709085334181,"x":1.0,"minus":-0,"max":18446744073709551615,"far":1e400,"near":1E-400,"long":0.1000000000000000055511151231257827,"exp":1.50e+3,"list":[9007199254740993,[2.0,-0.0]],"text":"\\u00e9\\/"}';

const initialized = (id: unknown): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}},"mcpCapabilities":{"acp":true,"_meta":${NUMBERS}},"_meta":${NUMBERS}},"_meta":{"vendor":${NUMBERS}}}}`;

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({
    plain: { auto: { "session/prompt": false, "session/list": false, "session/set_mode": false } },
    numbers: {
      auto: {
        initialize: (_, process, { id }) => void process.send(initialized(id)),
        "session/new": (_, process, { id }) =>
          void process.send(
            `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"sessionId":"n","_meta":${NUMBERS},"configOptions":[{"id":"c","value":${NUMBERS}}]}}`,
          ),
        "session/list": (_, process, { id }) =>
          void process.send(
            `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"sessions":[{"sessionId":"n","cwd":"/","_meta":${NUMBERS}},{"sessionId":"o","cwd":"/","_meta":${NUMBERS}}],"_meta":${NUMBERS}}}`,
          ),
      },
    },
  });
});

afterAll(() => one[Symbol.asyncDispose]());

const times = ({ text }: Line): number => text.split(NUMBERS).length - 1;

const answerWith = (process: ScriptedProcess, request: Line, body: string): Promise<string | undefined> =>
  process.send(`{"jsonrpc":"2.0","id":${request.message.id},${body}}`);

describe("numbers in what an agent sends", () => {
  it.each(ways)("in updates and permission requests reach the client on the %s as they are (FF-28)", async (way) => {
    await using talk = await one.talk("plain", { way });
    const { client, sessionId, process } = talk;
    const call = `"toolCallId":"t","title":"x","rawInput":${NUMBERS},"_meta":{"acp-master":1,"n":${NUMBERS}}`;
    await process.send(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"tool_call",${call}}}}`,
    );
    expect(times(await client.next("session/update"))).toBe(2);
    await process.send(
      `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"${sessionId}","_meta":{"n":${NUMBERS}},"toolCall":{${call}},"options":[{"optionId":"y","name":"Y","kind":"allow_once","_meta":${NUMBERS}}]}}`,
    );
    const offer = await client.next("session/request_permission");
    expect(times(offer)).toBe(4);
    await client.send({ jsonrpc: "2.0", id: "list", method: "_acp-master/approvals", params: { sessionId } });
    expect(times(await client.next(({ id }) => id === "list"))).toBe(4);
    await client.send(
      `{"jsonrpc":"2.0","id":"${offer.message.id}","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`,
    );
    await process.received(({ id }) => id === "p");
    // Whoever comes later sees the same in the replay.
    await using later = await one.client("plain");
    await later.call("session/load", { sessionId, cwd: later.cwd, mcpServers: [] });
    expect(times(later.lines.all.find(({ message }) => message.method === "session/update")!)).toBe(2);
  });

  it("in results, errors, requests and notifications reach the client as they are (FF-28)", async () => {
    await using talk = await one.talk("plain", { capabilities: { fs: { readTextFile: true, writeTextFile: true } } });
    const { client, sessionId, process } = talk;
    const bodies = [
      `"result":${NUMBERS}`,
      `"result":{"stopReason":"end_turn","usage":${NUMBERS}}`,
      `"error":{"code":-1,"message":"x","data":${NUMBERS}}`,
    ];
    for (const body of bodies) {
      for (const method of ["session/set_mode", "session/prompt", "_vendor/ask"]) {
        await client.send({ jsonrpc: "2.0", id: "r", method, params: { sessionId, prompt: [] } });
        await answerWith(process, await process.received(method), body);
        const answer = await client.next(({ id }) => id === "r");
        expect(answer.text).toBe(`{"jsonrpc":"2.0","id":"r",${body}}`);
      }
    }
    await process.send(
      `{"jsonrpc":"2.0","id":5,"method":"fs/write_text_file","params":{"sessionId":"${sessionId}","_meta":${NUMBERS}}}`,
    );
    expect(times(await client.next("fs/write_text_file"))).toBe(1);
    await process.send(
      `{"jsonrpc":"2.0","method":"_vendor/note","params":{"sessionId":"${sessionId}","n":${NUMBERS}}}`,
    );
    expect(times(await client.next("_vendor/note"))).toBe(1);
  });

  it("in the answers that the master completes reach the client as they are (FF-28)", async () => {
    await using client = await one.connection();
    const ask = async (method: string, params: object): Promise<Line> => {
      await client.send({ jsonrpc: "2.0", id: method, method, params });
      return await client.next(({ id }) => id === method);
    };
    const meta = { _meta: { "acp-master": { agent: "numbers" } } };
    expect(times(await ask("initialize", { protocolVersion: 1, ...meta }))).toBe(3);
    expect(times(await ask("session/new", { cwd: client.cwd, mcpServers: [] }))).toBe(2);
    expect(times(await ask("session/list", {}))).toBe(3);
  });
});

describe("numbers in what a client sends", () => {
  it.each(ways)("on the %s reach the agent as they are (FF-28)", async (way) => {
    await using talk = await one.talk("plain", { way, capabilities: { fs: { readTextFile: true } } });
    const { client, sessionId, process } = talk;
    await client.send(
      `{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":"x","_meta":${NUMBERS}}],"_meta":${NUMBERS}}}`,
    );
    const prompt = await process.received("session/prompt");
    expect(times(prompt)).toBe(2);
    await process.answer(prompt, { stopReason: "end_turn" });
    await client.send(
      `{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":${JSON.stringify(client.cwd)},"mcpServers":[],"_meta":{"acp-master":{},"n":${NUMBERS}}}}`,
    );
    await client.next(({ id }) => id === "n");
    const created = process.lines.all.filter(({ message }) => message.method === "session/new").at(-1)!;
    expect(times(created)).toBe(1);
    await client.send(`{"jsonrpc":"2.0","id":"v","method":"_vendor/ask","params":${NUMBERS}}`);
    expect(times(await process.received("_vendor/ask"))).toBe(1);
    await client.send(`{"jsonrpc":"2.0","method":"_vendor/note","params":{"sessionId":"${sessionId}","n":${NUMBERS}}}`);
    expect(times(await process.received("_vendor/note"))).toBe(1);
    void process.request("fs/read_text_file", { sessionId, path: "/x" }, 91).catch(() => {});
    const question = await client.next("fs/read_text_file");
    await client.send(`{"jsonrpc":"2.0","id":"${question.message.id}","result":{"content":"","n":${NUMBERS}}}`);
    expect((await process.lines.waitFor(({ message }) => message.id === 91)).text).toBe(
      `{"jsonrpc":"2.0","id":91,"result":{"content":"","n":${NUMBERS}}}`,
    );
  });

  it("as its abilities reach the agent as they are (FF-28)", async () => {
    await using client = await one.connection();
    await client.send(
      `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"_meta":${NUMBERS}}}}`,
    );
    await client.next(({ id }) => id === "i");
    await client.newSession();
    const agents = one.agent("plain").processes;
    expect(agents.filter(({ lines }) => times(lines.all[0]!) === 1).length).toBe(1);
  });
});
