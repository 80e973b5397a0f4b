// Sessions on disks that take nothing more: they go on in memory, people are told, and what cannot be recorded is not allowed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ReadOnlyFolder, SmallDisk, whyNoDisk } from "./harness/disks.ts";
import { eventually } from "./harness/events.ts";
import type { Message } from "./harness/lines.ts";
import { Master } from "./harness/master.ts";
import type { RawClient } from "./harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent } from "./harness/scripted-agent.ts";
import type { ScriptedProcess } from "./harness/scripted-process.ts";

const noDisk = whyNoDisk();
if (noDisk !== undefined) console.log(`tests of full and read-only disks are left out: ${noDisk}`);

const KIB = 1024;

/** An agent whose sessions have the ids given. */
const scripted = (...sessionIds: string[]): ScriptedAgent =>
  fakeAgent({ sessionIds, auto: { "session/prompt": false } });

const masterOf = (agent: ScriptedAgent): Master =>
  new Master({ agents: { fake: agent }, config: { defaultAgent: "fake", helper: { use: "ask" } } });

async function clientOf(master: Master): Promise<RawClient> {
  const client = await master.client();
  await client.initialize();
  return client;
}

async function turn(client: RawClient, process: ScriptedProcess, sessionId: string, texts: readonly string[]) {
  const answer = client.prompt(sessionId, "go on");
  const prompt = await process.received("session/prompt");
  for (const text of texts) await process.say(sessionId, text);
  await process.answer(prompt, { stopReason: "end_turn" });
  expect((await answer).result).toEqual({ stopReason: "end_turn" });
}

/** The agent asks, the client allows: what the agent gets. */
async function allowed(client: RawClient, process: ScriptedProcess, sessionId: string): Promise<string> {
  const asked = process.askPermission(sessionId);
  const question = await client.next("session/request_permission");
  await client.send({ jsonrpc: "2.0", id: question.message.id, result: selected("yes") });
  return (await asked).result.outcome.optionId;
}

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

async function statusOf(client: RawClient): Promise<Message["result"]> {
  return await client.call("_acp-master/status", {});
}

const decisionsIn = (master: Master, approvalId: string): string[] =>
  readFileSync(join(master.home, "state", "audit.ndjson"), "utf8")
    .split("\n")
    .filter((line) => line.includes('"type":"decision"') && line.includes(approvalId));

describe.skipIf(noDisk !== undefined)("on a full disk", () => {
  it("a session goes on in memory and allows nothing; people are told; with room again all of it is kept", async () => {
    await using agent = scripted("a");
    await using master = masterOf(agent);
    const disk = new SmallDisk(2048 * KIB, join(master.home, "state"));
    master.own({ [Symbol.asyncDispose]: async () => disk[Symbol.dispose]() });
    await master.serve();
    const client = await clientOf(master);
    await client.newSession();
    const process = await agent.process();
    await turn(client, process, "a", ["before "]);
    expect(await allowed(client, process, "a")).toBe("yes");

    disk.fill();
    const texts = Array.from({ length: 40 }, (_, n) => `${n} `.padEnd(20 * KIB, "x"));
    await turn(client, process, "a", texts);
    expect(client.text("a")).toBe(["before ", ...texts].join(""));
    // The last page of the record may have had room.
    await eventually(async () => (await allowed(client, process, "a")) === "no", "an allow is refused");
    expect(await allowed(client, process, "a")).toBe("no");
    const status = await statusOf(client);
    expect(status.record.problem).toContain("ENOSPC");
    expect(status.journals.problems).toEqual([
      expect.stringMatching(/cannot be written \(ENOSPC\).* goes on in memory/),
    ]);
    const shown = await master.cli(["status"]);
    expect(shown.stdout).toMatch(/Decisions cannot be recorded, so nothing is allowed: .*ENOSPC/);
    expect(shown.stdout).toMatch(/The journal in .* cannot be written \(ENOSPC\)\. The session goes on in memory/);
    const doctor = await master.cli(["doctor"]);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/BAD daemon record: .*ENOSPC/);
    expect(doctor.stdout).toMatch(/BAD daemon sessions: .*ENOSPC/);

    const late = await clientOf(master);
    await late.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(late.text("a")).toBe(client.text("a"));

    disk.free();
    await eventually(async () => (await statusOf(client)).journals === undefined, "the journal is written again");
    expect(await allowed(client, process, "a")).toBe("yes");
    expect((await statusOf(client)).record).toBeUndefined();
    expect((await master.cli(["doctor"])).stdout).not.toMatch(/BAD daemon/);
    await master.kill9();
    await master.serve();
    const next = await clientOf(master);
    await next.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(next.text("a")).toBe(client.text("a"));
    expect((await master.cli(["audit", "verify"])).code).toBe(0);
  });
});

describe.skipIf(noDisk !== undefined)("where sessions cannot be written, but decisions can", () => {
  it("a session is made and goes on in memory, with a word to people, and is kept as soon as it can be", async () => {
    await using agent = scripted("a", "b");
    await using master = masterOf(agent);
    await master.serve();
    const client = await clientOf(master);
    await client.newSession();
    const process = await agent.process();
    await turn(client, process, "a", ["kept"]);
    const sessions = join(master.home, "state", "sessions");
    const before = readdirSync(sessions);
    {
      using _closed = new ReadOnlyFolder(sessions);
      await client.newSession();
      await turn(client, process, "b", ["in memory"]);
      expect(await allowed(client, process, "b")).toBe("yes");
      const { journals, record } = await statusOf(client);
      expect(record).toBeUndefined();
      expect(journals.problems.join()).toMatch(/EROFS.* goes on in memory/);
      expect((await master.cli(["doctor"])).stdout).toMatch(/BAD daemon sessions: .*EROFS/);
      expect(readdirSync(sessions)).toEqual(before);
    }
    await eventually(async () => (await statusOf(client)).journals === undefined, "the session is kept");
    await master.kill9();
    await master.serve();
    const next = await clientOf(master);
    for (const [sessionId, text] of [
      ["a", "kept"],
      ["b", "in memory"],
    ] as const) {
      await next.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
      expect(next.text(sessionId)).toBe(text);
    }
  });

  it("a decision is recorded once, however often the daemon starts with an index that never heard of it", async () => {
    await using agent = scripted("a");
    await using master = masterOf(agent);
    await master.serve();
    const client = await clientOf(master);
    await client.newSession();
    const process = await agent.process();
    await turn(client, process, "a", ["kept"]);
    const asked = process.askPermission("a");
    const question = await client.next("session/request_permission");
    const { approvalId } = question.message.params._meta["acp-master"];
    {
      using _closed = new ReadOnlyFolder(join(master.home, "state", "sessions"));
      await client.send({ jsonrpc: "2.0", id: question.message.id, result: selected("yes") });
      expect((await asked).result).toEqual(selected("yes"));
      await master.kill9();
    }
    await master.serve();
    const next = await clientOf(master);
    await next.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    const other = agent.processes.at(-1)!.askPermission("a", { id: "later" });
    void other.catch(() => {}); // its process ends with the daemon
    const { message } = await next.next("session/request_permission");
    await master.kill9();
    await master.serve();
    // When the later one is settled, the former starts have long looked at the first.
    const later = message.params._meta["acp-master"].approvalId;
    await eventually(() => decisionsIn(master, later).length === 1, "the later question is settled");
    expect(decisionsIn(master, approvalId)).toHaveLength(1);
    expect(decisionsIn(master, approvalId)[0]).toContain('"optionId":"yes"');
    expect((await master.cli(["audit", "verify"])).code).toBe(0);
  });
});
