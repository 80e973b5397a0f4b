// A turn with a proposal, from the block in its prompt to the last line that the agent reads: real master, real Helper,
// real acp-propose, and nothing of it where it does not belong.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  answerOffer,
  askingAgent,
  CANCELLED,
  converse,
  decisions,
  EVENT,
  nextOffer,
  PERMISSION,
  selected,
  yesNo,
} from "../permissions/conversation.ts";
import {
  approved,
  blockOf,
  commandOf,
  heading,
  linesOf,
  payload,
  proposed,
  ProposingHelper,
  reviewerOf,
  rowOf,
  runInShell,
} from "./proposing.ts";

let agent: ScriptedAgent;
let claude: ScriptedAgent;
let running: ScriptedAgent;
let helper: ProposingHelper;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  claude = askingAgent();
  running = askingAgent({ definition: { arming: "preflight" } });
  helper = new ProposingHelper();
  master = await startMaster({
    agents: { fake: agent, claude, running },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "shared" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  helper[Symbol.dispose]();
  await running[Symbol.asyncDispose]();
  await claude[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

const isRow = (update: Loose): boolean => update.sessionUpdate === "tool_call";

const questions = (lines: readonly { readonly message: Loose }[]): number =>
  lines.filter(({ message }) => message.method === PERMISSION).length;

describe("the prompt block", () => {
  it("ends the prompt with the four facts in order, with the command of this turn's own channel", async () => {
    const talk = await converse(master, { agent: "fake" });
    const [, context, last]: Loose[] = talk.turn.prompt.message.params.prompt;
    expect(context.text).toBe(`What stands in the pane of ${talk.sessionId}`);
    const block: string = last.text;
    expect(block.split("\n")[0]).toBe(heading);
    const numbers = [...block.matchAll(/^(\d)\. /gm)].map(([, number]) => number);
    expect(numbers).toEqual(["1", "2", "3", "4"]);
    expect(block).toMatch(/^"\$ACP_PROPOSE" --channel v1\.[0-9a-f]{32}\.[0-9a-f]{32} --payload-json '<json>'$/m);
    expect(block).not.toContain("delegate");
    const first = commandOf(talk, "{}");
    await talk.endTurn();
    await talk.startTurn();
    expect(commandOf(talk, "{}")).not.toBe(first);
    await talk.endTurn();
  });

  it("reaches the agent only: no other client, no journal", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    const watcher = await talk.join();
    await talk.startTurn();
    expect(blockOf(talk.turn.prompt.message)).toBeDefined();
    await talk.endTurn();
    await eventually(() => watcher.updates(talk.sessionId).length > 0, "the other client sees the prompt");
    const late = await talk.join();
    for (const client of [talk.client, watcher, late]) {
      for (const { text } of client.lines.all) expect(text).not.toContain("--channel");
    }
    expect(stateText()).not.toContain("--channel");
  });

  it("is left out under a preset that refuses everything", async () => {
    const talk = await converse(master, { agent: "fake", turn: false });
    await talk.client.call("_acp-master/session/preset", { sessionId: talk.sessionId, preset: "deny-all" });
    await talk.startTurn();
    expect(talk.turn.prompt.message.params.prompt).toHaveLength(1);
    await talk.endTurn();
  });

  it("is left out while nothing can be carried out", async () => {
    helper.set("gone", true);
    const talk = await converse(master, { agent: "fake" });
    helper.set("gone", false);
    expect(talk.turn.prompt.message.params.prompt).toHaveLength(1);
    await talk.endTurn();
  });
});

describe("a proposal", () => {
  it("is approved without a question, shown, confirmed and handed over once; the agent reads both lines", async () => {
    const talk = await converse(master, { agent: "fake" });
    await using reviewer = await reviewerOf(talk);
    await using other = await reviewerOf(talk, "another");
    const { card, program } = await proposed(talk, reviewer, payload("echo it's\u200b me"));
    expect(card).toMatchObject({
      sessionId: talk.sessionId,
      agent: "fake",
      cwd: talk.master.work,
      origin: "terminal_agent",
      target: `pane of ${talk.sessionId}`,
      choices: [
        {
          choice: 1,
          title: "Say it",
          rationale: "",
          actions: [{ type: "send", lines: ["echo it's\\u{200B} me"] }],
          modes: ["run", "insert"],
        },
      ],
      recommended: 1,
      detached: false,
    });
    expect(helper.orders).toEqual([]);
    const { proposalId } = card;
    const decided = await Promise.all([
      reviewer.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "insert" }),
      other.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "run" }),
    ]);
    expect(decided.toSorted()).toEqual(["confirmed", "lost"]);
    const mode = decided[0] === "confirmed" ? "insert" : "run";
    const by = decided[0] === "confirmed" ? "a person" : "another";
    expect(await linesOf(program)).toEqual({
      code: 0,
      lines: [
        { phase: "validation", status: "accepted", proposal_id: proposalId, retryable: false },
        { phase: "final", status: "confirmed", proposal_id: proposalId },
      ],
    });
    expect(helper.orders).toEqual([`${mode} send in pane of ${talk.sessionId}: echo it's\\u{200B} me`]);
    expect(await other.over(proposalId)).toEqual({
      type: "over",
      sessionId: talk.sessionId,
      proposalId,
      status: "confirmed",
      by,
    });
    // What still comes in this turn belongs to it; afterwards nothing does.
    const shown = (id: string | null) => (event: Loose) =>
      event.type === "turn" && event.sessionId === talk.sessionId && event.proposalId === id;
    await using late = await reviewerOf(talk, "late");
    const welcome: Loose = await late.events.waitFor((event) => event.type === "welcome");
    expect(welcome.turns).toContainEqual({ sessionId: talk.sessionId, proposalId });
    await talk.endTurn();
    await late.events.waitFor(shown(null), "the end of the turn");
    expect(questions(talk.client.lines.all)).toBe(0);
    expect(decisions(master).filter((one) => one.sessionId === talk.sessionId)).toMatchObject([
      { outcome: { result: "selected", optionId: "yes" }, by: { kind: "helper" } },
    ]);
  });

  it("leaves no row with any client, in any journal or log", async () => {
    const talk = await converse(master, { agent: "fake" });
    const watcher = await talk.join();
    await using reviewer = await reviewerOf(talk);
    const { card, program, command } = await proposed(talk, reviewer, payload("echo marigold"));
    await reviewer.client.decide({ proposalId: card.proposalId, decision: "cancel" });
    expect((await linesOf(program)).lines[1]).toMatchObject({ status: "cancelled" });
    const toolCallId = talk.process.lines.all.length; // any id of a call that is something else
    await talk.process.update(talk.sessionId, {
      sessionUpdate: "tool_call",
      toolCallId: `shown-${toolCallId}`,
      title: "List",
      kind: "execute",
      status: "in_progress",
      rawInput: { command: "ls" },
    });
    await eventually(() => watcher.updates(talk.sessionId).some(isRow), "the row of another call");
    const rows = watcher.updates(talk.sessionId).filter(isRow);
    expect(rows.map((row: Loose) => row.title)).toEqual(["List"]);
    await talk.endTurn();
    for (const client of [talk.client, watcher, await talk.join()]) {
      for (const { text } of client.lines.all) expect(text).not.toContain("marigold");
    }
    expect(stateText() + master.logText()).not.toContain("marigold");
    expect(stateText() + master.logText()).not.toContain(command.slice(26, 60));
    expect(readdirSync(helper.folder)).not.toContain("marigold");
  });

  it("of an agent whose first frame has no input yet: its row is reduced to id and status", async () => {
    const talk = await converse(master, { agent: "claude" });
    await using reviewer = await reviewerOf(talk);
    const command = commandOf(talk, payload("echo marigold"));
    const update = (more: Loose) => talk.process.update(talk.sessionId, { toolCallId: "c1", ...more });
    const rawInput = { command, description: "Propose marigold" };
    await update({ sessionUpdate: "tool_call", title: "Terminal", kind: "execute", status: "pending", rawInput: {} });
    await update({ sessionUpdate: "tool_call_update", title: command, rawInput });
    const options = [{ optionId: "always", name: "Always", kind: "allow_always" }, ...yesNo];
    const answer = await talk.ask("c1", { toolCall: { rawInput, kind: undefined, title: command }, options });
    expect(answer.result).toEqual(selected("yes"));
    const program = runInShell(talk, command);
    const { proposalId } = await reviewer.card(talk.sessionId);
    await reviewer.client.decide({ proposalId, decision: "cancel" });
    const { lines } = await linesOf(program);
    await update({
      sessionUpdate: "tool_call_update",
      status: "completed",
      rawOutput: lines,
      content: [{ type: "content", content: { type: "text", text: "marigold" } }],
    });
    await talk.settle();
    const rows = talk.client.updates(talk.sessionId).filter((row: Loose) => row.toolCallId === "c1");
    expect(rows).toEqual([
      {
        sessionUpdate: "tool_call",
        toolCallId: "c1",
        title: "Terminal",
        kind: "execute",
        status: "pending",
        rawInput: {},
      },
      { sessionUpdate: "tool_call_update", toolCallId: "c1" },
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" },
    ]);
    await talk.endTurn();
  });

  it("that the policy refuses is said with its reason, and the agent may not try again", async () => {
    helper.set("unplaced", true);
    const talk = await converse(master, { agent: "fake" });
    helper.set("unplaced", false);
    await using reviewer = await reviewerOf(talk);
    const command = commandOf(talk, payload());
    await approved(talk, command);
    expect(await linesOf(runInShell(talk, command))).toEqual({
      code: 0,
      lines: [{ phase: "validation", status: "rejected", reason: "no active pane", retryable: false }],
    });
    const notice: Loose = await reviewer.events.waitFor(
      (event) => event.type === "notice" && event.notice.sessionId === talk.sessionId,
    );
    expect(notice.notice).toMatchObject({ why: "rejected", count: 1 });
    await talk.endTurn();
  });

  it("is never what an agent says in its text (FF-167)", async () => {
    const talk = await converse(master, { agent: "fake" });
    await using reviewer = await reviewerOf(talk);
    const text = commandOf(talk, payload());
    await talk.process.say(talk.sessionId, payload());
    await talk.process.say(talk.sessionId, text);
    await talk.settle();
    expect(talk.client.text(talk.sessionId)).toContain(payload() + text);
    // The channel is as it was, and only the command uses it.
    const { card, program } = await proposed(talk, reviewer);
    await reviewer.client.decide({ proposalId: card.proposalId, decision: "cancel" });
    expect((await linesOf(program)).lines[1]).toMatchObject({ status: "cancelled" });
    const cards = reviewer.events.all.filter(
      (event) => event.type === "card" && event.card.sessionId === talk.sessionId,
    );
    expect(cards).toHaveLength(1);
    await talk.endTurn();
  });

  it("without a permission is not armed, unless the agent's arming is preflight", async () => {
    const asking = await converse(master, { agent: "fake" });
    const { lines } = await linesOf(runInShell(asking, commandOf(asking, payload())));
    expect(lines).toMatchObject([{ status: "not_armed", retryable: false }]);
    await asking.endTurn();
    const talk = await converse(master, { agent: "running" });
    await using reviewer = await reviewerOf(talk);
    const program = runInShell(talk, commandOf(talk, payload()));
    const { proposalId } = await reviewer.card(talk.sessionId);
    await reviewer.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "run" });
    expect((await linesOf(program)).lines).toMatchObject([{ status: "accepted" }, { status: "confirmed" }]);
    await talk.endTurn();
  });
});

const ask = async (name: string, more: { readonly toolCall?: object; readonly options?: Loose } = {}) => {
  const talk = await converse(master, { agent: name });
  const command = commandOf(talk, payload());
  const toolCall = { rawInput: { command }, ...more.toolCall };
  return { talk, command, answer: talk.ask("look-alike", { ...more, toolCall }) };
};

describe("a request that only resembles one", () => {
  it.each([
    ["two options that allow once", { options: [...yesNo, { optionId: "also", name: "Also", kind: "allow_once" }] }],
    ["only a lasting allow", { options: [{ optionId: "ever", name: "Ever", kind: "allow_always" }, yesNo[1]] }],
    ["an unknown key beside the command", { toolCall: { rawInput: { command: "$ACP_PROPOSE", extra: 1 } } }],
    ["another command behind it", { toolCall: { rawInput: { command: 'true & "$ACP_PROPOSE" --help' } } }],
    ["another spelling", { toolCall: { rawInput: { command: "${ACP_PROPOSE} --channel x" } } }],
  ])("with %s is refused, counted and not armed", async (_name, more) => {
    const { talk, command, answer } = await ask("fake", more);
    await using reviewer = await reviewerOf(talk);
    expect((await answer).result).toEqual(selected("no"));
    expect(questions(talk.client.lines.all)).toBe(0);
    const { lines } = await linesOf(runInShell(talk, command));
    expect(lines).toMatchObject([{ status: "not_armed" }]);
    await reviewer.events.waitFor(
      (event) =>
        (event.type === "welcome" && event.notices.some(({ sessionId }) => sessionId === talk.sessionId)) ||
        (event.type === "notice" && event.notice.sessionId === talk.sessionId),
      "a notice",
    );
    const logged = await eventually(
      () => master.logLines().filter(({ message }) => message === "proposal_mismatch"),
      "a log line",
    );
    expect(JSON.stringify(logged)).not.toContain("ACP_PROPOSE");
    await talk.endTurn();
  });

  it("with two options that allow once, by an agent that never asks otherwise, is put to people", async () => {
    const options = [...yesNo, { optionId: "also", name: "Also", kind: "allow_once" }];
    const { talk, answer } = await ask("running", { options });
    await answerOffer(talk.client, await nextOffer(talk.client, "look-alike"), selected("no"));
    expect((await answer).result).toEqual(selected("no"));
    await talk.endTurn();
  });

  it("by its words alone is an ordinary question", async () => {
    const { talk, answer } = await ask("fake", { toolCall: { rawInput: { command: "echo acp-propose --channel x" } } });
    await answerOffer(talk.client, await nextOffer(talk.client, "look-alike"), selected("yes"));
    expect((await answer).result).toEqual(selected("yes"));
    await talk.endTurn();
  });

  it("without an option to refuse is cancelled", async () => {
    const { talk, answer } = await ask("fake", { options: [{ optionId: "ever", name: "Ever", kind: "allow_always" }] });
    expect((await answer).result).toEqual(CANCELLED);
    await talk.endTurn();
  });
});

describe("the channel", () => {
  it("of one session is refused in another of the same agent, and after its own turn (FF-168, FF-171)", async () => {
    const first = await converse(master, { agent: "fake" });
    const second = await converse(master, { agent: "fake" });
    expect(second.process).toBe(first.process);
    const command = commandOf(first, payload());
    // As the other session's question it is refused, and the channel stays as it is.
    const answer = await second.ask("borrowed", { toolCall: { rawInput: { command } } });
    expect(answer.result).toEqual(selected("no"));
    await approved(first, command);
    await first.endTurn();
    const { lines } = await linesOf(runInShell(first, command));
    expect(lines).toMatchObject([{ status: "stale", retryable: false }]);
    await second.endTurn();
  });

  it("is refused after the agent's process was replaced (FF-171)", async () => {
    const own = askingAgent();
    master.own(own);
    await using solo = await startMaster({
      agents: { fake: own },
      config: { defaultAgent: "fake", helper: { use: helper.use } },
    });
    const talk = await converse(solo, { agent: "fake" });
    const command = commandOf(talk, payload());
    await approved(talk, command);
    await talk.process.exit(1);
    await talk.turn.done;
    const turn = talk.client.prompt(talk.sessionId, "again");
    const next = await own.process(1);
    const prompt = await next.received("session/prompt");
    const env = { ...talk.process.env };
    expect(next.env.ACP_PROPOSE_DIR).toBe(env.ACP_PROPOSE_DIR);
    const { lines } = await linesOf(runInShell(talk, command));
    expect(lines).toMatchObject([{ status: "unavailable", retryable: false }]);
    await next.answer(prompt, { stopReason: "end_turn" });
    await turn;
  });
});

it("the sockets are private, outside of the daemon's home, and gone with it", async () => {
  const talk = await converse(master, { agent: "fake" });
  const { ACP_PROPOSE_DIR: folder = "", ACP_PROPOSE: program = "" } = talk.process.env;
  expect(program).toMatch(/^\/.*\/acp-propose\.js$/);
  expect(folder.startsWith(master.home)).toBe(false);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const { review } = await rowOf(master, talk.sessionId);
  await talk.client.waitFor(({ method, params }) => method === EVENT && params.session?.review === review);
  expect(review.startsWith(folder)).toBe(false);
  const sockets = [...readdirSync(folder).map((name) => join(folder, name)), String(review)];
  expect(sockets.length).toBeGreaterThan(1);
  for (const path of sockets) {
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  for (const name of Object.keys(talk.process.env)) expect(name).not.toContain("REVIEW");
  await talk.endTurn();
});

/** Everything that the daemon has written about sessions and decisions. */
function stateText(): string {
  const texts: string[] = [];
  const read = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) read(path);
      else if (entry.isFile()) texts.push(readFileSync(path, "utf8"));
    }
  };
  read(join(master.home, "state"));
  return texts.join("\n");
}
