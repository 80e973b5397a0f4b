// Clients that do not read: what waits for them is bounded, and one that is not there any more is found by that.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { Bench } from "../harness/bench.ts";
import type { Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

let bench: Bench;

function withBench(config: Readonly<Record<string, unknown>>): void {
  beforeAll(async () => {
    bench = await Bench.start({ agents: 2, config });
  });
  afterAll(() => bench[Symbol.asyncDispose]());
}

/** Looks on, and is never let go: it reads. */
async function watcher(): Promise<RawClient> {
  const client = await bench.master.client();
  await client.initialize({ agent: null, events: true });
  return client;
}

const row = async (client: RawClient, sessionId: string): Promise<Loose> => {
  const { sessions } = await client.call("_acp-master/sessions", {});
  return sessions.find((each: Loose) => each.sessionId === sessionId);
};

const clientId = async (client: RawClient): Promise<string> =>
  (await client.waitFor((message) => message.result?._meta?.["acp-master"] !== undefined)).message.result._meta[
    "acp-master"
  ].clientId;

/** Why the daemon let this client go, from its log. */
async function letGo(client: RawClient): Promise<string> {
  const id = await clientId(client);
  const line = await eventually(
    () => bench.master.logLines().find((each) => each.msg === "client let go" && each.client === id),
    "the client is let go",
    30_000,
  );
  return line.reason;
}

/** More than a socket holds. */
const MUCH = "x".repeat(2 * 1024 * 1024);

describe("a client that takes nothing for limits.stalledSeconds is let go", () => {
  withBench({ limits: { stalledSeconds: 0.4 }, approvals: { noClientSeconds: 0.1 } });

  it("when its process is stopped: what it was asked begins to wait for somebody else", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const frozen = bench.master.connect([bay.name]);
    await frozen.initialize();
    const { sessionId } = await frozen.newSession();
    void frozen.prompt(sessionId, "hello", 60_000).catch(() => {}); // nobody hears of its end
    const agent = await bay.process();
    const prompt = await agent.received("session/prompt");
    const looking = await watcher();
    frozen.program!.child.kill("SIGSTOP");
    const asked = agent.askPermission(sessionId, { deadlineMs: 30_000 });
    await agent.say(sessionId, MUCH);
    expect(await letGo(frozen)).toBe("this client has read nothing for 0.4 s");
    expect((await asked).result).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
    const resolved = await looking.waitFor(({ params }) => params?.type === "approval_resolved");
    expect(resolved.message.params.by).toMatchObject({ kind: "no_client" });
    expect(await row(looking, sessionId)).toMatchObject({ clients: [], state: "running" });
    await agent.answer(prompt, { stopReason: "end_turn" });
  });

  it("when it has closed its side and does not read the rest", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    void client.prompt(sessionId, "hello").catch(() => {});
    const agent = await bay.process();
    const prompt = await agent.received("session/prompt");
    client.pause();
    client.endInput();
    await agent.say(sessionId, MUCH);
    await agent.answer(prompt, { stopReason: "end_turn" });
    expect(await letGo(client)).toBe("this client has read nothing for 0.4 s");
    expect(await row(await watcher(), sessionId)).toMatchObject({ clients: [], state: "idle" });
  });
});

describe("what waits for a client besides updates", () => {
  withBench({});

  it("is no more than 1,000 messages", async () => {
    const client = await bench.master.client();
    await client.initialize({ agent: null });
    client.pause();
    for (let n = 0; n < 3000; n++)
      void client.send({ jsonrpc: "2.0", id: n, method: "_acp-master/status", params: {} });
    expect(await letGo(client)).toBe("this client does not read: 1001 unread answers and questions");
  });

  it("is no more than 8 MiB, and whoever asked is told", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: { fs: { writeTextFile: true } } });
    const { sessionId } = await client.newSession();
    const agent = await bay.process();
    client.pause();
    const content = "y".repeat(1024 * 1024);
    const asked = Array.from({ length: 12 }, (_, n) =>
      agent.request("fs/write_text_file", { sessionId, path: `/nowhere/${n}`, content }, undefined, 30_000),
    );
    expect(await letGo(client)).toMatch(/^this client does not read: \d+ unread answers and questions$/);
    const reasons = (await Promise.all(asked)).map(({ error }) => error?.data?.reason ?? error?.code);
    // The one that was on its way and what filled the list; the rest found no client any more.
    expect(reasons.filter((reason) => reason === "client_gone")).toHaveLength(9);
    expect(reasons).not.toContain(undefined);
  });
});
