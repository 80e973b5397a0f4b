// How a permission ends when nobody decides it: what the agent gets on its side of the wire, what people and the record are told.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper, type ScriptedHelper } from "../harness/scripted-helper.ts";
import {
  answerOffer,
  askingAgent,
  CANCELLED,
  converse,
  decisions,
  nextOffer,
  PERMISSION,
  resolvedEvent,
  selected,
  withdrawal,
  type Conversation,
} from "./conversation.ts";

let agent: ScriptedAgent;
let single: ScriptedAgent;
let helper: ScriptedHelper;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  single = askingAgent({ definition: { share: "session" } });
  helper = scriptedHelper();
  master = await startMaster({
    agents: { fake: agent, single },
    config: { helper: { use: helper.use, isolation: "shared" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await helper[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  await single[Symbol.asyncDispose]();
});

const talk = (options: { turn?: boolean } = {}) => converse(master, { agent: "fake", ...options });

/** Two open questions, both shown. */
async function twoOpen(talking: Conversation) {
  const answers = [talking.ask("t1", { id: "q1" }), talking.ask("t2", { id: "q2" })];
  const offers = [await nextOffer(talking.client, "t1"), await nextOffer(talking.client, "t2")];
  return { answers, offers };
}

async function expectEnd(talking: Conversation, approvalId: string, result: string, by: string): Promise<void> {
  const event = await resolvedEvent(talking.client, approvalId);
  expect(event.outcome).toEqual({ result });
  expect(event.by.kind).toBe(by);
  expect(decisions(master, approvalId)).toMatchObject([{ outcome: { result }, by: { kind: by } }]);
}

describe("a cancel of the turn", () => {
  it("settles every open ticket of the session before the agent is told, and withdraws the questions", async () => {
    const talking = await talk();
    const { answers, offers } = await twoOpen(talking);
    await talking.client.notify("session/cancel", { sessionId: talking.sessionId });
    for (const answer of answers) expect((await answer).result).toEqual(CANCELLED);
    await talking.process.received("session/cancel");
    const methods = talking.process.lines.all.map(({ message }) => message.method ?? message.id);
    expect(methods.lastIndexOf("session/cancel")).toBeGreaterThan(methods.lastIndexOf("q2"));
    for (const offer of offers) {
      await withdrawal(talking.client, offer);
      await expectEnd(talking, offer.approvalId, "cancelled", "cancel");
    }
    // What the agent still asks in this turn is cancelled unseen; a late answer is nobody's.
    expect((await talking.ask("t3")).result).toEqual(CANCELLED);
    await answerOffer(talking.client, offers[0]!, selected("yes"));
    await talking.client.expectSilence(({ method }) => method === PERMISSION);
    const late = { approvalId: offers[1]!.approvalId, outcome: selected("yes").outcome };
    expect(await talking.client.call("_acp-master/approval/answer", late)).toEqual({ status: "not_pending" });
    expect((await talking.endTurn("cancelled")).result).toEqual({ stopReason: "cancelled" });
    expect(talking.answersTo("q1")).toHaveLength(1);
    // The next turn asks again as ever.
    await talking.startTurn();
    const asked = talking.ask("t4");
    await answerOffer(talking.client, await nextOffer(talking.client, "t4"), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });

  it("while the Helper decides wins over whatever the Helper says later", async () => {
    const talking = await talk();
    helper.setAuto(PERMISSION, false);
    const asked = talking.ask("t1", { id: "held" });
    const deciding = await helper.process();
    const question = await deciding.received(
      ({ method, params }) => method === PERMISSION && params.sessionId === talking.sessionId,
    );
    helper.setAuto(PERMISSION, { outcome: { outcome: "ask" } });
    // Nobody but the Helper can know of it yet.
    expect(await talking.client.call("_acp-master/approvals", {})).toEqual({ approvals: [] });
    await talking.client.notify("session/cancel", { sessionId: talking.sessionId });
    expect((await asked).result).toEqual(CANCELLED);
    await deciding.received((message) => message.method === "$/cancelRequest" && message.params.id === question.id);
    deciding.answer(question, selected("yes"));
    await deciding.received(
      ({ method, params }) => method === "helper/permission_resolved" && params.sessionId === talking.sessionId,
    );
    await talking.settle();
    expect(talking.answersTo("held")).toHaveLength(1);
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    await talking.endTurn("cancelled");
  });
});

describe("the agent itself", () => {
  it("takes its request back with $/cancel_request and gets cancelled; an unknown id changes nothing", async () => {
    const talking = await talk();
    const { answers, offers } = await twoOpen(talking);
    await talking.process.notify("$/cancel_request", { requestId: "q9" });
    await talking.process.notify("$/cancel_request", { requestId: "q1" });
    expect((await answers[0]!).result).toEqual(CANCELLED);
    await withdrawal(talking.client, offers[0]!);
    await expectEnd(talking, offers[0]!.approvalId, "cancelled", "cancel");
    await answerOffer(talking.client, offers[1]!, selected("yes"));
    expect((await answers[1]!).result).toEqual(selected("yes"));
  });

  it("that reports the end of the tool call has moved on: superseded, refused, the update goes out behind it", async () => {
    const talking = await talk();
    for (const [toolCallId, status] of [
      ["t1", "completed"],
      ["t2", "failed"],
    ] as const) {
      const asked = talking.ask(toolCallId);
      const offer = await nextOffer(talking.client, toolCallId);
      await talking.process.update(talking.sessionId, { sessionUpdate: "tool_call_update", toolCallId, status });
      expect((await asked).result).toEqual(selected("no"));
      await withdrawal(talking.client, offer);
      await expectEnd(talking, offer.approvalId, "superseded", "superseded");
      await talking.client.waitFor(({ params }) => params?.update?.status === status);
    }
  });

  it("that names no tool call is never superseded by an update without an id", async () => {
    const talking = await talk();
    const asked = talking.ask("", {});
    const offer = await nextOffer(talking.client);
    await talking.process.update(talking.sessionId, {
      sessionUpdate: "tool_call_update",
      toolCallId: "",
      status: "completed",
    });
    await talking.settle();
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
  });

  it("that answers the prompt leaves its open questions superseded, and those of no turn alone", async () => {
    const talking = await talk({ turn: false });
    const outside = talking.ask("t0");
    const kept = await nextOffer(talking.client, "t0");
    await talking.startTurn();
    const { answers, offers } = await twoOpen(talking);
    expect((await talking.endTurn()).result).toEqual({ stopReason: "end_turn" });
    for (const answer of answers) expect((await answer).result).toEqual(CANCELLED);
    for (const offer of offers) await expectEnd(talking, offer.approvalId, "superseded", "superseded");
    const lines = talking.client.lines.all.map(({ message }) => message);
    const end = lines.findIndex((message) => message.result?.stopReason === "end_turn");
    expect(lines.findIndex((message) => message.method === "$/cancel_request")).toBeLessThan(end);
    await answerOffer(talking.client, kept, selected("yes"));
    expect((await outside).result).toEqual(selected("yes"));
  });

  it("that exits gets nothing; only the questions of that process end", async () => {
    const one = await converse(master, { agent: "single" });
    const two = await converse(master, { agent: "single" });
    const staying = one.ask("t1");
    const keeps = await nextOffer(one.client);
    void two.ask("t1").catch(() => {}); // never answered: the asker is gone
    const goes = await nextOffer(two.client);
    await two.process.signal("SIGKILL");
    await expectEnd(two, goes.approvalId, "cancelled", "agent_exit");
    await withdrawal(two.client, goes);
    expect((await two.turn.done).error?.data.reason).toBe("agent_exited");
    await answerOffer(one.client, keeps, selected("yes"));
    expect((await staying).result).toEqual(selected("yes"));
  });
});

describe("the end of a session", () => {
  it("by session/close settles its questions as cancelled before the agent is told", async () => {
    const talking = await talk();
    const { answers, offers } = await twoOpen(talking);
    const closed = talking.client.call("session/close", { sessionId: talking.sessionId });
    for (const answer of answers) expect((await answer).result).toEqual(CANCELLED);
    await talking.process.received("session/close");
    await closed;
    const order = talking.process.lines.all.map(({ message }) => message.method ?? message.id);
    expect(order.indexOf("session/close")).toBeGreaterThan(order.lastIndexOf("q2"));
    for (const offer of offers) await expectEnd(talking, offer.approvalId, "cancelled", "cancel");
  });

  it("by acp-master close and by session/delete settles them, too", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    await nextOffer(talking.client);
    expect((await master.cli(["close", talking.sessionId])).code).toBe(0);
    expect((await asked).result).toEqual(CANCELLED);
    const second = await talk();
    const again = second.ask("t1");
    await nextOffer(second.client);
    await second.client.request("session/delete", { sessionId: second.sessionId });
    expect((await again).result).toEqual(CANCELLED);
  });

  it("by giving up an agent that ignores a cancel refuses what it still asks", async () => {
    await using own = askingAgent();
    await using other = await startMaster({
      agents: { fake: own },
      config: { helper: { use: "ask", isolation: "shared" }, sessions: { cancelSeconds: 0.2 } },
    });
    const talking = await converse(other, { agent: "fake" });
    await talking.client.notify("session/cancel", { sessionId: talking.sessionId });
    expect((await talking.turn.done).result).toEqual({ stopReason: "cancelled" });
    expect((await talking.ask("t1")).result).toEqual(selected("no"));
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    expect(decisions(other).at(-1)).toMatchObject({ outcome: { result: "refused" }, by: { kind: "master" } });
  });
});

describe("a stop of the daemon", () => {
  it("settles every question by master before the agents end, and the record stays whole", async () => {
    await using own = askingAgent();
    await using other = await startMaster({
      agents: { fake: own },
      config: { helper: { use: "ask", isolation: "shared" }, daemon: { drainSeconds: 0 } },
    });
    const talking = await converse(other, { agent: "fake", turn: false });
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    expect((await other.cli(["stop"])).code).toBe(0);
    expect((await asked).result).toEqual(CANCELLED);
    const event = await resolvedEvent(talking.client, offer.approvalId);
    expect(event).toMatchObject({ outcome: { result: "cancelled" }, by: { kind: "master" } });
    expect(decisions(other, offer.approvalId)).toMatchObject([{ by: { kind: "master" } }]);
    expect((await other.cli(["audit", "verify"])).code).toBe(0);
  });
});
