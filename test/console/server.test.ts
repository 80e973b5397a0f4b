// The console's server with a real daemon: what pages are shown of sessions, what they can do in them, and that all of them
// stay in step.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import { type Master, startMaster } from "../harness/master.ts";
import { fakeAgent, type ScriptedAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { scriptedHelper, type ScriptedHelper } from "../harness/scripted-helper.ts";
import { type ConsolePage, RunningConsole } from "./running-console.ts";

const presets = [
  { value: "look", name: "Look", width: 1 },
  { value: "talk", name: "Talk", width: 2 },
  { value: "free", name: "Free", description: "Asks nobody", width: 4, confirm: true },
];
const done = { stopReason: "end_turn" };
const cancelled = { stopReason: "cancelled" };
const content = (text: string): Loose[] => [{ type: "text", text }];
const modes = { currentModeId: "code", availableModes: [{ id: "code", name: "Code" }] };
const configOptions = [{ id: "effort", name: "Effort", type: "select", currentValue: "low", options: [] }];

let agent: ScriptedAgent;
let helper: ScriptedHelper;
let master: Master;
let running: RunningConsole;
let process: ScriptedProcess;

beforeAll(async () => {
  agent = fakeAgent({
    session: { modes, configOptions },
    auto: {
      "session/prompt": false,
      "session/set_config_option": () => ({ configOptions: [{ ...configOptions[0], currentValue: "high" }] }),
    },
  });
  helper = scriptedHelper({ presets });
  master = await startMaster({
    agents: { fake: agent },
    config: {
      defaultAgent: "fake",
      helper: { use: helper.use, isolation: "shared" },
      approvals: { preset: "talk" },
    },
  });
  running = await RunningConsole.start(master);
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await helper[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

/** A page with a new session that it shows. */
async function opened(): Promise<{ page: ConsolePage; sessionId: string }> {
  const page = await running.page();
  const { sessionId } = await page.request("new", { agent: "fake", cwd: master.work });
  await page.request("attach", { sessionId });
  process = await agent.process();
  return { page, sessionId };
}

const promptOf = (sessionId: string): Promise<Line> =>
  process.received((message) => message.method === "session/prompt" && message.params.sessionId === sessionId);

/** Kind and text, or status, of each update. */
const outline = (updates: Loose[]): Loose[] =>
  updates.map((each) => [each.sessionUpdate, each.content?.text ?? each.status]);

describe("pages", () => {
  it("are told of sessions, prompt, and all show the same in the same order, late ones too", async () => {
    const { page: a, sessionId } = await opened();
    const b = await running.page();
    const { agents } = await a.request("agents", {});
    expect(agents).toContainEqual({ name: "fake", ready: true, isDefault: true });
    await b.request("attach", { sessionId });
    const first = a.ask("prompt", { sessionId, content: content("one") });
    const received = await promptOf(sessionId);
    const second = b.ask("prompt", { sessionId, content: content("two") });
    await process.say(sessionId, "answer");
    await process.answer(received, done);
    expect(await first.reply).toMatchObject({ ok: true, result: done });
    await process.answer(await promptOf(sessionId), done);
    expect(await second.reply).toMatchObject({ ok: true, result: done });
    const all = [
      ["user_message_chunk", "one"],
      ["agent_message_chunk", "answer"],
      ["user_message_chunk", "two"],
    ];
    for (const page of [a, b]) {
      await page.text(sessionId, "two");
      expect(outline(page.updates(sessionId))).toEqual(all);
      for (const state of ["running", "idle"]) {
        await page.next("session", ({ session }) => session.sessionId === sessionId && session.state === state);
      }
    }
    const late = await running.page();
    await late.request("attach", { sessionId });
    expect(outline(late.updates(sessionId))).toEqual(all);
  });

  it("queue prompts, take one back, cancel the turn, and cancel everything", async () => {
    const { page, sessionId } = await opened();
    const [one, two, three] = ["1", "2", "3"].map((text) => page.ask("prompt", { sessionId, content: content(text) }));
    const running1 = await promptOf(sessionId);
    await page.request("prompt.cancel", { sessionId, prompt: two!.id });
    expect(await two!.reply).toMatchObject({ ok: true, result: cancelled });
    await process.answer(running1, done);
    expect(await one!.reply).toMatchObject({ ok: true, result: done });
    const running3 = await promptOf(sessionId);
    await page.request("cancel", { sessionId });
    await process.received((message) => message.method === "session/cancel" && message.params.sessionId === sessionId);
    await process.answer(running3, cancelled);
    expect(await three!.reply).toMatchObject({ ok: true, result: cancelled });
    const other = await running.page();
    await other.request("attach", { sessionId });
    const [four, five] = [page, other].map((each) => each.ask("prompt", { sessionId, content: content("4") }));
    const running4 = await promptOf(sessionId);
    await page.request("cancel.all", { sessionId });
    await process.answer(running4, cancelled);
    for (const turn of [four, five]) expect(await turn!.reply).toMatchObject({ ok: true, result: cancelled });
  });

  it("set mode, option and preset; what is set comes to all of them, its own page included", async () => {
    const { page, sessionId } = await opened();
    const other = await running.page();
    const { opened: found } = await other.request("attach", { sessionId });
    expect(found).toMatchObject({ modes, configOptions: [configOptions[0], { id: "acp-master.approvals" }] });
    await page.request("mode", { sessionId, modeId: "plan" });
    const set = await page.request("option", { sessionId, configId: "effort", value: "high" });
    expect(set.configOptions[0]).toMatchObject({ currentValue: "high" });
    expect(await page.request("presets", { sessionId })).toEqual({
      preset: "talk",
      presets: presets.map((each) => ({ ...each, confirm: "confirm" in each })),
    });
    const widening = { sessionId, preset: "free" };
    const unconfirmed = await page.ask("preset", widening).reply;
    expect(unconfirmed).toMatchObject({ ok: false, error: { code: -32602 } });
    expect(await page.request("preset", { ...widening, confirm: true })).toEqual({ preset: "free" });
    for (const each of [page, other]) {
      await each.next("session", ({ session }) => session.sessionId === sessionId && session.preset === "free");
      await eventually(
        () => each.updates(sessionId).length >= 3 && each.updates(sessionId),
        "mode, option and preset were told",
      );
      expect(each.updates(sessionId)).toMatchObject([
        { sessionUpdate: "current_mode_update", currentModeId: "plan" },
        { sessionUpdate: "config_option_update", configOptions: [{ currentValue: "high" }, {}] },
        { sessionUpdate: "config_option_update", configOptions: [{}, { currentValue: "free" }] },
      ]);
    }
  });

  it("see tool calls in order: a first sighting is whole, no status goes back, a turn leaves none open", async () => {
    const { page, sessionId } = await opened();
    const turn = page.ask("prompt", { sessionId, content: content("work") });
    const received = await promptOf(sessionId);
    await process.update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "in_progress" });
    await process.update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "pending" });
    await process.update(sessionId, { sessionUpdate: "future_kind", anything: [1] });
    await process.answer(received, done);
    await turn.reply;
    const next = page.ask("prompt", { sessionId, content: content("more") });
    await process.answer(await promptOf(sessionId), done);
    await next.reply;
    await page.text(sessionId, "more");
    expect(outline(page.updates(sessionId))).toEqual([
      ["user_message_chunk", "work"],
      ["tool_call", "in_progress"],
      ["tool_call_update", "in_progress"],
      ["future_kind", undefined],
      ["tool_call_update", "failed"],
      ["user_message_chunk", "more"],
    ]);
    expect(page.updates(sessionId)[1]).toMatchObject({ title: "t", kind: "other" });
  });

  it("answer an agent's form together; the question outlives its own page while another shows it", async () => {
    const { page, sessionId } = await opened();
    const ask = { sessionId, mode: "form", message: "Name?", requestedSchema: { type: "object", properties: {} } };
    const asked = process.request("elicitation/create", ask);
    const shown = await page.next("elicitation");
    expect(shown).toMatchObject({ sessionId, params: { message: "Name?", mode: "form" } });
    const other = await running.page();
    await other.request("attach", { sessionId });
    const { elicitation } = await other.next("elicitation");
    expect(elicitation).toBe(shown.elicitation);
    await page.request("detach", { sessionId });
    const answer = { elicitation, action: "accept" as const, content: { name: "x" } };
    expect(await other.request("elicitation", answer)).toEqual({ status: "accepted" });
    expect((await asked).result).toMatchObject({ action: "accept", content: { name: "x" } });
    await other.next("elicitation_over", (message) => message.elicitation === elicitation);
    expect(await other.request("elicitation", answer)).toEqual({ status: "not_pending" });
    // Nobody is left to answer: the agent hears so at once.
    const again = process.request("elicitation/create", ask);
    await other.next("elicitation");
    await other.request("detach", { sessionId });
    expect((await again).error?.data.reason).toBe("client_gone");
  });

  it("leave a session: it has no client of the console then, and goes on", async () => {
    const { page, sessionId } = await opened();
    const clients = ({ session }: Loose): Loose => session.sessionId === sessionId && session.clients.length;
    const watcher = await running.page();
    const turn = page.ask("prompt", { sessionId, content: content("on") });
    const received = await promptOf(sessionId);
    await watcher.next("session", (message) => clients(message) === 1);
    expect(await page.refusal("detach", { sessionId: "" })).toBe("bad_request");
    await page.request("detach", { sessionId });
    expect(await turn.reply).toMatchObject({ ok: false, error: { reason: "offline" } });
    await watcher.next("session", (message) => clients(message) === 0 && message.session.state === "running");
    expect(await page.refusal("prompt", { sessionId, content: content("no") })).toBe("not_attached");
    await process.say(sessionId, "went on");
    await process.answer(received, done);
    await watcher.next("session", ({ session }) => session.sessionId === sessionId && session.state === "idle");
    await watcher.request("attach", { sessionId });
    expect(outline(watcher.updates(sessionId)).at(-1)).toEqual(["agent_message_chunk", "went on"]);
    await page.request("close", { sessionId });
    await watcher.next("session", ({ session }) => session.sessionId === sessionId && session.state === "closed");
    expect(await watcher.refusal("cancel", { sessionId })).toBe("not_attached");
    // It is kept and can be read; that is no wish to go on with it.
    await page.request("attach", { sessionId });
    expect(outline(page.updates(sessionId)).at(-1)).toEqual(["agent_message_chunk", "went on"]);
    expect(await page.refusal("prompt", { sessionId, content: content("no") })).toBe("observer");
    await page.request("attach", { sessionId, reopen: true });
    const more = page.ask("prompt", { sessionId, content: content("again") });
    await process.answer(await promptOf(sessionId), done);
    expect(await more.reply).toMatchObject({ ok: true, result: done });
  });

  it("are told what is wrong with what they ask", async () => {
    const page = await running.page();
    const nowhere = `${master.work}/nowhere`;
    expect(await page.refusal("new", { agent: "fake", cwd: nowhere })).toBe("cwd_missing");
    expect(await page.refusal("new", { agent: "fake", cwd: "here" })).toBe("cwd_not_absolute");
    expect(await page.refusal("new", { agent: "nobody", cwd: master.work })).toBe("unknown_agent");
    expect(await page.refusal("attach", { sessionId: "none" })).toBe("unknown_session");
    expect(await page.refusal("presets", { sessionId: "none" })).toBe("unknown_session");
    expect(await page.refusal("cancel", { sessionId: "none" })).toBe("not_attached");
    expect(await page.request("ping", {})).toEqual({});
    page.socket.send(Buffer.from("binary"));
    page.socket.send('{"id":900,"op":"rm"}');
    expect(await page.next("reply", ({ id }) => id === 900)).toMatchObject({ error: { reason: "bad_request" } });
    page.socket.send('{"id":901,"op":"ping","more":1}');
    expect(await page.next("reply", ({ id }) => id === 901)).toMatchObject({ ok: false });
    expect(await page.request("ping", {})).toEqual({});
    for (let n = 0; n < 20; n++) page.socket.send("{");
    expect(await page.closed).toBe(1008);
  });

  it("hear when an agent's process ends", async () => {
    await using other = fakeAgent();
    master.configure({ config: { helper: { use: "ask" } }, agents: { fake: agent, other } });
    const page = await running.page();
    const made = await eventually(async () => {
      const reply = await page.ask("new", { agent: "other", cwd: master.work }).reply;
      return reply.ok && reply.result;
    }, "the daemon knows the agent");
    expect(made).toHaveProperty("sessionId");
    await (await other.process()).exit(3);
    expect(await page.next("agent_exited")).toMatchObject({ agent: "other", exitCode: 3, signal: null });
  });
});
