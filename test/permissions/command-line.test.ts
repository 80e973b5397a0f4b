// Permissions from the shell: what waits, answers and their exit codes, and what untrusted text looks like there.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeHome } from "../harness/home.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  askingAgent,
  CANCELLED,
  converse,
  decisions,
  nextOffer,
  resolvedEvent,
  selected,
  withdrawal,
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
const rows = async (...args: string[]): Promise<Loose[]> => {
  const { code, stdout } = await master.cli(["approvals", "--json", ...args]);
  expect(code).toBe(0);
  return JSON.parse(stdout).approvals;
};

describe("acp-master approvals", () => {
  it("lists what waits with what it would run, of one session or of all, and nothing that was answered", async () => {
    const [one, two] = [await talk(), await talk()];
    const asked = one.ask("t1");
    void two.ask("t2");
    const offer = await nextOffer(one.client);
    await nextOffer(two.client);
    expect(new Set((await rows()).map((row) => row.toolCallId))).toEqual(new Set(["t1", "t2"]));
    expect(await rows("--session", one.sessionId)).toMatchObject([
      {
        approvalId: offer.approvalId,
        sessionId: one.sessionId,
        agent: "fake",
        toolCallId: "t1",
        askedAt: offer.askedAt,
        expiresAt: null,
        options: [
          { optionId: "yes", kind: "allow_once" },
          { optionId: "no", kind: "reject_once" },
        ],
        params: { toolCall: { rawInput: { command: "true" } } },
      },
    ]);
    const table = await master.cli(["approvals"]);
    expect(table.stdout).toContain(offer.approvalId);
    expect(table.stdout).toContain('{"command":"true"}');
    expect((await master.cli(["approve", offer.approvalId])).code).toBe(0);
    expect((await asked).result).toEqual(selected("yes"));
    expect(await rows("--session", one.sessionId)).toEqual([]);
    await two.endTurn();
  });
});

describe("acp-master approve and deny", () => {
  it("answer while an editor shows the same question, which is withdrawn; the record names who answered", async () => {
    const talking = await talk();
    for (const [command, optionId] of [
      ["approve", "yes"],
      ["deny", "no"],
    ] as const) {
      const asked = talking.ask(command);
      const offer = await nextOffer(talking.client, command);
      const done = await master.cli([command, offer.approvalId]);
      expect([done.code, done.stderr]).toEqual([0, ""]);
      expect((await asked).result).toEqual(selected(optionId));
      await withdrawal(talking.client, offer);
      expect(await resolvedEvent(talking.client, offer.approvalId)).toMatchObject({
        outcome: { result: "selected", optionId },
        by: { kind: "client", name: expect.stringContaining("acp-master") },
      });
      // Again: it waits no more.
      const again = await master.cli([command, offer.approvalId]);
      expect(again.code).toBe(4);
      expect(again.stderr).toContain("acp-master approvals");
    }
  });

  it("never pick an always by themselves: approve names the options, deny takes the reject_always or closes the question", async () => {
    const talking = await talk();
    const always = { optionId: "ever", name: "Always", kind: "allow_always" };
    const never = { optionId: "never", name: "Never", kind: "reject_always" };
    const asked = talking.ask("t1", { options: [always, never] });
    const { approvalId } = await nextOffer(talking.client, "t1");
    const unclear = await master.cli(["approve", approvalId]);
    expect(unclear.code).toBe(2);
    expect(unclear.stderr).toContain("ever (allow_always)");
    expect((await master.cli(["approve", approvalId, "--option", "yes"])).code).toBe(2);
    expect((await master.cli(["deny", approvalId])).code).toBe(0);
    expect((await asked).result).toEqual(selected("never"));
    const chosen = talking.ask("t2", { options: [always] });
    const second = await nextOffer(talking.client, "t2");
    expect((await master.cli(["approve", second.approvalId, "--option", "ever"])).code).toBe(0);
    expect((await chosen).result).toEqual(selected("ever"));
    const closed = talking.ask("t3", { options: [always] });
    const third = await nextOffer(talking.client, "t3");
    expect((await master.cli(["deny", third.approvalId])).code).toBe(0);
    expect((await closed).result).toEqual(CANCELLED);
    expect(decisions(master, third.approvalId)).toMatchObject([
      { outcome: { result: "refused" }, by: { kind: "client" } },
    ]);
  });

  it("end with 4 for an unknown approval, 2 for none, and 3 where no daemon runs", async () => {
    expect((await master.cli(["approve", "00000000-0000-4000-8000-000000000000"])).code).toBe(4);
    expect((await master.cli(["deny", "x"])).code).toBe(4);
    expect((await master.cli(["approve"])).code).toBe(2);
    await using nobody = makeHome();
    for (const args of [["approve", "x"], ["deny", "x"], ["approvals"], ["preset", "s", "ask"]]) {
      const refused = await nobody.cli(args);
      expect([args[0], refused.code]).toEqual([args[0], 3]);
      expect(refused.stderr).toContain("acp-master serve");
    }
  });
});

describe("the log", () => {
  it("has one line when a permission is requested and one when it is responded to, with ids and nothing of the request", async () => {
    const talking = await talk();
    const asked = talking.ask("t1", { toolCall: { title: "CANARY-title", rawInput: { command: "CANARY-input" } } });
    const offer = await nextOffer(talking.client, "t1");
    await master.cli(["approve", offer.approvalId]);
    await asked;
    const lines = master.logLines().filter((line) => line.approvalId === offer.approvalId);
    expect(lines.map((line) => line.event)).toEqual(["approval.requested", "approval.responded"]);
    expect(lines[0]).toMatchObject({ agent: "fake", sessionId: talking.sessionId, toolCallId: "t1", options: 2 });
    expect(lines[1]).toMatchObject({ result: "selected", by: "client" });
    expect(master.logText()).not.toContain("CANARY");
  });
});
