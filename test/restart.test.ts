// Sessions outlive the daemon: stopped or killed, the next one lists them, shows what was seen, and goes on.
import { readFileSync, readdirSync, statSync, writeFileSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "./harness/events.ts";
import { type Master, startMaster } from "./harness/master.ts";
import type { RawClient } from "./harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent } from "./harness/scripted-agent.ts";
import { auditRecords } from "./permissions/conversation.ts";

const load = { cwd: "", mcpServers: [] };

async function oneTurn(client: RawClient, agent: ScriptedAgent, words: { prompt: string; answer: string }) {
  const turn = client.prompt("a", words.prompt);
  const process = await eventually(() => agent.processes.at(-1), "a process runs");
  const prompt = await process.received("session/prompt");
  await process.say("a", words.answer);
  await process.answer(prompt, { stopReason: "end_turn" });
  expect((await turn).result).toEqual({ stopReason: "end_turn" });
}

async function rows(client: RawClient) {
  return (await client.call("_acp-master/sessions", {})).sessions;
}

const scripted = () => fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
const sessionFolders = (master: Master): string[] => {
  const sessions = join(master.home, "state", "sessions");
  return readdirSync(sessions).map((name) => join(sessions, name));
};
const sessionFolder = (master: Master): string => sessionFolders(master)[0]!;
const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]));

describe("a daemon that ends", () => {
  it.each([
    ["in order", (master: Master) => master.stop()],
    ["by kill -9", (master: Master) => master.kill9()],
  ])("%s keeps its sessions: history once and in order, the agent goes on", async (_, end) => {
    await using agent = scripted();
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    await oneTurn(client, agent, { prompt: "one", answer: "first" });
    // The write follows what was sent, in the same turn of the daemon's loop: a later answer comes after it.
    await rows(client);
    await end(master);
    await master.serve();

    const next = await master.client();
    await next.initialize();
    expect(await rows(next)).toMatchObject([{ sessionId: "a", agent: "fake", state: "parked", cwd: master.work }]);
    const listed = await next.call("session/list", {});
    expect(listed.sessions.map((session: { sessionId: string }) => session.sessionId)).toEqual(["a"]);
    await next.call("session/load", { ...load, sessionId: "a", cwd: master.work });
    expect(next.text("a")).toBe("first");
    expect(next.updates("a").map((update) => update.sessionUpdate)).toEqual([
      "user_message_chunk",
      "agent_message_chunk",
    ]);
    expect(agent.processes.at(-1)?.count("session/resume")).toBe(1);
    await oneTurn(next, agent, { prompt: "two", answer: "second" });
    expect(next.text("a")).toBe("firstsecond");

    const late = await master.client();
    await late.initialize();
    await late.call("session/load", { ...load, sessionId: "a", cwd: master.work });
    expect(late.text("a")).toBe("firstsecond");
  });

  it("by kill -9 leaves an open question that is settled at the next start, recorded, and grants nothing", async () => {
    await using agent = scripted();
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    const turn = client.prompt("a", "one");
    const process = await agent.process(0);
    await process.received("session/prompt");
    void process.askPermission("a").catch(() => {});
    const question = await client.next("session/request_permission");
    const { approvalId } = question.message.params._meta["acp-master"];
    void turn.catch(() => {});
    await master.kill9();
    await master.serve();

    const next = await master.client();
    await next.initialize({ agent: null });
    const settled = () => auditRecords(master).filter((record) => record.approvalId === approvalId);
    await eventually(() => settled().length > 0, "the question is settled in the record");
    expect(settled()).toMatchObject([{ outcome: { result: "cancelled" }, by: { kind: "agent_exit" } }]);
    const outcome = { outcome: "selected", optionId: "yes" };
    expect(await next.call("_acp-master/approval/answer", { approvalId, outcome })).toEqual({ status: "not_pending" });
    const verified = await master.cli(["audit", "verify"]);
    expect(verified.code).toBe(0);
  });

  it("keeps nothing of a session that was deleted, and nobody else can read the rest", async () => {
    await using agent = fakeAgent({
      sessionIds: ["a"],
      capabilities: { sessionCapabilities: { delete: {}, list: {}, close: {}, resume: {} } },
      auto: { "session/delete": {} },
    });
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    await client.prompt("a", "one");
    const folder = sessionFolder(master);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    await client.call("session/delete", { sessionId: "a" });
    await eventually(() => readdirSync(join(master.home, "state", "sessions")).length === 0, "the folder is gone");
  });

  it("tells whoever loads a session whose beginning is no longer kept, and nobody else", async () => {
    await using agent = scripted();
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const client = await master.client();
    await client.initialize();
    await client.newSession();
    await oneTurn(client, agent, { prompt: "one", answer: "first" });
    await oneTurn(client, agent, { prompt: "two", answer: "second" });
    await master.stop();
    const journal = readFileSync(join(sessionFolder(master), "journal.ndjson"), "utf8");
    const size = journal.slice(0, journal.indexOf('"two"')).lastIndexOf("\n") + 1;
    appendFileSync(join(sessionFolder(master), "index.ndjson"), `{"type":"start","at":${size}}\n`);
    await master.serve();
    const next = await master.client();
    await next.initialize();
    const params = { ...load, sessionId: "a", cwd: master.work };
    expect(await next.call("session/load", params)).toMatchObject({ _meta: { "acp-master": { historyCut: true } } });
    expect(next.text("a")).toBe("second");
    expect(JSON.stringify(await next.call("session/resume", params))).not.toContain("historyCut");
  });

  const foreign = "what is this?\n";
  const binary = Buffer.from([0, 255, 10, 7, 10]);
  it.each([
    {
      how: "a torn last line",
      spoil: (journal: string) => appendFileSync(journal, '{"jsonrpc":"2.0","method":"session/upd'),
      kept: "first",
      told: "its last frame was not written to its end and is cut off",
      aside: undefined,
    },
    {
      how: "a foreign line and more behind it",
      spoil: (journal: string) => appendFileSync(journal, `${foreign}${readFileSync(journal, "utf8")}`),
      kept: "first",
      told: "bytes are none of its own",
      aside: foreign,
    },
    {
      how: "binary rubbish",
      spoil: (journal: string) => writeFileSync(journal, binary),
      kept: "",
      told: `from byte 0 on, ${binary.length} bytes are none of its own`,
      aside: binary,
    },
  ])(
    "reads a journal with $how as far as it can be read, says so, and goes on",
    async ({ spoil, kept, told, aside }) => {
      await using agent = fakeAgent({ sessionIds: ["a", "b"], auto: { "session/prompt": false } });
      await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
      const client = await master.client();
      await client.initialize();
      await client.newSession();
      await oneTurn(client, agent, { prompt: "one", answer: "first" });
      const folder = sessionFolder(master);
      await client.newSession();
      const other = sessionFolders(master).find((each) => each !== folder)!;
      await master.stop();
      const untouched = filesIn(other);
      spoil(join(folder, "journal.ndjson"));
      await master.serve();
      const next = await master.client();
      await next.initialize();
      await next.call("session/load", { ...load, sessionId: "a", cwd: master.work });
      expect(next.text("a")).toBe(kept);
      await oneTurn(next, agent, { prompt: "two", answer: "second" });
      expect(next.text("a")).toBe(`${kept}second`);
      // The write follows what was sent, in the same turn of the daemon's loop or the next.
      for (const _ of [1, 2]) await next.call("_acp-master/status", {});
      const reports = master.logLines().filter(({ msg }) => msg === "journal");
      expect(reports.map(({ what }) => what).join("\n")).toContain(told);
      const copies = readdirSync(folder).filter((name) => name.includes("foreign"));
      expect(copies).toEqual(aside === undefined ? [] : ["journal.foreign-1"]);
      for (const name of copies) {
        expect(readFileSync(join(folder, name)).subarray(0, aside!.length)).toEqual(Buffer.from(aside!));
      }
      expect(filesIn(other)).toEqual(untouched);
    },
  );
});
