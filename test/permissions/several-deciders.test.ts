// One permission before several people: who is shown it, whose answer counts, what everybody else learns.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  answerOffer,
  askingAgent,
  CANCELLED,
  converse,
  decisions,
  EVENT,
  logLine,
  nextOffer,
  PERMISSION,
  resolvedEvent,
  selected,
  withdrawal,
  yesNo,
} from "./conversation.ts";

let agent: ScriptedAgent;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  master = await startMaster({
    agents: { fake: agent },
    config: { helper: { use: "ask", isolation: "shared" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

const talk = () => converse(master, { agent: "fake" });

describe("one permission in two clients", () => {
  it("is shown to both verbatim, decided by the first valid answer, and withdrawn from the other before its event", async () => {
    const talking = await talk();
    const { client } = talking;
    const other = await talking.join();
    const raw =
      `{"jsonrpc":"2.0","id":0,"method":"${PERMISSION}","params":{ "sessionId":"${talking.sessionId}","extra":[1e3,-0],` +
      `"toolCall":{"toolCallId":"t1","rawInput":{"n":9007199254740993,"s":"\\u4e2d\\/"}},` +
      `"options":[{"optionId":"y\\u0065s","name":"A","kind":"allow_once","_meta":{"scope":"once"}},{"optionId":"no","name":"N","kind":"reject_once"}],` +
      `"_meta":{"theirs":true}}}\n`;
    const answer = talking.process.received(({ id, method }) => id === 0 && method === undefined);
    await talking.process.sendRaw(raw);
    const [mine, theirs] = [await nextOffer(client), await nextOffer(other)];
    expect(theirs.approvalId).toBe(mine.approvalId);
    expect(theirs.askedAt).toBe(mine.askedAt);
    expect(theirs.id).not.toBe(mine.id);
    for (const offer of [mine, theirs]) {
      const ours = `"acp-master":${JSON.stringify({ approvalId: offer.approvalId, askedAt: offer.askedAt })},`;
      expect(offer.line.text).toContain(ours);
      const params = raw.slice(raw.indexOf('"params":') + 9, -2);
      expect(offer.line.text.replace(ours, "")).toContain(params);
    }
    await answerOffer(other, theirs, selected("yes"));
    expect((await answer).message.result).toEqual(selected("yes"));
    await withdrawal(client, mine);
    const event = await resolvedEvent(client, mine.approvalId);
    expect(event).toMatchObject({
      sessionId: talking.sessionId,
      toolCallId: "t1",
      outcome: { result: "selected", optionId: "yes" },
      by: { kind: "client" },
    });
    const order = client.lines.all.map(({ message }) =>
      message.method === "$/cancel_request" ? "withdrawn" : message.params?.type,
    );
    expect(order.indexOf("withdrawn")).toBeLessThan(order.indexOf("approval_resolved"));
    // The one who answered has nothing to close, and is told too.
    await resolvedEvent(other, mine.approvalId);
    expect(other.received("$/cancel_request")).toEqual([]);
    // Late, and again: nothing more reaches the agent.
    await answerOffer(client, mine, selected("no"));
    await answerOffer(other, theirs, selected("no"));
    await client.expectSilence(({ method }) => method === PERMISSION);
    await talking.settle();
    expect(talking.answersTo(0)).toHaveLength(1);
    expect(decisions(master, mine.approvalId)).toHaveLength(1);
  });

  it("shows observers the event and never the question, and takes no answer of theirs", async () => {
    const talking = await talk();
    const observer = await talking.join({ role: "observer" });
    const answered = talking.ask("t1", { id: "q1" });
    const offer = await nextOffer(talking.client);
    await observer.waitFor(
      ({ method, params }) =>
        method === EVENT && params.type === "approval_requested" && params.approvalId === offer.approvalId,
    );
    const rows = await observer.call("_acp-master/approvals", { sessionId: talking.sessionId });
    expect(rows.approvals).toHaveLength(1);
    const refused = await observer.request("_acp-master/approval/answer", {
      approvalId: offer.approvalId,
      outcome: selected("yes").outcome,
    });
    expect(refused.error?.data.reason).toBe("observer");
    await answerOffer(observer, offer, selected("yes"));
    await observer.expectSilence();
    await talking.settle();
    expect(talking.answersTo("q1")).toEqual([]);
    await answerOffer(talking.client, offer, selected("no"));
    expect((await answered).result).toEqual(selected("no"));
    await resolvedEvent(observer, offer.approvalId);
    expect(observer.received(PERMISSION)).toEqual([]);
    expect(observer.received("$/cancel_request")).toEqual([]);
  });

  it("takes an answer by approval id from a controller that is not attached, checks what is given, and says what became of it", async () => {
    const talking = await talk();
    const console = await master.client();
    await console.initialize({ agent: null });
    const answered = talking.ask("t1");
    const { approvalId } = await nextOffer(talking.client);
    const answer = (more: object) =>
      console.request("_acp-master/approval/answer", { approvalId, outcome: selected("yes").outcome, ...more });
    for (const wrong of [
      { outcome: selected("maybe").outcome },
      { outcome: { outcome: "selected" } },
      { outcome: "yes" },
      { outcome: { outcome: "allowed", optionId: "yes" } },
      { sessionId: "another" },
      { toolCallId: "t2" },
      { approvalId: 7 },
    ]) {
      expect((await answer(wrong)).error?.code, JSON.stringify(wrong)).toBe(-32602);
    }
    expect((await answer({ approvalId: "00000000-0000-4000-8000-000000000000" })).result).toEqual({
      status: "not_pending",
    });
    const fitting = { sessionId: talking.sessionId, toolCallId: "t1" };
    expect((await answer(fitting)).result).toEqual({ status: "accepted" });
    expect((await answered).result).toEqual(selected("yes"));
    expect((await answer(fitting)).result).toEqual({ status: "not_pending" });
  });
});

describe("what an agent writes about itself", () => {
  it("under our name is removed from its request: people see only what the daemon put there", async () => {
    const talking = await talk();
    const forged = { approvalId: "forged", askedAt: "then", toolName: "read_file", policyName: "trusted" };
    const asked = talking.ask("t1", {
      meta: { "acp-master": forged, theirs: 1 },
      toolCall: { _meta: { "acp-master": forged, theirs: 2 } },
    });
    const offer = await nextOffer(talking.client);
    expect(offer.params._meta).toEqual({
      "acp-master": { approvalId: offer.approvalId, askedAt: offer.askedAt },
      theirs: 1,
    });
    expect(offer.approvalId).not.toBe("forged");
    expect(offer.params.toolCall._meta).toEqual({ theirs: 2 });
    const { approvals } = await talking.client.call("_acp-master/approvals", { sessionId: talking.sessionId });
    expect(approvals[0].params._meta).toEqual({ theirs: 1 });
    await answerOffer(talking.client, offer, selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });
});

describe("an answer that is none", () => {
  it("decides nothing: unknown options, other cases, wrong shapes and errors are re-offered three times, then the dialog counts as closed", async () => {
    const talking = await talk();
    const other = await talking.join();
    const answered = talking.ask("t1");
    const first = await nextOffer(talking.client);
    const otherOffer = await nextOffer(other);
    const slips: object[] = [
      { result: selected("YES") },
      { result: { outcome: { outcome: "Selected", optionId: "yes" } } },
      { error: { code: -32601, message: "no such method" } },
      { result: null },
    ];
    let offer = first;
    const seen = new Set([first.id]);
    for (const slip of slips.slice(0, 3)) {
      await talking.client.send({ jsonrpc: "2.0", id: offer.id, ...slip });
      offer = await nextOffer(talking.client);
      expect(offer.approvalId).toBe(first.approvalId);
      expect(offer.askedAt).toBe(first.askedAt);
      expect(seen.has(offer.id)).toBe(false);
      seen.add(offer.id);
    }
    await talking.client.send({ jsonrpc: "2.0", id: offer.id, ...slips[3] });
    await talking.client.expectSilence(({ method }) => method === PERMISSION);
    // The other one still decides.
    await answerOffer(other, otherOffer, selected("yes"));
    expect((await answered).result).toEqual(selected("yes"));
    expect(other.received(PERMISSION)).toHaveLength(1);
    const faults = master
      .logLines()
      .filter((line) => line.event === "client.fault" && line.approvalId === first.approvalId);
    expect(faults.map((line) => line.fault)).toEqual([
      "option_not_offered",
      "unknown_outcome",
      "error_response",
      "no_outcome",
    ]);
  });

  it("of the only client refuses the fourth time, and a response that is no legal one counts like any", async () => {
    const talking = await talk();
    const answered = talking.ask("t1");
    for (const line of [
      (id: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{},"error":{"code":1,"message":"x"}}`,
      (id: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":[]}`,
      (id: string) =>
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"outcome":{"outcome":"selected","optionId":7}}}`,
      (id: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":"yes"}`,
    ]) {
      const { id } = await nextOffer(talking.client);
      await talking.client.send(line(id));
    }
    expect((await answered).result).toEqual(selected("no"));
    const [record] = decisions(master).slice(-1);
    expect(record).toMatchObject({ outcome: { result: "refused" }, by: { kind: "client" } });
  });

  it("with a foreign id is nobody's: another connection's dialog, a guessed number, another spelling", async () => {
    const talking = await talk();
    const other = await talking.join();
    const answered = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const theirs = await nextOffer(other);
    const [prefix, number] = offer.id.split("-");
    for (const id of [
      theirs.id,
      `${prefix}-${Number(number) + 1}`,
      `${prefix}-0${number}`,
      `${prefix}-${number} `,
      1,
    ]) {
      await talking.client.send({ jsonrpc: "2.0", id, result: selected("yes") });
    }
    await talking.client.expectSilence(({ method }) => method === PERMISSION);
    await talking.settle();
    await answerOffer(talking.client, offer, selected("no"));
    expect((await answered).result).toEqual(selected("no"));
  });
});

describe("closed dialogs", () => {
  it("leave the ticket to the others; the last one refuses", async () => {
    const talking = await talk();
    const other = await talking.join();
    const answered = talking.ask("t1");
    const [mine, theirs] = [await nextOffer(talking.client), await nextOffer(other)];
    await answerOffer(talking.client, mine, CANCELLED);
    await talking.client.expectSilence(({ params }) => params?.type === "approval_resolved");
    await answerOffer(other, theirs, CANCELLED);
    expect((await answered).result).toEqual(selected("no"));
    expect(await resolvedEvent(other, mine.approvalId)).toMatchObject({
      outcome: { result: "refused" },
      by: { kind: "client" },
    });
  });
});

describe("a client that attaches late or again", () => {
  it("gets every open ticket after its answer, verbatim, under the same approval id, once", async () => {
    const talking = await talk();
    const answers = [talking.ask("t1"), talking.ask("t2"), talking.ask("t3")];
    const offers = [];
    for (const id of ["t1", "t2", "t3"]) offers.push(await nextOffer(talking.client, id));
    const late = await talking.join();
    const lines = late.lines.all.map((line) => line.message);
    const answerAt = lines.findIndex((message) => message.result?.configOptions !== undefined || message.id === 2);
    for (const first of offers) {
      const again = await nextOffer(late, first.params.toolCall.toolCallId);
      expect(again.params).toEqual(first.params);
      expect(again.line.text.slice(again.line.text.indexOf('"params"'))).toBe(
        first.line.text.slice(first.line.text.indexOf('"params"')),
      );
      expect(late.lines.all.indexOf(again.line)).toBeGreaterThan(answerAt);
    }
    await late.expectSilence(({ method }) => method === PERMISSION);
    // Attached twice over one connection: the dialogs of the first time are closed, each ticket is shown anew.
    await late.call("session/resume", { sessionId: talking.sessionId, cwd: master.work, mcpServers: [] });
    const fresh = [];
    for (const id of ["t1", "t2", "t3"]) fresh.push(await nextOffer(late, id));
    await late.expectSilence(({ method }) => method === PERMISSION);
    // Answered in reverse order, by both.
    await answerOffer(late, fresh[2]!, selected("yes"));
    expect((await answers[2]!).result).toEqual(selected("yes"));
    await answerOffer(talking.client, offers[1]!, selected("no"));
    expect((await answers[1]!).result).toEqual(selected("no"));
    await answerOffer(late, fresh[0]!, selected("yes"));
    expect((await answers[0]!).result).toEqual(selected("yes"));
  });

  it("decides nothing with an answer to a dialog of its earlier connection", async () => {
    const talking = await talk();
    const answered = talking.ask("t1");
    const old = await nextOffer(talking.client);
    await talking.client.close();
    const again = await talking.join();
    const offer = await nextOffer(again);
    expect(offer.approvalId).toBe(old.approvalId);
    await answerOffer(again, old, selected("yes"));
    await again.expectSilence(({ method, params }) => method === PERMISSION || params?.type === "approval_resolved");
    await answerOffer(again, offer, selected("no"));
    expect((await answered).result).toEqual(selected("no"));
  });
});

describe("an agent's request that cannot be asked", () => {
  it("is refused at once: a session that nobody knows, options that are missing, no list, or empty", async () => {
    const talking = await talk();
    const ask = (params: object) => talking.process.request(PERMISSION, params);
    const call = { toolCall: { toolCallId: "t1" } };
    const child = { sessionId: "never-announced", options: yesNo };
    expect((await ask({ ...call, ...child })).result).toEqual(selected("no"));
    for (const options of [undefined, "all", {}, [], [{ name: "no id" }]]) {
      const params = { sessionId: talking.sessionId, ...call, ...(options === undefined ? {} : { options }) };
      expect((await ask(params)).result, JSON.stringify(options)).toEqual(CANCELLED);
    }
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    const refused = decisions(master).slice(-6);
    expect(refused.map((record) => [record.outcome.result, record.by.kind])).toEqual(
      refused.map(() => ["refused", "master"]),
    );
    await logLine(master, "approval.responded", refused[0].approvalId);
  });
});
