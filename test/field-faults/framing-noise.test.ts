// Field faults of kind framing: what agents print on their standard output that is no message.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { OneMaster } from "./one-master.ts";

const BANNER = "Performing one time database migration...";
const TITLE = "\x1b]0;title\x07";

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({
    plain: { auto: { "session/prompt": false } },
    loud: { start: { print: `${BANNER}\n\n{\n  "pretty": [\n    1\n  ]\n}\n` }, auto: { "session/prompt": false } },
  });
});

afterAll(() => one[Symbol.asyncDispose]());

const noiseOf = async (process: ScriptedProcess): Promise<number> =>
  (await one.status()).agents.find((agent: Loose) => agent.pid === process.pid).noise;

/** What came to the client, and nothing else, while `during` ran. */
async function received(lines: readonly Line[], during: () => Promise<unknown>): Promise<Line[]> {
  const from = lines.length;
  await during();
  return lines.slice(from);
}

describe("text on an agent's standard output", () => {
  it("before its first answer and between updates is dropped and counted, messages around it arrive (FF-4)", async () => {
    await using talk = await one.talk("loud");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    await process.say(sessionId, "a");
    await process.sendRaw("Downloading  10 %\rDownloading 100 %\r\n\n   \n\t\r\n");
    await process.say(sessionId, "b");
    await process.sendRaw(Buffer.from([0x00, 0xff, 0xfe, 0x1b, 0x0a, 0x0a]));
    await process.say(sessionId, "c");
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    expect(client.text(sessionId)).toBe("abc");
    expect(client.lines.all.every((line) => line.message.jsonrpc === "2.0")).toBe(true);
    expect(client.lines.all.length).toBe(2 + 3 + 1);
    // The banner, the five lines of printed JSON, the bar and the bytes; empty lines are none.
    expect(await noiseOf(process)).toBe(1 + 5 + 1 + 1);
  });

  it("is told by its count in the log and kept, cleaned and bounded, for the error of its exit (FF-4, FF-6)", async () => {
    await using talk = await one.talk("loud");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    await process.received("session/prompt");
    await process.sendRaw(`${"x".repeat(100_000)}\n${"noise\n".repeat(3000)}\x1b[31mlast \x1b]0;t\x07words\x1b[0m\n`);
    await process.exit(1);
    const { stderrTail } = (await turn).error?.data ?? {};
    expect(stderrTail).toContain("stdout: last words");
    expect(stderrTail).not.toContain("\x1b");
    expect(Buffer.byteLength(stderrTail)).toBeLessThanOrEqual(16 * 1024);
    const log = await eventually(() => {
      const lines = one.master.logLines().filter((line) => line.pid === process.pid);
      return lines.some((line) => line.noise > 3000) && lines;
    }, "the log tells the count");
    expect(log.filter((line) => line.level === "warn").length).toBeLessThan(10);
    expect(one.master.logText()).not.toContain("Performing");
  });
});

const lookalikes = (id: number): string[] => [
  "42",
  '"ready"',
  "null",
  "true",
  "[]",
  "{}",
  `[{"jsonrpc":"2.0","id":${id},"result":{"stopReason":"refusal"}}]`,
  `{"id":${id},"level":"info","msg":"x"}`,
  `{"id":${id},"result":{"stopReason":"refusal"},"level":"info"}`,
  `{"id":${id},"error":{"code":1,"message":"x"}}`,
  `{"id":${id},"method":"GET","params":{"url":"/"}}`,
  `{"jsonrpc":"1.0","id":${id},"result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":2.0,"id":${id},"result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":null,"id":${id},"error":{"code":1,"message":"x"}}`,
  `{"jsonrpc":"2.0","id":${id},"level":"info"}`,
  `{"jsonrpc":"2.0","id":${id}}`,
  `{"jsonrpc":"2.0","result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":"2.0","id":[${id}],"result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":"2.0","id":"${id}","result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":"2.0","id":${id}.0,"result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":"2.0","id":${id}e0,"result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":"2.0","id":0,"result":{"stopReason":"refusal"}}`,
  `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
  `{"method":"session/update","params":{"sessionId":"x","update":{}}}`,
];

describe("a line of an agent that is JSON but no message", () => {
  it("settles nothing, reaches no client and is not answered (FF-5)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    const toAgent = process.lines.all.length;
    const lines = await received(client.lines.all, async () => {
      for (const line of lookalikes(Number(prompt.message.id))) await process.send(line);
      await process.say(sessionId, "still here");
      await process.answer(prompt, { stopReason: "end_turn" });
      await turn;
    });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    expect(lines.map((line) => line.message.method)).toEqual(["session/update", undefined]);
    await client.call("session/set_mode", { sessionId, modeId: "m" });
    expect(process.lines.all.slice(toAgent).map((line) => line.message.method)).toEqual(["session/set_mode"]);
  });

  it("does not touch the agent's own request that has the same id (FF-5)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const answer = process.askPermission(sessionId, { id: 7 });
    const offer = await client.next("session/request_permission");
    await process.send('{"id":7,"method":"GET","level":"info"}');
    await process.send('{"jsonrpc":"2.0","id":7,"method":17}');
    await process.send('{"jsonrpc":"2.0","id":7,"level":"info"}');
    await client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "yes" } },
    });
    expect((await answer).result.outcome).toEqual({ outcome: "selected", optionId: "yes" });
    await process.send('{"jsonrpc":"2.0","id":8,"method":17}');
    expect((await process.received((message) => message.id === 8)).message.error?.code).toBe(-32600);
    expect(process.lines.all.filter((line) => line.message.id === 7).length).toBe(1);
  });

  it("but says that it is an answer of JSON-RPC 2.0 fails the one request that waits for it (FF-13)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const first = client.prompt(sessionId, "go");
    const { message } = await process.received("session/prompt");
    await process.send(`{"jsonrpc":"2.0","id":${message.id},"result":{},"error":{"code":1,"message":"x"}}`);
    expect((await first).error?.code).toBe(-32600);
    const second = client.prompt(sessionId, "again");
    await process.answer(await process.received("session/prompt"), { stopReason: "end_turn" });
    expect((await second).result.stopReason).toBe("end_turn");
  });
});

describe("terminal escape sequences of an agent", () => {
  it("make their line noise, alone or in front of a message, and later lines stay in step (FF-6)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const said = (text: string): string =>
      JSON.stringify({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
      });
    const turn = client.prompt(sessionId, "go");
    const { message } = await process.received("session/prompt");
    const before = await noiseOf(process);
    await process.sendRaw(`\x1b[2K\n${TITLE}\r\n\x1b]0;never ended ${said("lost")}\n\x1b[1;3${said("lost")}\n`);
    await process.sendRaw(`${TITLE}${said("a")}\r\n\x1b[?25l\x1b[2K\x1b[0G${said("b")}\n${said("c")}\n`);
    await process.sendRaw(
      `${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { stopReason: "end_turn" } })}\n`,
    );
    expect((await turn).result.stopReason).toBe("end_turn");
    expect(client.text(sessionId)).toBe("c");
    expect(client.lines.all.filter(({ bytes }) => bytes.includes(0x1b)).length).toBe(0);
    expect((await noiseOf(process)) - before).toBe(6);
  });
});
