// Permissions and the console's server: every page is shown every one, the first valid answer decides, and nothing leaves a
// page before it is really over.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import { type Master, startMaster } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";
import { RunningConsole } from "./running-console.ts";

let agent: ScriptedAgent;
let master: Master;
let running: RunningConsole;

beforeAll(async () => {
  agent = fakeAgent({ auto: { "session/prompt": false } });
  master = await startMaster({
    agents: { fake: agent },
    // An ask that no controller is attached to ends at once.
    config: { defaultAgent: "fake", helper: { use: "ask" }, approvals: { noClientSeconds: 0.2 } },
  });
  running = await RunningConsole.start(master);
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

/** An editor with a session of its own, in a turn. */
async function editor(): Promise<{ client: RawClient; sessionId: string; process: ScriptedProcess }> {
  const client = await master.client();
  await client.initialize();
  const { sessionId } = await client.newSession();
  return { client, sessionId, process: await agent.process() };
}

const selected = (optionId: string): Loose => ({ outcome: { outcome: "selected", optionId } });

describe("an approval", () => {
  it("goes to two pages and an editor: one of them decides, the others are told, once each", async () => {
    const { client, sessionId, process } = await editor();
    const pages = [await running.page(), await running.page()];
    await pages[0]!.request("attach", { sessionId });
    for (let round = 0; round < 5; round++) {
      const toolCallId = `race-${round}`;
      const toolCall = { toolCallId, title: "Run it", kind: "execute", rawInput: { command: "true" } };
      const asked = process.askPermission(sessionId, { toolCall });
      const shown = await Promise.all(
        pages.map((page) => page.next("approval", ({ approval }) => approval.toolCallId === toolCallId)),
      );
      const { approvalId } = shown[0]!.approval;
      expect(shown[1]!.approval).toEqual(shown[0]!.approval);
      expect(shown[0]!.approval).toMatchObject({
        sessionId,
        agent: "fake",
        params: { toolCall },
        options: [
          { optionId: "yes", name: "Allow", kind: "allow_once" },
          { optionId: "no", name: "Reject", kind: "reject_once" },
        ],
      });
      const offer = await client.next("session/request_permission");
      const [first, second] = pages.map((page) =>
        page.request("answer", { answers: [{ approvalId, optionId: "yes" }] }),
      );
      await client.send({ jsonrpc: "2.0", id: offer.message.id!, result: selected("no") });
      const ended = await Promise.all(
        pages.map((page) => page.next("approval_resolved", (message) => message.approvalId === approvalId)),
      );
      const { result } = await asked;
      expect(["yes", "no"]).toContain(result.outcome.optionId);
      for (const end of ended) {
        const { optionId } = result.outcome;
        expect(end).toMatchObject({ sessionId, toolCallId, outcome: { result: "selected", optionId } });
      }
      const receipts = (await Promise.all([first!, second!])).map(({ results }) => results[0]!.status);
      expect(receipts.filter((status) => status === "accepted")).toHaveLength(
        result.outcome.optionId === "yes" ? 1 : 0,
      );
      // The page answers by id, so the editor's dialog is withdrawn when it lost.
      if (result.outcome.optionId === "yes") {
        await client.next(
          ({ method, params }) => method === "$/cancel_request" && params.requestId === offer.message.id,
        );
      }
      for (const page of pages) {
        const told = page.messages.all.filter(
          (each) => each.type === "approval_resolved" && each.approvalId === approvalId,
        );
        expect(told).toHaveLength(1);
      }
    }
  });

  it("waits in a list of all sessions, shown or not, and several are answered at once", async () => {
    const a = await editor();
    const b = await editor();
    const asks = [a, a, b].map(({ process, sessionId }, n) =>
      process.askPermission(sessionId, { toolCall: { toolCallId: `many-${n}`, title: "T" } }),
    );
    const page = await running.page();
    const idOf = async (n: number): Promise<string> => (await page.approval(`many-${n}`)).approvalId;
    const [first, second, third] = [await idOf(0), await idOf(1), await idOf(2)];
    const wrong = await page.request("answer", { answers: [{ approvalId: first, optionId: "invented" }] });
    expect(wrong.results).toMatchObject([{ approvalId: first, status: "failed", error: { code: -32602 } }]);
    const { results } = await page.request("answer", {
      answers: [
        { approvalId: third, refuse: true },
        { approvalId: first, optionId: "yes" },
        { approvalId: "nobody", optionId: "yes" },
        { approvalId: second, optionId: "no" },
      ],
    });
    expect(results.map(({ status }) => status)).toEqual(["accepted", "accepted", "not_pending", "accepted"]);
    expect((await Promise.all(asks)).map(({ result }) => result)).toEqual([
      selected("yes"),
      selected("no"),
      selected("no"),
    ]);
    for (const approvalId of [first, second, third]) {
      await page.next("approval_resolved", (message) => message.approvalId === approvalId);
    }
    const late = await running.page();
    expect(await late.next("approvals")).toEqual({ type: "approvals", approvals: [] });
  });

  it("is whole on request where its row was cut", async () => {
    const { sessionId, process } = await editor();
    const page = await running.page();
    const text = "x".repeat(400_000);
    const asked = process.askPermission(sessionId, {
      toolCall: { toolCallId: "long", title: "T", rawInput: { text } },
    });
    const { approval } = await page.next("approval");
    const { approvalId } = approval;
    expect(approval.cutAt).toBe(16_384);
    expect(approval.params).toMatchObject({ toolCall: { rawInput: { text: `${"x".repeat(16_384)}…` } } });
    const whole = await page.request("approval", { approvalId });
    expect(whole.approval.params).toMatchObject({ toolCall: { rawInput: { text } } });
    expect(whole.approval).not.toHaveProperty("cutAt");
    await page.request("answer", { answers: [{ approvalId, refuse: true }] });
    await asked;
    expect(await page.refusal("approval", { approvalId })).toBe("not_pending");
  });

  it("ends with noClientSeconds when the last page that showed its session closes; a page that shows others is none", async () => {
    const page = await running.page();
    const bystander = await running.page();
    const { sessionId } = await page.request("new", { agent: "fake", cwd: master.work });
    await page.request("attach", { sessionId });
    // Not the editors': the console has other abilities than they have.
    const process = await agent.process(1);
    const asked = process.askPermission(sessionId, { toolCall: { toolCallId: "left", title: "T" } });
    const { approval } = await bystander.next("approval", (message) => message.approval.toolCallId === "left");
    // Longer than the limit passes while a page shows it: the round trips below are done one after the other.
    const waited = performance.now() + 500;
    while (performance.now() < waited) await bystander.request("presets", { sessionId });
    expect(bystander.messages.all.some((each) => each.type === "approval_resolved")).toBe(false);
    page.socket.terminate();
    expect(await bystander.next("approval_resolved")).toMatchObject({
      approvalId: approval.approvalId,
      outcome: { result: "expired" },
      by: { kind: "no_client" },
    });
    expect((await asked).result).toEqual(selected("no"));
  });

  it("can be seen by a page that looks on, and by nothing that it does decided", async () => {
    const { client, sessionId, process } = await editor();
    const page = await running.page(await running.credentials("observer"));
    expect(page.messages.all[0]).toMatchObject({ type: "hello", role: "observer" });
    await page.request("attach", { sessionId });
    const asked = process.askPermission(sessionId, { toolCall: { toolCallId: "seen", title: "T" } });
    const { approval } = await page.next("approval");
    const { approvalId } = approval;
    const acts = [
      page.refusal("answer", { answers: [{ approvalId, optionId: "yes" }] }),
      page.refusal("prompt", { sessionId, content: [{ type: "text", text: "x" }] }),
      page.refusal("cancel", { sessionId }),
      page.refusal("cancel.all", { sessionId }),
      page.refusal("close", { sessionId }),
      page.refusal("new", { agent: "fake", cwd: master.work }),
      page.refusal("mode", { sessionId, modeId: "m" }),
      page.refusal("preset", { sessionId, preset: "ask" }),
      page.refusal("option", { sessionId, configId: "c", value: "v" }),
      page.refusal("elicitation", { elicitation: "e", action: "accept" }),
      page.refusal("card.decide", { proposalId: "p", decision: "cancel" }),
    ];
    expect(new Set(await Promise.all(acts))).toEqual(new Set(["observer"]));
    await page.next("session", ({ session }) => session.clients.some((each) => each.role === "observer"));
    const offer = await client.next("session/request_permission");
    await client.send({ jsonrpc: "2.0", id: offer.message.id!, result: selected("yes") });
    expect((await asked).result).toEqual(selected("yes"));
    // Nor does it keep an ask waiting.
    await client.close();
    const left = process.askPermission(sessionId, { toolCall: { toolCallId: "alone", title: "T" } });
    expect((await left).result).toEqual(selected("no"));
    const end = await page.next("approval_resolved", (message) => message.toolCallId === "alone");
    expect(end.by.kind).toBe("no_client");
  });
});
