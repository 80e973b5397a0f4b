// Field faults of kind framing: lines that are very long or nested very deep. Whoever sends too much is cut off; all others go on.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "../harness/events.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { OneMaster, ways } from "./one-master.ts";

const MIB = 1024 * 1024;
const LIMIT = 32 * MIB;
const DEEP = 100_000;
/** Tens of MiB take their time on a busy machine. */
const PATIENT_MS = 60_000;
const options = { timeout: 3 * PATIENT_MS };

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start({
    plain: { auto: { "session/prompt": false } },
    big: { auto: { "session/prompt": false } },
    other: {},
    lists: { auto: { "session/list": false } },
  });
});

afterAll(() => one[Symbol.asyncDispose]());

async function answers(client: RawClient, sessionId: string): Promise<void> {
  expect((await client.prompt(sessionId, "still there?")).result.stopReason).toBe("end_turn");
}

/** Head, filling and tail of an update whose line is exactly so long. */
function updateOf(sessionId: string, bytes: number): [string, number, string] {
  const head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{"type":"content","content":{"type":"text","text":"`;
  const tail = '"}}]}}}\n';
  return [head, bytes + 1 - head.length - tail.length, tail];
}

describe("a long line", () => {
  it.each(ways)(
    "of an agent up to the limit of 32 MiB reaches the client on the %s whole (FF-3)",
    options,
    async (way) => {
      await using talk = await one.talk("plain", { way });
      const { client, sessionId, process } = talk;
      for (const bytes of way === "socket" ? [200 * 1024, MIB, LIMIT] : [200 * 1024, 12 * MIB]) {
        const arrived = client.next("session/update", PATIENT_MS);
        await process.sendFilled(...updateOf(sessionId, bytes));
        const line = await arrived;
        expect(line.bytes.length).toBe(bytes);
        expect(/^x+$/.test(line.message.params.update.content[0].content.text)).toBe(true);
      }
    },
  );

  it.each(ways)("of a client on the %s reaches the agent whole (FF-3)", options, async (way) => {
    await using talk = await one.talk("plain", { way, capabilities: { fs: { readTextFile: true } } });
    const { client, sessionId, process } = talk;
    const content = "é".repeat((way === "socket" ? 1 : 6) * MIB);
    client.answer("fs/read_text_file", () => ({ content }));
    const answer = await process.request("fs/read_text_file", { sessionId, path: "/x" }, undefined, PATIENT_MS);
    expect(answer.result.content === content).toBe(true);
  });

  it("of an agent over the limit ends that agent with a clear error and nobody else (FF-3)", options, async () => {
    await using beside = await one.talk("other");
    await using talk = await one.talk("big");
    const { client, sessionId, process } = talk;
    const other = await client.newSession({ _meta: { "acp-master": { agent: "other" } } });
    const turn = client.prompt(sessionId, "go", PATIENT_MS);
    await process.received("session/prompt");
    // It is cut off before the end, so the rest may find nobody.
    void process.sendFilled(...updateOf(sessionId, LIMIT + 1)).catch(() => {});
    const { error } = await turn;
    expect(error?.data.reason).toBe("agent_exited");
    expect(error?.message).toMatch(/33554432 bytes.*limits\.frameBytes/);
    await answers(beside.client, beside.sessionId);
    await answers(client, other.sessionId);
    await within(process.gone, "the agent is ended");
  });

  it.each(ways)(
    "of a client over the limit closes that connection on the %s with a clear error (FF-3)",
    options,
    async (way) => {
      await using beside = await one.talk("other");
      await using talk = await one.talk("other", { way });
      const { client, sessionId, process } = talk;
      const line = Buffer.concat([
        Buffer.from(
          `{"jsonrpc":"2.0","id":"much","method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":["`,
        ),
        Buffer.alloc(LIMIT, "x"),
        Buffer.from('"]}}\n'),
      ]);
      void client.send(line);
      await within(client.ended, "the connection is closed", PATIENT_MS);
      const told = client.lines.all.find(({ message }) => message.id === null)?.message.error;
      expect(told?.data.reason).toBe("frame_too_long");
      expect(told?.message).toContain(String(LIMIT));
      if (client.program) {
        const own = client.lines.all.find(({ message }) => message.id === "much")?.message.error;
        expect(own?.message).toContain(String(LIMIT));
        await client.program.exited;
        expect(client.program.stderr).toContain(String(LIMIT));
      }
      expect(
        process.lines.all.some(({ message }) => message.params?.sessionId === sessionId && message.params.prompt),
      ).toBe(false);
      // A line without an end is not waited for either.
      await using endless = await one.connection();
      void endless.send(Buffer.alloc(LIMIT + 2, "{"));
      expect((await endless.next((message) => message.id === null, PATIENT_MS)).message.error?.data.reason).toBe(
        "frame_too_long",
      );
      await within(endless.ended, "the connection is closed", PATIENT_MS);
      // Everybody else, the session and its agent go on; the session can be taken up again.
      await answers(beside.client, beside.sessionId);
      await using again = await one.client("other");
      await again.call("session/load", { sessionId, cwd: again.cwd, mcpServers: [] });
      await answers(again, sessionId);
      expect(process.pid).toBe(one.agent("other").processes[0]?.pid);
    },
  );
});

describe("very deep nesting", () => {
  const nested = `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`;
  const nestedObjects = `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`;
  const places: readonly (readonly [string, string])[] = [
    ["initialize", `{"protocolVersion":1,"clientCapabilities":{"x":${nested}}}`],
    ["initialize", `{"protocolVersion":1,"_meta":{"acp-master":{"agent":null,"x":${nested}}}}`],
    ["session/new", `{"cwd":"/","mcpServers":${nested}}`],
    ["session/load", `{"cwd":"/","mcpServers":[],"sessionId":"x","_meta":${nestedObjects}}`],
    ["session/list", `{"x":${nestedObjects}}`],
    ["session/prompt", `{"sessionId":"x","prompt":${nested}}`],
    ["session/list", nested],
    ["_acp-master/status", `{"x":${nested}}`],
    ["_acp-master/approval/answer", `{"approvalId":${nested}}`],
    ["_unknown/method", `{"x":${nestedObjects}}`],
  ];

  it.each(ways)(
    "in a request of a client on the %s is answered or passed on; the daemon goes on (FF-14)",
    async (way) => {
      await using beside = await one.talk("other");
      const { pid } = one.master;
      await using shared = await one.client("other", { way });
      for (const [method, params] of places) {
        const isFirst = method === "initialize";
        const client = isFirst ? await one.connection(way, "other") : shared;
        await client.send(`{"jsonrpc":"2.0","id":"deep","method":"${method}","params":${params}}`);
        if (method !== "_unknown/method") await client.next((message) => message.id === "deep");
        // Answered either way, also where initialize was refused.
        await client.request("_acp-master/status", {});
        if (isFirst) await client.close();
      }
      await answers(beside.client, beside.sessionId);
      expect((await one.status()).pid).toBe(pid);
    },
  );

  it("in a prompt reaches the agent untouched, in an update the client (FF-14)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    await client.send(
      `{"jsonrpc":"2.0","id":"deep","method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[${nestedObjects}]}}`,
    );
    const prompt = await process.received(
      (message) => message.params?.sessionId === sessionId && "prompt" in message.params,
    );
    expect(prompt.text.includes(nestedObjects)).toBe(true);
    await process.sendRaw(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"plan","x":${nested}}}}\n`,
    );
    expect((await client.next("session/update")).text.includes(nested)).toBe(true);
    await process.answer(prompt, { stopReason: "end_turn" });
    await client.next((message) => message.id === "deep");
  });

  it("in what the daemon reads of an agent ends no more than that request (FF-14)", async () => {
    await using talk = await one.talk("lists");
    const { client, sessionId, process } = talk;
    const listed = client.request("session/list", {});
    const { id } = (await process.received("session/list")).message;
    await process.sendRaw(`{"jsonrpc":"2.0","id":${id},"result":{"sessions":[{"sessionId":"x","_meta":${nested}}]}}\n`);
    expect((await listed).result.sessions).toMatchObject([{ sessionId }]);
    one.agent("lists").setAuto("session/new", (_, agent, message) => {
      void agent.sendRaw(
        `{"jsonrpc":"2.0","id":${message.id},"result":{"sessionId":"deep","modes":${nestedObjects}}}\n`,
      );
    });
    // What opens a session is kept as it came, and read by nobody here.
    for (const method of ["session/new", "session/load"]) {
      const { id: own } = await client.request(method, { sessionId: "deep", cwd: client.cwd, mcpServers: [] });
      const opened = client.lines.all.findLast(({ message }) => message.id === own);
      expect(opened?.text).toContain(nestedObjects);
    }
    await process.sendRaw(
      `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"${sessionId}","toolCall":{"toolCallId":"t","rawInput":${nestedObjects}},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}\n`,
    );
    const refused = await process.received((message) => message.id === "p");
    expect(refused.message.result.outcome).toEqual({ outcome: "cancelled" });
    await answers(client, sessionId);
    expect((await one.status()).pid).toBe(one.master.pid);
  });
});
