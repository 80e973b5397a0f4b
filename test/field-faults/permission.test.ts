// Field faults of the kind "permission": what went wrong with questions elsewhere, and what happens here.
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { isRunning, processGone } from "../harness/processes.ts";
import type { InitializeOptions } from "../harness/raw-client.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  answerOffer,
  askingAgent,
  CANCELLED,
  converse,
  decisions,
  jsonLine,
  nextOffer,
  PERMISSION,
  resolvedEvent,
  selected,
  yesNo,
  type Conversation,
} from "../permissions/conversation.ts";

/** One agent each with approvals of its own, so that one daemon serves all tests. */
const kinds = {
  fake: {},
  impatient: { approvals: { timeoutSeconds: 2 } },
  lonely: { approvals: { noClientSeconds: 0.4 } },
  deny: { approvals: { preset: "deny-all" } },
  allow: { approvals: { preset: "allow-all" } },
  edits: { approvals: { preset: "accept-edits" } },
} as const;
type Kind = keyof typeof kinds;

let agents: Record<Kind, ScriptedAgent>;
let master: Master;

const make = (kind: Kind): ScriptedAgent => askingAgent({ definition: kinds[kind] });

beforeAll(async () => {
  agents = {
    fake: make("fake"),
    impatient: make("impatient"),
    lonely: make("lonely"),
    deny: make("deny"),
    allow: make("allow"),
    edits: make("edits"),
  };
  master = await startMaster({ agents, config: { helper: { isolation: "shared" } } });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  for (const agent of Object.values(agents)) await agent[Symbol.asyncDispose]();
});

const talk = (kind: Kind = "fake", options: InitializeOptions & { turn?: boolean } = {}) =>
  converse(master, { ...options, agent: kind });

const allowOnly = [
  { optionId: "a", name: "Once", kind: "allow_once" },
  { optionId: "b", name: "Always", kind: "allow_always" },
];

describe("somebody who does not answer", () => {
  it("FF-42: a silent client ends in a refusal within the configured wait, recorded as expired; meanwhile others can answer", async () => {
    const talking = await talk("impatient");
    const began = Date.now();
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const [row] = (await talking.client.call("_acp-master/approvals", {})).approvals;
    // The two are read from the clock one after the other.
    const wait = Date.parse(row.expiresAt) - Date.parse(row.askedAt);
    expect(wait).toBeGreaterThanOrEqual(2000);
    expect(wait).toBeLessThan(2100);
    expect((await asked).result).toEqual(selected("no"));
    expect(Date.now() - began).toBeGreaterThanOrEqual(2000);
    expect(await resolvedEvent(talking.client, offer.approvalId)).toMatchObject({
      outcome: { result: "expired" },
      by: { kind: "expiry" },
    });
    expect(decisions(master, offer.approvalId)).toMatchObject([
      { outcome: { result: "expired" }, by: { kind: "expiry" } },
    ]);
    const other = await talk();
    const answered = other.ask("t1");
    const { approvalId } = await nextOffer(other.client);
    expect((await master.cli(["approve", approvalId])).code).toBe(0);
    expect((await answered).result).toEqual(selected("yes"));
  });

  it("FF-43: when the only client goes, the ticket is refused once after the grace, and a late return changes nothing", async () => {
    const talking = await talk("lonely");
    const asked = talking.ask("t1", { id: "left-alone" });
    const { approvalId } = await nextOffer(talking.client);
    await talking.client.close();
    expect((await asked).result).toEqual(selected("no"));
    expect(decisions(master, approvalId)).toMatchObject([
      { outcome: { result: "expired" }, by: { kind: "no_client" } },
    ]);
    const back = await talking.join();
    await back.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    const late = { approvalId, outcome: selected("yes").outcome };
    expect(await back.call("_acp-master/approval/answer", late)).toEqual({ status: "not_pending" });
    expect(talking.answersTo("left-alone")).toHaveLength(1);
  });

  it("FF-43: within the grace somebody with the right to answer may, attached or not", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    const { approvalId } = await nextOffer(talking.client);
    await talking.client.close();
    expect((await master.cli(["approve", approvalId])).code).toBe(0);
    expect((await asked).result).toEqual(selected("yes"));
  });

  it("FF-44: a client that reconnects gets the open question again, once, and its answer goes under the agent's own id", async () => {
    const talking = await talk("lonely");
    const asked = talking.ask("t1", { id: "the-agents-own" });
    const first = await nextOffer(talking.client);
    await talking.client.close();
    const back = await talking.join();
    const again = await nextOffer(back);
    expect([again.approvalId, again.params]).toEqual([first.approvalId, first.params]);
    await back.expectSilence(({ method }) => method === PERMISSION);
    await answerOffer(back, again, selected("yes"));
    expect((await asked).id).toBe("the-agents-own");
    await talking.process.say(talking.sessionId, "over");
    expect(talking.answersTo("the-agents-own").map((answer) => answer.result)).toEqual([selected("yes")]);
  });
});

describe("somebody else who answers", () => {
  it("FF-45: any connection with the right may answer; what was not accepted is never an OK", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const second = await talking.join();
    await answerOffer(second, await nextOffer(second), selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    const answer = (params: object) =>
      second.request("_acp-master/approval/answer", { outcome: selected("yes").outcome, ...params });
    expect((await answer({ approvalId: offer.approvalId })).result).toEqual({ status: "not_pending" });
    expect((await answer({ approvalId: "nobody's" })).result).toEqual({ status: "not_pending" });
    expect((await answer({})).error?.code).toBe(-32602);
  });

  it("FF-46: two answers at once: in each of 100 rounds one reaches the agent, and it is the one in the record", async () => {
    const talking = await talk();
    const other = await talking.join();
    for (let round = 0; round < 100; round++) {
      const id = `r${round}`;
      const asked = talking.ask(id, { id });
      const offers = [await nextOffer(talking.client, id), await nextOffer(other, id)] as const;
      const answers = [
        () => answerOffer(talking.client, offers[0], selected("no")),
        () => answerOffer(other, offers[1], selected("yes")),
      ];
      if (round % 2 === 1) answers.reverse();
      await Promise.all(answers.map((answer) => answer()));
      const { result } = await asked;
      const { approvalId } = offers[0];
      const loser = result.outcome.optionId === "no" ? other : talking.client;
      const settled = await resolvedEvent(loser, approvalId);
      expect(settled.outcome).toEqual({ result: "selected", optionId: result.outcome.optionId });
    }
    await talking.settle();
    const recorded = new Map(decisions(master).map((line) => [line.toolCallId, line.outcome.optionId]));
    for (let round = 0; round < 100; round++) {
      const id = `r${round}`;
      const answers = talking.answersTo(id);
      expect(answers.map((answer) => answer.result.outcome.optionId)).toEqual([recorded.get(id)]);
    }
  });

  it("FF-47: a client that copies another's clientInfo and guesses its request ids answers nothing", async () => {
    const clientInfo = { name: "editor", version: "1" };
    const talking = await talk("fake", { extra: { clientInfo } });
    const asked = talking.ask("t1", { id: "guessed" });
    const offer = await nextOffer(talking.client);
    const thief = await master.client();
    await thief.initialize({ agent: null, extra: { clientInfo } });
    const number = Number(offer.id.split("-")[1]);
    for (const id of [offer.id, `${offer.id.split("-")[0]}-${number + 1}`, number, String(number)]) {
      await thief.send({ jsonrpc: "2.0", id, result: selected("yes") });
    }
    await thief.expectSilence();
    await talking.settle();
    expect(talking.answersTo("guessed")).toEqual([]);
    await answerOffer(talking.client, offer, selected("no"));
    expect((await asked).result).toEqual(selected("no"));
    // The record names connections by ids that the daemon gave them.
    expect(decisions(master, offer.approvalId)[0].shownTo).toHaveLength(1);
  });
});

describe("what a question may not hold up", () => {
  it("FF-48: another session's question on the same process is shown and answered while the first stays open", async () => {
    const [one, two] = [await talk(), await talk()];
    const open = one.ask("t1");
    const first = await nextOffer(one.client);
    const began = performance.now();
    const asked = two.ask("t2");
    await answerOffer(two.client, await nextOffer(two.client), selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    expect(performance.now() - began).toBeLessThan(1_000);
    await answerOffer(one.client, first, selected("no"));
    expect((await open).result).toEqual(selected("no"));
  });

  it("FF-49: session/list and session/new go through while a question is open, and status shows what it waits for", async () => {
    const talking = await talk();
    const open = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const began = performance.now();
    await talking.client.call("session/list", {});
    await talking.client.newSession();
    expect(performance.now() - began).toBeLessThan(2_000);
    const { sessions } = await talking.client.call("_acp-master/sessions", {});
    const row = sessions.find((each: Loose) => each.sessionId === talking.sessionId);
    expect(row).toMatchObject({ state: "waiting", approvals: 1 });
    await answerOffer(talking.client, offer, selected("no"));
    await open;
  });

  it("FF-62: a second prompt queues, and the open question stays and can be answered", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const second = talking.client.prompt(talking.sessionId, "and also");
    await talking.client.expectSilence(({ method }) => method === "$/cancel_request");
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    expect((await talking.endTurn()).result).toEqual({ stopReason: "end_turn" });
    const queued = await talking.process.received(
      ({ method, params }) => method === "session/prompt" && params.prompt[0].text === "and also",
    );
    await talking.process.answer(queued, { stopReason: "end_turn" });
    expect((await second).result).toEqual({ stopReason: "end_turn" });
  });

  it("FF-61: an in_progress update in the same write does not take the question away", async () => {
    const talking = await talk();
    const { sessionId } = talking;
    const update = (more: object) =>
      jsonLine({ method: "session/update", params: { sessionId, update: { toolCallId: "t1", ...more } } });
    const params = { sessionId, toolCall: { toolCallId: "t1", title: "Run" }, options: yesNo };
    await talking.process.sendRaw(
      update({ sessionUpdate: "tool_call", title: "Run", status: "pending" }) +
        jsonLine({ id: "in-one-write", method: PERMISSION, params }) +
        update({ sessionUpdate: "tool_call_update", status: "in_progress" }),
    );
    const offer = await nextOffer(talking.client);
    const listed = JSON.parse((await master.cli(["approvals", "--json", "--session", sessionId])).stdout);
    expect(listed.approvals).toMatchObject([{ approvalId: offer.approvalId, toolCallId: "t1" }]);
    expect((await master.cli(["approve", offer.approvalId])).code).toBe(0);
    const answer = await talking.process.received(({ id, method }) => id === "in-one-write" && method === undefined);
    expect(answer.message.result).toEqual(selected("yes"));
  });
});

describe("the end of a turn", () => {
  it("FF-50: a cancel settles the open question as cancelled once; an answer after it goes nowhere", async () => {
    const talking = await talk();
    const asked = talking.ask("t1", { id: "stopped" });
    const offer = await nextOffer(talking.client);
    await talking.client.notify("session/cancel", { sessionId: talking.sessionId });
    expect((await asked).result).toEqual(CANCELLED);
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await talking.endTurn("cancelled")).result).toEqual({ stopReason: "cancelled" });
    expect(talking.answersTo("stopped")).toHaveLength(1);
  });

  it("FF-51: a no is the offered reject option, once before always; cancelled only where there is none", async () => {
    const always = { optionId: "never", name: "Never", kind: "reject_always" };
    const denied = await talk("deny");
    expect((await denied.ask("t1", { options: [always, ...yesNo] })).result).toEqual(selected("no"));
    expect((await denied.ask("t2", { options: [always, yesNo[0]] })).result).toEqual(selected("never"));
    expect((await denied.ask("t3", { options: allowOnly })).result).toEqual(CANCELLED);
    await denied.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    const person = await talk();
    const asked = person.ask("t1");
    await answerOffer(person.client, await nextOffer(person.client), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });

  it("FF-52: of two reject_once options a person's choice goes through by its id, and an automatic refusal takes neither", async () => {
    const two = [
      { optionId: "cancel", name: "No, and tell the agent what to do", kind: "reject_once" },
      { optionId: "decline", name: "No, go on", kind: "reject_once" },
    ];
    const person = await talk();
    const asked = person.ask("t1", { options: two });
    const offer = await nextOffer(person.client);
    expect(offer.params.options).toEqual(two);
    await answerOffer(person.client, offer, selected("decline"));
    expect((await asked).result).toEqual(selected("decline"));
    const denied = await talk("deny");
    for (const options of [two, two.toReversed()]) {
      expect((await denied.ask("t2", { options })).result).toEqual(CANCELLED);
      const always = { optionId: "never", name: "Never", kind: "reject_always" };
      expect((await denied.ask("t3", { options: [...options, always] })).result).toEqual(selected("never"));
    }
  });

  it("FF-53: without a reject option a denial or an expiry is cancelled, never an allow", async () => {
    for (const kind of ["deny", "impatient"] as const) {
      const talking = await talk(kind);
      expect((await talking.ask("t1", { options: allowOnly })).result).toEqual(CANCELLED);
      expect((await talking.ask("t2", { options: [] })).result).toEqual(CANCELLED);
    }
  });

  it("FF-63: an expiry takes the reject option, also when the record cannot be written", async () => {
    await using agent = askingAgent();
    await using own = await startMaster({
      agents: { fake: agent },
      config: { helper: { isolation: "shared" }, approvals: { timeoutSeconds: 0.3 } },
    });
    const talking = await converse(own, { agent: "fake" });
    expect((await talking.ask("t1")).result).toEqual(selected("no"));
    const file = join(own.home, "state", "audit.ndjson");
    rmSync(file);
    symlinkSync("/dev/full", file);
    expect((await talking.ask("t2")).result).toEqual(selected("no"));
    expect((await talking.client.call("_acp-master/status", {})).record.problem).toContain("audit.ndjson");
  });
});

describe("option ids and kinds", () => {
  it("FF-54: an id that was not offered never reaches the agent and is told to whoever sent it", async () => {
    const talking = await talk();
    const asked = talking.ask("t1", { id: "unoffered" });
    const offer = await nextOffer(talking.client);
    await answerOffer(talking.client, offer, selected("allow_always"));
    const again = await nextOffer(talking.client);
    expect(again.approvalId).toBe(offer.approvalId);
    const answer = { approvalId: offer.approvalId, outcome: selected("allow_always").outcome };
    expect((await talking.client.request("_acp-master/approval/answer", answer)).error?.code).toBe(-32602);
    expect((await master.cli(["approve", offer.approvalId, "--option", "allow_always"])).code).toBe(2);
    expect(talking.answersTo("unoffered")).toEqual([]);
    await answerOffer(talking.client, again, selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });

  it("FF-56: an automatic allow takes allow_once whatever the order, and never allow_always", async () => {
    const talking = await talk("allow");
    const options = [...allowOnly, yesNo[1]];
    for (const order of [options, options.toReversed()]) {
      expect((await talking.ask("t1", { options: order })).result).toEqual(selected("a"));
    }
    const asked = talking.ask("t2", { options: [allowOnly[1], yesNo[1]] });
    await answerOffer(talking.client, await nextOffer(talking.client), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });

  it("FF-57: an unknown option kind is shown to people and may be chosen by them, never by a preset", async () => {
    const five = [
      { optionId: "p", name: "Always (save)", kind: "allow_persistent" },
      ...allowOnly,
      { optionId: "no", name: "No", kind: "reject_once" },
      { optionId: "never", name: "Never", kind: "reject_always" },
    ];
    const person = await talk();
    const asked = person.ask("t1", { options: five });
    const offer = await nextOffer(person.client);
    expect(offer.params.options).toEqual(five);
    await answerOffer(person.client, offer, selected("p"));
    expect((await asked).result).toEqual(selected("p"));
    const allowed = await talk("allow");
    expect((await allowed.ask("t1", { options: five })).result).toEqual(selected("a"));
  });

  it("FF-58: odd option ids come back identical, over the socket and from the command line", async () => {
    const talking = await talk();
    const ids = ["approve_for_session", "deny_always", "Allow Once", "", "7", "a/b\\c", "ö\u202e☃", "--option"];
    const options = ids.map((optionId) => ({ optionId, name: "N", kind: "allow_once" }));
    for (const optionId of ids) {
      const asked = talking.ask("t1", { options });
      await answerOffer(talking.client, await nextOffer(talking.client), selected(optionId));
      expect((await asked).result.outcome.optionId).toBe(optionId);
    }
    for (const optionId of ["Allow Once", "", "ö\u202e☃"]) {
      const asked = talking.ask("t1", { options });
      const { approvalId } = await nextOffer(talking.client);
      expect((await master.cli(["approve", approvalId, `--option=${optionId}`])).code).toBe(0);
      expect((await asked).result.outcome.optionId).toBe(optionId);
    }
  });
});

const childAsk = (talking: Conversation, sessionId: string, more: object = {}) =>
  talking.process.request(PERMISSION, {
    sessionId,
    toolCall: { toolCallId: "c1", kind: "execute", rawInput: { command: "true" } },
    options: yesNo,
    ...more,
  });

describe("sessions that nobody announced", () => {
  it("FF-59: a request of an unknown child session is answered at once, and the turn goes on", async () => {
    const talking = await talk();
    const began = performance.now();
    expect((await childAsk(talking, `${talking.sessionId}-child-1`)).result).toEqual(selected("no"));
    expect(performance.now() - began).toBeLessThan(2_000);
    expect((await talking.endTurn()).result).toEqual({ stopReason: "end_turn" });
  });

  it("FF-59: one that the agent announced is put to the parent's clients, and cancelled with the parent", async () => {
    const talking = await talk("fake", { capabilities: { subagents: {} } });
    const child = `${talking.sessionId}-child-2`;
    await announce(talking, child);
    const asked = childAsk(talking, child);
    const offer = await nextOffer(talking.client);
    expect(offer.params.sessionId).toBe(child);
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    const open = childAsk(talking, child);
    await nextOffer(talking.client);
    await talking.client.notify("session/cancel", { sessionId: talking.sessionId });
    expect((await open).result).toEqual(CANCELLED);
    await talking.endTurn("cancelled");
  });

  it("FF-59: it does not inherit what was granted to its parent alone", async () => {
    const talking = await talk("fake", { capabilities: { subagents: {}, terminal: true } });
    await talking.client.call("_acp-master/session/preset", {
      sessionId: talking.sessionId,
      preset: "allow-all",
      confirm: true,
    });
    expect((await talking.ask("t1")).result).toEqual(selected("yes"));
    const child = `${talking.sessionId}-child-3`;
    await announce(talking, child);
    const asked = childAsk(talking, child);
    await answerOffer(talking.client, await nextOffer(talking.client), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
    // And what is forbidden to its parent is forbidden to it.
    await talking.client.call("_acp-master/session/preset", { sessionId: talking.sessionId, preset: "deny-all" });
    expect((await childAsk(talking, child)).result).toEqual(selected("no"));
    expect(decisions(master).at(-1)).toMatchObject({ by: { kind: "helper" }, preset: "deny-all" });
    const terminal = await talking.process.request("terminal/create", { sessionId: child, command: "true" });
    expect(terminal.error?.data.reason).toBe("refused_by_preset");
    // Where the default is the narrower one it holds for the child, whatever its parent was given.
    const wide = await talk("deny", { capabilities: { subagents: {}, terminal: true } });
    wide.client.answer("terminal/create", () => ({ terminalId: "term" }));
    await wide.client.call("_acp-master/session/preset", {
      sessionId: wide.sessionId,
      preset: "allow-all",
      confirm: true,
    });
    await announce(wide, `${wide.sessionId}-child`);
    const create = (sessionId: string) => wide.process.request("terminal/create", { sessionId, command: "true" });
    expect((await create(wide.sessionId)).result).toEqual({ terminalId: "term" });
    expect((await create(`${wide.sessionId}-child`)).error?.data.reason).toBe("refused_by_preset");
    expect((await childAsk(wide, `${wide.sessionId}-child`)).result).toEqual(selected("no"));
  });
});

const announce = (talking: Conversation, child: string) =>
  talking.process.update(talking.sessionId, { sessionUpdate: "subagent_update", sessionId: child, status: "running" });

// oxlint-disable-next-line no-control-regex -- such characters are what must not be there
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

describe("what people are shown", () => {
  it("FF-64: raw input of any shape reaches them unchanged, and none that is unknown is allowed automatically", async () => {
    const talking = await talk("edits");
    const deep = JSON.parse(`${"[".repeat(200)}1${"]".repeat(200)}`);
    for (const rawInput of [7, deep, "x".repeat(300 * 1024), null, undefined]) {
      const asked = talking.ask("t1", { toolCall: { kind: "edit", rawInput } });
      const offer = await nextOffer(talking.client);
      expect(offer.params.toolCall.rawInput).toEqual(rawInput);
      expect("rawInput" in offer.params.toolCall).toBe(rawInput !== undefined);
      await answerOffer(talking.client, offer, selected("no"));
      await asked;
    }
    // Known input, but no place: asked as well.
    const asked = talking.ask("t2", { toolCall: { kind: "edit", rawInput: { path: join(master.work, "a") } } });
    await answerOffer(talking.client, await nextOffer(talking.client), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });

  it("FF-65: the command line shows control, bidi and zero-width characters as escapes and the whole input", async () => {
    const talking = await talk();
    const titles = [
      "ls \u202e txt.exe",
      "rm -rf /\u200b tmp",
      "ok\u001b[2K\rsafe",
      Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n"),
    ];
    const asked = titles.map((title, n) =>
      talking.ask(`t${n}`, { toolCall: { title, rawInput: { command: `${title}; true` } } }),
    );
    const offers = [];
    for (const [n, title] of titles.entries()) {
      const offer = await nextOffer(talking.client, `t${n}`);
      // The copy for editors is the agent's.
      expect(offer.params.toolCall.title).toBe(title);
      offers.push(offer);
    }
    const session = ["--session", talking.sessionId];
    const table = await master.cli(["approvals", ...session]);
    const json = await master.cli(["approvals", "--json", ...session]);
    for (const { stdout } of [table, json]) {
      expect(stdout).not.toMatch(unseen);
      expect(stdout.match(/; true/g)).toHaveLength(titles.length);
    }
    const shown = JSON.parse(json.stdout).approvals.map((row: Loose) => row.params.toolCall.rawInput.command);
    expect(shown).toEqual(titles.map((title) => `${title}; true`));
    // One line for the names of the columns, one for each question.
    expect(table.stdout.trimEnd().split("\n")).toHaveLength(1 + titles.length);
    for (const offer of offers) await answerOffer(talking.client, offer, selected("no"));
    await Promise.all(asked);
  });

  it("FF-66: another request under the same tool call is another question, and the record holds the digest of each", async () => {
    const talking = await talk();
    const digests = new Set<string>();
    for (const command of ["sh script.sh", "sh other.sh"]) {
      const asked = talking.ask("t1", { toolCall: { rawInput: { command } } });
      const offer = await nextOffer(talking.client);
      expect(offer.params.toolCall.rawInput.command).toBe(command);
      await answerOffer(talking.client, offer, selected("yes"));
      expect((await asked).result).toEqual(selected("yes"));
      digests.add(decisions(master, offer.approvalId)[0].paramsDigest);
    }
    expect(digests.size).toBe(2);
  });
});

describe("a daemon that was killed", () => {
  it("FF-67: with a question open leaves no agent, lists nothing after its restart, and an answer to the old question is not pending", async () => {
    await using agent = askingAgent();
    await using own = await startMaster({ agents: { fake: agent }, config: { helper: { isolation: "shared" } } });
    const talking = await converse(own, { agent: "fake" });
    void talking.ask("t1").catch(() => {}); // nobody answers it any more
    const { approvalId } = await nextOffer(talking.client);
    const { pid } = talking.process;
    await own.kill9();
    await processGone(pid);
    await own.serve();
    const listed = await own.cli(["approvals", "--json"]);
    expect(JSON.parse(listed.stdout).approvals).toEqual([]);
    const late = await own.cli(["approve", approvalId]);
    expect(late.code).toBe(4);
    const client = await own.client();
    await client.initialize({ agent: null });
    const answer = { approvalId, outcome: selected("yes").outcome };
    expect(await client.call("_acp-master/approval/answer", answer)).toEqual({ status: "not_pending" });
    expect(isRunning(pid)).toBe(false);
    // Of that question there is one record, and it is no allow.
    expect(decisions(own, approvalId)).toMatchObject([
      { toolCallId: "t1", outcome: { result: "cancelled" }, by: { kind: "agent_exit" } },
    ]);
    expect((await own.cli(["audit", "verify"])).code).toBe(0);
  });
});

const forms = { capabilities: { elicitation: { form: {} } } };
const form = (talking: Conversation) =>
  talking.process.request("elicitation/create", {
    sessionId: talking.sessionId,
    mode: "form",
    message: "Which one?",
    requestedSchema: { type: "object", properties: {} },
  });

describe("forms", () => {
  it("FF-69: decline and cancel travel back as such, and a client that goes is an error, never an accept", async () => {
    const talking = await talk("fake", forms);
    for (const action of ["decline", "cancel"]) {
      const asked = form(talking);
      const line = await talking.client.next("elicitation/create");
      await talking.client.send({ jsonrpc: "2.0", id: line.message.id, result: { action } });
      expect((await asked).result).toEqual({ action });
    }
    const left = form(talking);
    await talking.client.next("elicitation/create");
    await talking.client.close();
    expect((await left).error?.data.reason).toBe("client_gone");
  });

  it("FF-70: without a client that announced forms the agent gets its refusal at once and the client sees nothing", async () => {
    const talking = await talk();
    const began = performance.now();
    const { error } = await form(talking);
    expect([error?.code, error?.data.reason]).toEqual([-32601, "no_client"]);
    expect(performance.now() - began).toBeLessThan(1_000);
    await talking.client.expectSilence(({ method }) => method === "elicitation/create", { from: 0 });
  });
});
