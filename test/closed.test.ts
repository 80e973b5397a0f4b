// What is left of sessions that nobody runs: closed ones are kept for a while and can be opened again, deleted ones are gone
// here and in their agent.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "./harness/events.ts";
import type { Loose } from "./harness/lines.ts";
import { type Master, startMaster } from "./harness/master.ts";
import type { RawClient } from "./harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent, type ScriptedAgentOptions } from "./harness/scripted-agent.ts";

const DAY_MS = 24 * 3600 * 1000;

const rows = async (client: RawClient): Promise<Loose[]> => (await client.call("_acp-master/sessions", {})).sessions;
const states = async (client: RawClient): Promise<string[]> =>
  (await rows(client)).map((row) => `${row.sessionId} ${row.state}`).toSorted();
const folders = (master: Master): string[] => readdirSync(join(master.home, "state", "sessions"));

async function turn(client: RawClient, agent: ScriptedAgent, sessionId: string, text: string): Promise<void> {
  const answer = client.prompt(sessionId, `say ${text}`);
  const process = agent.processes.at(-1)!;
  const prompt = await process.received("session/prompt");
  await process.say(sessionId, text);
  await process.answer(prompt, { stopReason: "end_turn" });
  expect((await answer).result).toEqual({ stopReason: "end_turn" });
}

const scripted = (options: ScriptedAgentOptions = {}): ScriptedAgent =>
  fakeAgent({ sessionIds: ["a", "b", "c"], ...options, auto: { "session/prompt": false, ...options.auto } });

const start = (agent: ScriptedAgent, sessions: Loose = {}): Promise<Master> =>
  startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake", sessions, helper: { use: "ask" } } });

async function newClient(master: Master, options: Loose = {}): Promise<RawClient> {
  const client = await master.client();
  await client.initialize(options);
  return client;
}

/** Writes the session's record as one that was last changed so many days ago. */
function age(master: Master, sessionId: string, days: number): void {
  for (const name of folders(master)) {
    const path = join(master.home, "state", "sessions", name, "session.json");
    const record: Loose = JSON.parse(readFileSync(path, "utf8"));
    if (record.sessionId !== sessionId) continue;
    writeFileSync(path, JSON.stringify({ ...record, updatedAt: Date.now() - days * DAY_MS }));
  }
}

describe("a session that was closed", () => {
  it("is still listed, shows what was seen, and goes on when it is loaded again", async () => {
    await using agent = scripted();
    await using master = await start(agent);
    const client = await newClient(master, { events: true });
    await client.newSession();
    await turn(client, agent, "a", "first");
    await client.call("session/close", { sessionId: "a" });
    const process = await agent.process();
    await process.received("session/close");
    await client.waitFor(({ params }) => params?.type === "session_changed" && params.session.state === "closed");
    expect(client.lines.all.filter(({ message }) => message.params?.type === "session_removed")).toEqual([]);
    expect(await rows(client)).toMatchObject([{ sessionId: "a", state: "closed", clients: [], cwd: master.work }]);
    expect((await client.call("session/list", {})).sessions).toMatchObject([{ sessionId: "a", cwd: master.work }]);

    const looker = await newClient(master, { role: "observer", agent: null });
    await looker.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(looker.text("a")).toBe("first");
    expect(process.count("session/resume")).toBe(0);
    expect(await states(client)).toEqual(["a closed"]);

    const back = await newClient(master);
    await back.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(back.text("a")).toBe("first");
    expect(process.count("session/resume")).toBe(1);
    expect(await states(client)).toEqual(["a idle"]);
    await turn(back, agent, "a", "second");
    expect(back.text("a")).toBe("firstsecond");
    await looker.waitFor(() => looker.text("a") === "firstsecond");
  });

  it("stays closed over a restart, is resumed without its history, and is lost where its agent forgot it", async () => {
    await using agent = scripted();
    await using master = await start(agent);
    const client = await newClient(master);
    for (const sessionId of ["a", "b"]) {
      await client.newSession();
      await turn(client, agent, sessionId, "first");
    }
    const closed = await master.cli(["close", "a"]);
    expect(closed.stdout).toMatch(/^Closed a\. .*acp-master tail a/);
    expect((await master.cli(["close", "b"])).code).toBe(0);
    await master.kill9();
    await master.serve();

    const next = await newClient(master);
    expect(await states(next)).toEqual(["a closed", "b closed"]);
    expect((await master.cli(["sessions"])).stdout).toMatch(/^a\tfake\tclosed\t/m);
    expect((await master.cli(["tail", "a"])).stdout).toContain("first");
    const place = { cwd: master.work, mcpServers: [] };
    expect((await next.request("session/resume", { sessionId: "a", ...place })).error).toBeUndefined();
    expect(next.text("a")).toBe("");
    await turn(next, agent, "a", "second");
    agent.setAuto("session/resume", () => {
      throw Object.assign(new Error("forgotten"), { code: -32002 });
    });
    expect((await next.request("session/load", { sessionId: "b", ...place })).error).toBeUndefined();
    expect(next.text("b")).toBe("first");
    expect(await states(next)).toEqual(["a idle", "b lost"]);
  });

  it("is gone `sessions.keepDays` after it was closed, as one that was parked is", async () => {
    await using agent = scripted();
    await using master = await start(agent, { keepDays: 7, idleMinutes: 0.005 });
    const client = await newClient(master);
    for (const sessionId of ["a", "b", "c"]) {
      await client.newSession();
      await turn(client, agent, sessionId, "seen");
    }
    for (const sessionId of ["a", "b"]) await client.call("session/close", { sessionId });
    await master.stop();
    age(master, "a", 8);
    age(master, "b", 6);
    age(master, "c", 8);
    await master.serve();
    const next = await newClient(master, { agent: null, events: true });
    await eventually(async () => (await rows(next)).length === 1, "what is too old is gone");
    expect(await states(next)).toEqual(["b closed"]);
    expect(folders(master)).toHaveLength(1);
    const gone = await next.request("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(gone.error?.data.reason).toBe("unknown_session");
  });
});

const locked = (): never => {
  throw Object.assign(new Error("locked"), { code: -32603 });
};

describe("a session that somebody only reads", () => {
  it("is parked `sessions.idleMinutes` after that one has left, however long nothing was said in it", async () => {
    await using agent = scripted();
    await using master = await start(agent, { idleMinutes: 0.02 });
    const client = await newClient(master);
    await client.newSession();
    await turn(client, agent, "a", "seen");
    await master.stop();
    age(master, "a", 2);
    await master.serve();
    const watcher = await newClient(master, { agent: null });
    const reader = await newClient(master);
    await reader.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect(Date.parse((await rows(watcher))[0]!.updatedAt)).toBeLessThan(Date.now() - DAY_MS);
    const left = performance.now();
    await reader.close();
    await eventually(async () => (await rows(watcher))[0]!.state === "parked", "it is parked");
    expect(performance.now() - left).toBeGreaterThan(1000);
  });
});

describe("session/delete of a session that does not run", () => {
  const deleting = { sessionCapabilities: { list: {}, close: {}, resume: {}, delete: {} } };

  it("takes row and journal at once, and reaches the agent's own store", async () => {
    await using agent = scripted({ capabilities: deleting });
    await using master = await start(agent);
    const client = await newClient(master);
    for (const sessionId of ["a", "b"]) {
      await client.newSession();
      await turn(client, agent, sessionId, "seen");
    }
    await client.call("session/close", { sessionId: "a" });
    expect(await client.call("session/delete", { sessionId: "a" })).toEqual({});
    expect((await (await agent.process()).received("session/delete")).message.params).toEqual({ sessionId: "a" });
    expect(await states(client)).toEqual(["b idle"]);
    expect(folders(master)).toHaveLength(1);

    // After a restart no process runs: one is started to be told.
    await master.stop();
    await master.serve();
    const next = await newClient(master, { agent: null, events: true });
    expect(await states(next)).toEqual(["b parked"]);
    expect(await next.call("session/delete", { sessionId: "b" })).toEqual({});
    expect((await (await agent.process(1)).received("session/delete")).message.params).toEqual({ sessionId: "b" });
    await next.waitFor(({ params }) => params?.type === "session_removed" && params.sessionId === "b");
    expect(await states(next)).toEqual([]);
    expect(folders(master)).toEqual([]);
  });

  it("is kept where the agent refuses, and refused while another controller looks at what was seen", async () => {
    await using agent = scripted({ capabilities: deleting });
    await using master = await start(agent);
    const client = await newClient(master);
    await client.newSession();
    await turn(client, agent, "a", "seen");
    await client.call("session/close", { sessionId: "a" });
    agent.setAuto("session/delete", locked);
    expect((await client.request("session/delete", { sessionId: "a" })).error?.code).toBe(-32603);
    expect(await states(client)).toEqual(["a closed"]);

    agent.setAuto("session/delete", {});
    agent.setAuto("session/resume", locked);
    const other = await newClient(master);
    await other.call("session/load", { sessionId: "a", cwd: master.work, mcpServers: [] });
    expect((await client.request("session/delete", { sessionId: "a" })).error?.data.reason).toBe("busy");
    expect(await other.call("session/delete", { sessionId: "a" })).toEqual({});
    expect(await states(client)).toEqual([]);
  });

  it("needs no agent that is not configured any more", async () => {
    await using agent = scripted({ capabilities: deleting });
    await using master = await start(agent);
    const client = await newClient(master);
    await client.newSession();
    await turn(client, agent, "a", "seen");
    await master.stop();
    master.configure({ config: {} });
    await master.serve();
    const next = await newClient(master, { agent: null });
    expect(await next.call("session/delete", { sessionId: "a" })).toEqual({});
    expect(folders(master)).toEqual([]);
  });
});
