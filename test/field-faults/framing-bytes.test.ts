// Field faults of kind framing: where a line begins and ends, whatever the chunks, line ends and marks around it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { OneMaster, ways } from "./one-master.ts";

const TEXT = "中 é 𝄞 👩‍👩‍👧 \u2028 \u0085 end";
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Answers each method itself, with this line end. */
const answering = (end: string, results: Readonly<Record<string, (params: Loose) => Loose>>) =>
  Object.fromEntries(
    Object.entries(results).map(([method, result]) => [
      method,
      (params: Loose, process: ScriptedProcess, { id }: Loose) => {
        void process.sendRaw(`${JSON.stringify({ jsonrpc: "2.0", id, result: result(params) })}${end}`);
        return undefined;
      },
    ]),
  );

let returnSessions = 0;
const initialized = { protocolVersion: 1, agentCapabilities: { loadSession: true } };

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({
    plain: { auto: { "session/prompt": false } },
    returns: {
      auto: answering("\r\n", {
        initialize: () => initialized,
        "session/new": () => ({ sessionId: `returns-${++returnSessions}` }),
        "session/prompt": () => ({ stopReason: "end_turn" }),
      }),
    },
    marks: {
      auto: {
        initialize: (_: Loose, process: ScriptedProcess, { id }: Loose) => {
          void process.sendRaw(
            Buffer.concat([MARK, Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result: initialized })}\r\n`)]),
          );
        },
      },
    },
    dying: { auto: { "session/prompt": false } },
  });
});

afterAll(() => one[Symbol.asyncDispose]());

async function dribble(client: RawClient, bytes: Buffer): Promise<void> {
  for (const byte of bytes) await client.send(Buffer.from([byte]));
}

const updateLine = (sessionId: string, text: string): string =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${JSON.stringify(text)}}}}}`;

const promptLine = (id: Loose, sessionId: string, text: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":${JSON.stringify(text)}}]}}`;

const listLine = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"session/list","params":{}}`;

const returned = (line: string): string => line.replaceAll(',"', ',\r"').replace("{", "\r{\r\r");
const spaced = (line: string): string => returned(line).replaceAll("\r", " ");

describe("a line that comes in pieces", () => {
  it("of an agent reaches every client byte for byte, wherever it is cut (FF-1)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    await using beside = await one.client("plain", { way: "shim" });
    await beside.call("session/load", { sessionId, cwd: beside.cwd, mcpServers: [] });
    const cut = Buffer.from(`${updateLine(sessionId, "中")}\n`);
    const at = cut.indexOf(0xe4);
    for (const piece of [cut.subarray(0, at + 1), cut.subarray(at + 1, at + 2), cut.subarray(at + 2)]) {
      await process.sendRaw(piece);
    }
    const dribbled = Buffer.from(`${updateLine(sessionId, TEXT)}\n`);
    await process.sendRaw(dribbled, 1);
    for (const each of [client, beside]) {
      const first = await each.next("session/update");
      const second = await each.next("session/update");
      expect(first.bytes.equals(cut.subarray(0, -1))).toBe(true);
      expect(second.bytes.equals(dribbled.subarray(0, -1))).toBe(true);
    }
  });

  it.each(ways)("of a client on the %s reaches the agent byte for byte (FF-1)", async (way) => {
    await using talk = await one.talk("plain", { way });
    const { client, sessionId, process } = talk;
    await dribble(client, Buffer.from(`${promptLine("p", sessionId, TEXT)}\n`));
    const { bytes, message } = await process.received("session/prompt");
    expect(message.params.prompt[0].text).toBe(TEXT);
    expect(bytes.toString()).toBe(promptLine(message.id, sessionId, TEXT));
    await process.answer({ id: message.id! }, { stopReason: "end_turn" });
    expect((await client.next((answer) => answer.id === "p")).message.result).toEqual({ stopReason: "end_turn" });
  });

  it("may be cut inside an escape, a mark and a line end, and many lines may share a chunk (FF-1, FF-7, FF-8)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const line = updateLine(sessionId, "x").replace('"x"', String.raw`"中\n"`);
    const stream = Buffer.concat([MARK, Buffer.from(`${line}\r\n`), MARK, Buffer.from(`${line}\r\n\r\n${line}\n`)]);
    await process.sendRaw(stream, 1);
    await process.sendRaw(Buffer.concat([stream, stream]));
    for (let n = 0; n < 9; n++) expect((await client.next("session/update")).text).toBe(line);
    expect(client.text(sessionId)).toBe("中\n".repeat(9));
  });
});

describe("a byte order mark", () => {
  it.each(ways)("in front of initialize on the %s costs nothing (FF-7)", async (way) => {
    await using client = await one.connection(way, "plain");
    const params = { protocolVersion: 1, clientCapabilities: {} };
    await client.send(
      Buffer.concat([
        MARK,
        Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\r\n`),
      ]),
    );
    const answer = await client.next((message) => message.id === 1, 5_000);
    expect(answer.message.result.protocolVersion).toBe(1);
  });

  it("in front of any other line, with any line end, split or alone on its line, is left out (FF-7)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    await client.send(MARK);
    await client.send(Buffer.from(`\r\n`));
    for (const end of ["\n", "\r\n"]) {
      await dribble(client, MARK);
      await client.send(Buffer.from(`${promptLine(7, sessionId, "\ufeffkept")}${end}`));
      const { message, text } = await process.received("session/prompt");
      expect(text).toBe(promptLine(message.id, sessionId, "\ufeffkept"));
      await process.answer({ id: message.id! }, { stopReason: "end_turn" });
      await client.next((answer) => answer.id === 7);
    }
    expect(client.lines.all.filter((line) => line.message.error)).toEqual([]);
  });

  it("that comes twice makes the line no JSON, and the client is told so (FF-7)", async () => {
    await using client = await one.client(null);
    const request = Buffer.from('{"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}\n');
    await client.send(Buffer.concat([MARK, MARK, request, MARK, request]));
    expect((await client.next((message) => message.id === null)).message.error?.code).toBe(-32700);
    expect((await client.next((message) => message.id === 5)).message.result.sessions).toEqual(expect.any(Array));
  });

  it("of an agent is left out of its answers, from initialize on (FF-7)", async () => {
    await using talk = await one.talk("marks");
    const { client, sessionId, process } = talk;
    await process.sendRaw(Buffer.concat([MARK, Buffer.from(`${updateLine(sessionId, "a")}\n`)]));
    expect((await client.next("session/update")).text).toBe(updateLine(sessionId, "a"));
  });
});

describe("a carriage return", () => {
  const ends: readonly (readonly [string, string])[] = [
    ["LF", "\n"],
    ["CR LF", "\r\n"],
    ["CR CR LF", "\r\r\n"],
  ];
  const cases = ends.flatMap(([name, end]) => ["plain", "returns"].map((agent) => ({ name, end, agent })));

  it.each(cases)(
    "never gets past the daemon: client ends with $name, agent is $agent (FF-8)",
    async ({ end, agent }) => {
      await using client = await one.connection();
      const send = (id: number, method: string, params: object) =>
        client.send(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}${end}`));
      await send(1, "initialize", { protocolVersion: 1, _meta: { "acp-master": { agent } } });
      expect((await client.next((message) => message.id === 1)).message.result.protocolVersion).toBe(1);
      await send(2, "session/new", { cwd: client.cwd, mcpServers: [] });
      const { sessionId } = (await client.next((message) => message.id === 2)).message.result;
      await send(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "a\r\nb" }] });
      const process = await one.agent(agent).process(0);
      if (agent === "plain") {
        const prompt = await process.received(
          (message) => message.params?.sessionId === sessionId && "prompt" in message.params,
        );
        await process.answer(prompt, { stopReason: "end_turn" });
      }
      expect((await client.next((message) => message.id === 3)).message.result.stopReason).toBe("end_turn");
      const lines = [...client.lines.all, ...process.lines.all];
      expect(lines.filter(({ bytes }) => bytes.includes(0x0d)).length).toBe(0);
      expect(lines.some(({ text }) => text.includes(String.raw`a\r\nb`))).toBe(true);
    },
  );

  it("between the tokens of a line is forwarded as a space, in both directions (FF-8)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    await process.sendRaw(`${returned(updateLine(sessionId, "a"))}\r\n`);
    expect((await client.next("session/update")).text).toBe(spaced(updateLine(sessionId, "a")));
    await client.send(Buffer.from(`${returned(promptLine(9, sessionId, "b"))}\r\r\n`));
    const { text, message } = await process.received("session/prompt");
    expect(text.trimEnd()).toBe(spaced(promptLine(message.id, sessionId, "b")));
  });

  it("alone ends no line (FF-8)", async () => {
    await using client = await one.client(null);
    await client.send(Buffer.from(`${listLine(1)}\r${listLine(2)}\n${listLine(3)}\n`));
    await client.next((message) => message.id === 3);
    const answers = client.lines.all.slice(1).map(({ message }) => [message.id, message.error?.code]);
    expect(answers).toEqual([
      [null, -32700],
      [3, undefined],
    ]);
  });
});

describe("a last line without its line feed", () => {
  it("of an agent that exits is delivered before its end is told (FF-10)", async () => {
    await using talk = await one.talk("dying");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const { message } = await process.received("session/prompt");
    const result = { stopReason: "end_turn", _meta: { last: TEXT } };
    await process.sendRaw(
      `${updateLine(sessionId, "bye")}\n${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}`,
    );
    await process.exit(0);
    expect(await turn).toMatchObject({ result });
    expect(client.text(sessionId)).toBe("bye");
    const ended = async () => {
      const { agents } = await client.call("_acp-master/status", {});
      return !agents.some(({ pid }: { pid: number }) => pid === process.pid);
    };
    await eventually(ended, "the daemon gives it to nobody any more");
  });

  it("that is half a message fails the request with the exit, and nothing else (FF-10)", async () => {
    await using talk = await one.talk("dying");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const { message } = await process.received("session/prompt");
    await process.sendRaw(`{"jsonrpc":"2.0","id":${message.id},"result":{"stopReason"`);
    await process.exit(3);
    expect((await turn).error?.data).toMatchObject({ reason: "agent_exited", exitCode: 3 });
  });

  it.each(ways)("of a client on the %s that ends its input is answered (FF-10)", async (way) => {
    await using client = await one.client("plain", { way });
    await client.send(Buffer.from('{"jsonrpc":"2.0","id":"last","method":"session/list","params":{}}'));
    client.endInput();
    expect((await client.next((message) => message.id === "last")).message.result.sessions).toEqual(expect.any(Array));
    await within(client.ended, "the connection ends");
    if (client.program) expect((await client.program.exited).code).toBe(0);
  });
});
