// Sessions of real agents that outlive whoever works with them: the editor is killed in mid-turn, then the daemon; the
// conversation goes on, and everything that was said stands in it once.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import type { Master } from "../harness/master.ts";
import { descendantsOf } from "../harness/processes.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { plan } from "../model/plan.ts";
import { codex, gemini } from "./real-agents.ts";
import { Stage } from "./stage.ts";

const turnMs = 60_000;
const PERMISSION = "session/request_permission";
const SNAPSHOT_KINDS = ["available_commands_update", "current_mode_update", "session_info_update", "usage_update"];

/** The numbered chunks in a text, in order. */
const chunksIn = (text: string): string[] => text.match(/chunk \d+ of \d+\. /g) ?? [];
const chunks = (...counts: readonly number[]): string[] =>
  counts.flatMap((count) => Array.from({ length: count }, (_, n) => `chunk ${n + 1} of ${count}. `));

/** The one session's journal: its lines as they are on disk. */
function journalOf(master: Master): string[] {
  const sessions = join(master.home, "state", "sessions");
  const [only, second] = readdirSync(sessions);
  expect(second).toBeUndefined();
  return readFileSync(join(sessions, only!, "journal.ndjson"), "utf8")
    .split("\n")
    .slice(0, -1);
}

const textOf = (lines: readonly string[], kind: string): string =>
  lines
    .map((line): Loose => JSON.parse(line).params.update)
    .filter((update) => update.sessionUpdate === kind)
    .map((update) => update.content.text ?? "")
    .join("");

/** What the client saw of the session, as it came. The list of options has ours in it, and is left out. */
const seenBy = (client: RawClient, from = 0): string[] =>
  withoutOptions(
    client.lines.all
      .slice(from)
      .filter(({ message }) => message.method === "session/update")
      .map(({ text }) => text),
  );
const withoutOptions = (lines: readonly string[]): string[] =>
  lines.filter((line) => !line.includes('"config_option_update"'));

async function allow(client: RawClient): Promise<void> {
  const question = await client.next(PERMISSION, turnMs);
  const option = question.message.params.options.find((one: Loose) => one.kind === "allow_once");
  const outcome = { outcome: "selected", optionId: option.optionId };
  await client.send({ jsonrpc: "2.0", id: question.message.id, result: { outcome } });
}

const minuteOver = (time: number): Promise<void> => delay(Math.max(0, 60_000 - (time % 60_000) - (Date.now() - time)));

const rowOf = async (client: RawClient): Promise<Loose> => (await client.call("_acp-master/sessions", {})).sessions[0];
const idle = (client: RawClient): Promise<unknown> =>
  eventually(async () => (await rowOf(client)).state === "idle", "the turn is over", turnMs);
const says = (client: RawClient, text: string): Promise<Line> =>
  client.waitFor((message) => message.params?.update?.content?.text?.includes(text) === true, turnMs);

async function joined(stage: Stage, sessionId: string, options: Loose): Promise<RawClient> {
  const client = await stage.master.client();
  await client.initialize(options);
  await client.call("session/load", { sessionId, cwd: stage.home.work, mcpServers: [] }, turnMs);
  return client;
}

describe.each([gemini, codex])("$name", (agent) => {
  it("goes on when the editor is killed in mid-turn, and again when the daemon is killed", async () => {
    await using stage = await Stage.open(agent, "through the master");
    const { client: editor, master, model } = stage;
    await editor.initialize();
    const { sessionId } = await editor.newSession();
    const madeAt = Date.now();
    expect((await editor.prompt(sessionId, agent.talk(2), turnMs)).result.stopReason).toBe("end_turn");
    const file = join(stage.home.work, "made");
    const prompts = [agent.talk(2), agent.work(12, file, 3), agent.talk(4)];
    editor.prompt(sessionId, prompts[1]!, turnMs).catch(() => {});
    await says(editor, "chunk 3 of 12");
    await editor.close(); // by SIGKILL
    expect(chunksIn(editor.text(sessionId)).length).toBeLessThan(14);

    const b = await joined(stage, sessionId, { agent: null });
    await allow(b);
    await says(b, "chunk 3 of 3");
    await idle(b);
    expect(existsSync(file)).toBe(true);
    // The file is written after the clients, and an agent may still have a word to say when its turn is over.
    const inStep = (): boolean => seenBy(b).length === withoutOptions(journalOf(master)).length;
    await eventually(inStep, "the journal holds what was seen", 5000).catch(() => {});
    expect(seenBy(b)).toEqual(withoutOptions(journalOf(master)));
    expect(chunksIn(b.text(sessionId))).toEqual(chunks(2, 12, 3));
    expect(stage.agentProcesses()).toBe(1);

    if (agent.forgetsWithinMinute) await minuteOver(madeAt);
    await master.kill9();
    await master.serve();
    const before = journalOf(master);
    const asked = model.requests.length;
    const c = await joined(stage, sessionId, { agent: agent.name });
    const replayed = withoutOptions(before);
    expect(seenBy(c).slice(0, replayed.length)).toEqual(replayed);
    // Of what the agent says while it takes the session up again only its newest state is anything new.
    for (const line of seenBy(c).slice(replayed.length)) {
      expect(SNAPSHOT_KINDS).toContain(JSON.parse(line).params.update.sessionUpdate);
    }
    const third = await c.prompt(sessionId, prompts[2]!, turnMs);
    expect(third).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(chunksIn(c.text(sessionId))).toEqual(chunks(2, 12, 3, 4));

    // The model is told the whole conversation, each turn of it once.
    const request = model.requests.slice(asked).findLast(({ conversation }) => conversation.tools.length > 0);
    const said = (by: string): string =>
      request!.conversation.said
        .filter((one) => one.by === by)
        .map((one) => one.text)
        .join("\n");
    expect(chunksIn(`${said("model")}\n`.replaceAll("\n", " ").replaceAll(/ +/g, " "))).toEqual(chunks(2, 12, 3));
    for (const prompt of prompts) expect(said("user").split(prompt).length - 1, prompt).toBe(1);

    await rowOf(c); // a later answer: the file is written by then
    const journal = journalOf(master);
    expect(journal.slice(0, before.length)).toEqual(before);
    expect(chunksIn(textOf(journal, "agent_message_chunk"))).toEqual(chunks(2, 12, 3, 4));
    for (const prompt of prompts) {
      expect(textOf(journal, "user_message_chunk").split(prompt).length - 1, prompt).toBe(1);
    }
  });
});

describe("gemini, which was told that its editor serves files", () => {
  it("writes one after the editor is gone", async () => {
    await using stage = await Stage.open(gemini, "through the master");
    const { client: editor, master } = stage;
    await editor.initialize({ capabilities: { fs: { readTextFile: true, writeTextFile: true } } });
    const { sessionId } = await editor.newSession();
    const file = join(stage.home.work, "written.txt");
    // Of a file that is not there this gemini makes nothing: it takes every client's "not found" for a failure.
    writeFileSync(file, "former words");
    const prompt = plan(["say", 6, 150], ["write", file, "some words"], ["say", 3]);
    editor.prompt(sessionId, prompt, turnMs).catch(() => {});
    await says(editor, "chunk 2 of 6");
    await editor.close();
    const b = await joined(stage, sessionId, { agent: null });
    await allow(b);
    await says(b, "chunk 3 of 3");
    await idle(b);
    expect(readFileSync(file, "utf8")).toBe("some words");
    // It was this host that served it: gemini asked, and b never said that it could.
    expect(descendantsOf(master.pid).some((one) => one.command.includes("host-client"))).toBe(true);
    expect(b.received("fs/write_text_file")).toEqual([]);
  });
});
