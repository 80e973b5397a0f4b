// While a question is open the agent's updates of that tool call wait, and statuses never run backwards.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  answerOffer,
  askingAgent,
  converse,
  jsonLine,
  nextOffer,
  PERMISSION,
  selected,
  type Conversation,
} from "./conversation.ts";

let agent: ScriptedAgent;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  master = await startMaster({ agents: { fake: agent }, config: { helper: { use: "ask", isolation: "shared" } } });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

const talk = () => converse(master, { agent: "fake" });
const update = (talking: Conversation, toolCallId: string, more: object) =>
  talking.process.update(talking.sessionId, { sessionUpdate: "tool_call_update", toolCallId, ...more });
const shown = (talking: Conversation, toolCallId: string): Loose[] =>
  talking.client.updates(talking.sessionId).filter((one) => one.toolCallId === toolCallId);

describe("while a permission is open", () => {
  it("frames of its tool call are held in order and released when it settles, all else flows on", async () => {
    const talking = await talk();
    await update(talking, "t1", { sessionUpdate: "tool_call", title: "Run", status: "pending" });
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    for (let n = 1; n <= 64; n++) await update(talking, "t1", { status: "in_progress", n });
    await update(talking, "t2", { status: "in_progress" });
    await talking.settle();
    expect(shown(talking, "t1")).toHaveLength(1);
    expect(shown(talking, "t2")).toHaveLength(1);
    await answerOffer(talking.client, offer, selected("yes"));
    await asked;
    await update(talking, "t1", { status: "completed", n: 65 });
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.n)).toEqual([
      undefined,
      ...Array.from({ length: 65 }, (_, n) => n + 1),
    ]);
    expect(shown(talking, "t1").at(-1).status).toBe("completed");
  });

  it("what is held goes out before the turn's answer", async () => {
    const talking = await talk();
    void talking.ask("t1");
    await nextOffer(talking.client);
    await update(talking, "t1", { status: "in_progress", n: 1 });
    await talking.endTurn();
    const lines = talking.client.lines.all.map(({ message }) => message);
    const held = lines.findIndex((message) => message.params?.update?.n === 1);
    const end = lines.findIndex((message) => message.result?.stopReason === "end_turn");
    expect(held).toBeGreaterThan(-1);
    expect(held).toBeLessThan(end);
  });

  it("the 65th frame lets all go in order, later ones pass, and the question stays open", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    for (let n = 1; n <= 64; n++) await update(talking, "t1", { n });
    await talking.settle();
    expect(shown(talking, "t1")).toEqual([]);
    for (let n = 65; n <= 67; n++) await update(talking, "t1", { n });
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.n)).toEqual(Array.from({ length: 67 }, (_, n) => n + 1));
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    await talking.settle();
    expect(shown(talking, "t1")).toHaveLength(67);
  });

  it("so does more than one MiB, and the question stays open", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const filling = "x".repeat(400 * 1024);
    await update(talking, "t1", { n: 1, filling });
    await update(talking, "t1", { n: 2, filling });
    await talking.settle();
    expect(shown(talking, "t1")).toEqual([]);
    await update(talking, "t1", { n: 3, filling });
    await talking.settle();
    expect(shown(talking, "t1").map((one) => [one.n, one.filling.length])).toEqual(
      [1, 2, 3].map((n) => [n, filling.length]),
    );
    await answerOffer(talking.client, offer, selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });

  it("two tickets may name one tool call: its frames wait for the last of them", async () => {
    const talking = await talk();
    const answers = [talking.ask("t1"), talking.ask("t1")];
    const offers = [await nextOffer(talking.client), await nextOffer(talking.client)];
    expect(offers[0]!.approvalId).not.toBe(offers[1]!.approvalId);
    await update(talking, "t1", { status: "in_progress" });
    await answerOffer(talking.client, offers[0]!, selected("yes"));
    await answers[0];
    await talking.settle();
    expect(shown(talking, "t1")).toEqual([]);
    await answerOffer(talking.client, offers[1]!, selected("yes"));
    await answers[1];
    await talking.settle();
    expect(shown(talking, "t1")).toHaveLength(1);
  });

  it("a terminal status ends it: what was held, then the end, then nothing of the question", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    await nextOffer(talking.client);
    await update(talking, "t1", { status: "in_progress", n: 1 });
    await update(talking, "t1", { status: "completed", n: 2 });
    expect((await asked).result).toEqual(selected("no"));
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.n)).toEqual([1, 2]);
  });

  it("nothing slips between an update and the question that follows it in one write", async () => {
    const talking = await talk();
    const of = (n: number) =>
      jsonLine({
        method: "session/update",
        params: { sessionId: talking.sessionId, update: { sessionUpdate: "tool_call_update", toolCallId: "t1", n } },
      });
    const options = [{ optionId: "yes", name: "A", kind: "allow_once" }];
    const params = { sessionId: talking.sessionId, toolCall: { toolCallId: "t1" }, options };
    await talking.process.sendRaw(of(1) + jsonLine({ id: "q1", method: PERMISSION, params }) + of(2));
    const offer = await nextOffer(talking.client);
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.n)).toEqual([1]);
    await answerOffer(talking.client, offer, selected("yes"));
    await talking.process.received((message) => message.id === "q1");
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.n)).toEqual([1, 2]);
  });
});

describe("statuses", () => {
  it("never run backwards: the last one is put in, byte for byte nothing else changes", async () => {
    const talking = await talk();
    const raw = (status: string, rest: string) =>
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${talking.sessionId}","update":{"sessionUpdate":"tool_call_update","toolCallId":"t1", "status" : ${status},${rest}}}}`;
    await talking.process.sendRaw(
      `${raw('"in_progress"', '"a":1')}\n${raw('"pending"', '"b":1e3')}\n${raw('""', '"c":-0')}\n`,
    );
    await talking.settle();
    const lines = talking.client.lines.all.filter(({ message }) => message.params?.update?.toolCallId === "t1");
    expect(lines.map((one) => one.text)).toEqual([
      raw('"in_progress"', '"a":1'),
      raw('"in_progress"', '"b":1e3'),
      raw('"in_progress"', '"c":-0'),
    ]);
  });

  it("completed never becomes failed, failed never completed; a new tool_call of the id begins anew", async () => {
    const talking = await talk();
    const say = (status: string | undefined, sessionUpdate = "tool_call_update") =>
      update(talking, "t1", { sessionUpdate, ...(status === undefined ? {} : { status }) });
    await say("pending", "tool_call");
    for (const status of ["completed", "failed", "in_progress", "pending", undefined]) await say(status);
    await say("pending", "tool_call");
    for (const status of ["failed", "completed"]) await say(status);
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.status)).toEqual([
      "pending",
      "completed",
      "completed",
      "completed",
      "completed",
      undefined,
      "pending",
      "failed",
      "failed",
    ]);
  });

  it("are of one turn and one session", async () => {
    const [one, two] = [await talk(), await talk()];
    await update(one, "t1", { status: "completed" });
    await update(two, "t1", { status: "pending" });
    await two.settle();
    expect(shown(two, "t1").map((each) => each.status)).toEqual(["pending"]);
    await one.endTurn();
    await one.startTurn();
    await update(one, "t1", { status: "in_progress" });
    await one.settle();
    expect(shown(one, "t1").map((each) => each.status)).toEqual(["completed", "in_progress"]);
  });

  it("that were held are ordered when they go out", async () => {
    const talking = await talk();
    await update(talking, "t1", { status: "in_progress" });
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    await update(talking, "t1", { status: "pending" });
    await answerOffer(talking.client, offer, selected("yes"));
    await asked;
    await talking.settle();
    expect(shown(talking, "t1").map((one) => one.status)).toEqual(["in_progress", "in_progress"]);
  });
});

describe("a session below another one, whose tool calls have the same ids", () => {
  it("has its own guard and its own order of statuses", async () => {
    const talking = await talk();
    const watcher = await talking.join({ capabilities: { subagents: {} } });
    const { process: agentProcess, sessionId } = talking;
    const child = `${sessionId}/child`;
    await agentProcess.update(sessionId, { sessionUpdate: "subagent_update", sessionId: child });
    const say = (id: string, more: object) =>
      agentProcess.update(id, { sessionUpdate: "tool_call_update", toolCallId: "t1", ...more });
    const statuses = (id: string): Loose[] =>
      watcher
        .updates(id)
        .filter((one) => one.toolCallId === "t1")
        .map((one) => one.status);
    // A call that has ended in the one does not end in the other.
    await say(sessionId, { sessionUpdate: "tool_call", title: "T", status: "completed" });
    await say(child, { sessionUpdate: "tool_call", title: "T", status: "pending" });
    await say(child, { status: "in_progress" });
    // A question about the child's holds back the child's frames alone, and only its end settles it.
    const asked = agentProcess.askPermission(child, { toolCall: { toolCallId: "t1", title: "T" } });
    const offer = await nextOffer(watcher);
    expect(offer.params.sessionId).toBe(child);
    await say(child, { status: "in_progress", n: "held" });
    await say(sessionId, { status: "completed", n: "passes" });
    await talking.settle();
    await watcher.waitFor(({ params }) => params?.update?.n === "passes");
    expect(statuses(child)).toEqual(["pending", "in_progress"]);
    expect(statuses(sessionId)).toEqual(["completed", "completed"]);
    const own = talking.ask("t1");
    const ofOwn = await talking.client.next(
      ({ method, params }) => method === PERMISSION && params.sessionId === sessionId,
    );
    await answerOffer(watcher, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    await watcher.waitFor(({ params }) => params?.update?.n === "held");
    await say(child, { status: "completed" });
    await watcher.waitFor(({ params }) => params?.sessionId === child && params.update?.status === "completed");
    await answerOffer(talking.client, { id: String(ofOwn.message.id) }, selected("no"));
    expect((await own).result).toEqual(selected("no"));
    await talking.endTurn();
  });
});
