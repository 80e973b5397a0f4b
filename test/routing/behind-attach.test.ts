// What a client says of a session behind the request that attaches it may still be taken back, and keeps nobody waiting.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Bay, Bench } from "../harness/bench.ts";
import { within } from "../harness/events.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 3 });
});
afterAll(() => bench[Symbol.asyncDispose]());

interface Loading {
  readonly client: RawClient;
  readonly process: ScriptedProcess;
  readonly sessionId: string;
  readonly answer: () => Promise<unknown>;
}

/** A session that only the agent knows, which has not answered the client's load. */
async function loading(bay: Bay): Promise<Loading> {
  const client = await bay.client();
  const sessionId = `${bay.name}-old`;
  const params = { sessionId, cwd: bench.master.work, mcpServers: [] };
  await client.send({ jsonrpc: "2.0", id: "open", method: "session/load", params });
  const process = await bay.process();
  const load = await process.received("session/load");
  return { client, process, sessionId, answer: () => process.answer(load, {}) };
}

const prompt = (sessionId: string) => ({
  jsonrpc: "2.0",
  id: "turn",
  method: "session/prompt",
  params: { sessionId, prompt: [{ type: "text", text: "go" }] },
});

it("a prompt that waits there and is cancelled never reaches the agent", async () => {
  const bay = bench.agent({ "session/load": false });
  const { client, process, sessionId, answer } = await loading(bay);
  await client.send(prompt(sessionId));
  await client.notify("$/cancel_request", { requestId: "turn" });
  await client.call("_acp-master/status", {});
  await answer();
  const { message } = await client.waitFor(({ id }) => id === "turn");
  expect(message.result).toEqual({ stopReason: "cancelled" });
  await bay.reached(client);
  expect(process.count("session/prompt")).toBe(0);
});

it("a client that has only notified there and ended its input is let go once it has its answer", async () => {
  const bay = bench.agent({ "session/load": false });
  const { client, process, sessionId, answer } = await loading(bay);
  await client.notify("_x/told", { sessionId });
  client.endInput();
  await answer();
  await client.waitFor(({ id }) => id === "open");
  await process.received("_x/told");
  await within(client.ended, "the end of the connection");
});

it("what is asked of the master itself is answered at once", async () => {
  const bay = bench.agent({ "session/load": false });
  const { client, sessionId, answer } = await loading(bay);
  expect(await client.call("_acp-master/approvals", { sessionId })).toEqual({ approvals: [] });
  await answer();
  await client.waitFor(({ id }) => id === "open");
});
