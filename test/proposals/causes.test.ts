// Everything that ends a proposal which waits for its person: the waiting acp-propose is told how, the card goes, and nothing
// is carried out, whatever is decided afterwards.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { descendantsOf, isRunning } from "../harness/processes.ts";
import type { Program } from "../harness/program.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { askingAgent, type Conversation, converse } from "../permissions/conversation.ts";
import { linesOf, proposed, ProposingHelper, type Reviewer, reviewerOf } from "./proposing.ts";

const modelOption = (currentValue: string) => ({
  id: "model",
  name: "Model",
  category: "model",
  type: "select",
  currentValue,
  options: [
    { value: "small", name: "Small" },
    { value: "large", name: "Large" },
  ],
});

const switchingAgent = (): ScriptedAgent =>
  askingAgent({
    session: {
      models: { currentModelId: "small", availableModels: [{ modelId: "small", name: "Small" }] },
      configOptions: [modelOption("small")],
    },
    auto: {
      "session/set_model": {},
      "session/set_config_option": { configOptions: [modelOption("large")] },
    },
  });

let agent: ScriptedAgent;
let helper: ProposingHelper;
let master: Master;

beforeAll(async () => {
  agent = switchingAgent();
  helper = new ProposingHelper();
  master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "shared" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  helper[Symbol.dispose]();
  await agent[Symbol.asyncDispose]();
});

interface Waiting {
  readonly talk: Conversation;
  readonly reviewer: Reviewer;
  readonly proposalId: string;
  readonly program: Program;
}

async function waiting(of: Master = master): Promise<Waiting> {
  const talk = await converse(of, { agent: "fake" });
  const reviewer = await reviewerOf(talk);
  of.own(reviewer);
  const { card, program } = await proposed(talk, reviewer);
  return { talk, reviewer, proposalId: card.proposalId, program };
}

const linesThatEnd = (status: string, { proposalId }: Waiting) => [
  { phase: "validation", status: "accepted", proposal_id: proposalId, retryable: false },
  { phase: "final", status, proposal_id: proposalId },
];

/** The CLI's two lines, the card's end, and a decision that comes too late. */
async function endsAs(status: string, open: Waiting): Promise<void> {
  const { reviewer, proposalId, program } = open;
  const orders = helper.orders.length;
  expect(await linesOf(program)).toEqual({ code: 0, lines: linesThatEnd(status, open) });
  expect(await reviewer.over(proposalId)).toMatchObject({ status });
  await isDecidedNoMore(open, orders);
}

async function isDecidedNoMore({ reviewer, proposalId }: Waiting, orders: number): Promise<void> {
  const late = await reviewer.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "run" });
  expect(late).toBe("lost");
  expect(helper.orders).toHaveLength(orders);
}

describe("what ends a proposal", () => {
  it("a newer turn, and not the end of its own", async () => {
    const open = await waiting();
    await open.talk.endTurn();
    await using later = await reviewerOf(open.talk);
    const welcome = await later.events.waitFor((event) => event.type === "welcome");
    expect(welcome.type === "welcome" && welcome.cards.map(({ proposalId }) => proposalId)).toContain(open.proposalId);
    expect(isRunning(open.program.pid)).toBe(true);
    await open.talk.startTurn();
    await endsAs("superseded", open);
    await open.talk.endTurn();
  });

  it("a cancel from any client", async () => {
    const open = await waiting();
    const other = await open.talk.join();
    await other.notify("session/cancel", { sessionId: open.talk.sessionId });
    await endsAs("cancelled", open);
    await open.talk.endTurn("cancelled");
  });

  it("a close of the session", async () => {
    const open = await waiting();
    await open.talk.client.call("session/close", { sessionId: open.talk.sessionId });
    await endsAs("session_replaced", open);
  });

  it.each([
    ["session/set_model", { modelId: "large" }],
    ["session/set_config_option", { configId: "model", value: "large" }],
  ])("another model (%s)", async (method, params) => {
    const open = await waiting();
    await open.talk.client.call(method, { sessionId: open.talk.sessionId, ...params });
    await endsAs("session_replaced", open);
    await open.talk.endTurn();
  });

  it("an executor that is gone when the person says yes", async () => {
    const open = await waiting();
    helper.set("gone", true);
    const { proposalId } = open;
    const end = await open.reviewer.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "run" });
    helper.set("gone", false);
    expect(end).toBe("unavailable");
    await endsAs("unavailable", open);
    await open.talk.endTurn();
  });

  it("attaching does not", async () => {
    const open = await waiting();
    await open.talk.join();
    const { proposalId } = open;
    const decision = { proposalId, decision: "confirm", choice: 1, mode: "run" } as const;
    expect(await open.reviewer.client.decide(decision)).toBe("confirmed");
    expect((await linesOf(open.program)).lines[1]).toMatchObject({ status: "confirmed" });
    await open.talk.endTurn();
  });
});

/** A master, an agent and a Helper of this test's own. */
async function alone(run: (open: Waiting, of: Master, own: ScriptedAgent) => Promise<void>): Promise<void> {
  await using own = switchingAgent();
  await using solo = await startMaster({
    agents: { fake: own },
    config: { defaultAgent: "fake", helper: { use: helper.use } },
  });
  await run(await waiting(solo), solo, own);
}

/** The process of the only Helper, which holds the listening sockets. */
const helperOf = async (solo: Master): Promise<number> => {
  const line = await eventually(() => solo.logLines().find(({ event }) => event === "helper.ready"), "a Helper");
  return line.pid;
};

describe("what ends with a process", () => {
  it("the agent exits", async () => {
    await alone(async (open) => {
      await open.talk.process.exit(0);
      await endsAs("unavailable", open);
    });
  });

  it("another Helper is configured", async () => {
    await alone(async (open, solo, own) => {
      solo.configure({ agents: { fake: own }, config: { defaultAgent: "fake", helper: { use: "ask" } } });
      await endsAs("unavailable", open);
    });
  });

  it("the daemon stops after the turn", async () => {
    await alone(async (open, solo) => {
      await open.talk.endTurn();
      await solo.stop();
      await endsAs("unavailable", open);
    });
  });

  it("the daemon is killed: the Helper says so, if it comes to it", async () => {
    await alone(async (open, solo) => {
      // What ends all that a killed daemon leaves behind is faster than some last words; here it waits for them.
      const [reaper] = descendantsOf(solo.pid).filter(({ command }) => command.includes("acp-master-reaper"));
      process.kill(reaper!.pid, "SIGSTOP");
      try {
        await solo.kill9();
        await endsAs("unavailable", open);
      } finally {
        process.kill(reaper!.pid, "SIGCONT");
      }
    });
  });

  it("the daemon is killed: nothing can be decided, whoever comes to say so", async () => {
    await alone(async (open, solo) => {
      const orders = helper.orders.length;
      await solo.kill9();
      // Its agents, what those started, and its Helpers are ended too: they may not have come to their last words.
      const { lines } = await linesOf(open.program);
      expect(lines).toEqual(linesThatEnd("unavailable", open).slice(0, lines.length));
      expect(await open.reviewer.closed).toContain("closed");
      for (const end of open.reviewer.events.all.filter(({ type }) => type === "over"))
        expect(end).toMatchObject({ proposalId: open.proposalId, status: "unavailable" });
      await isDecidedNoMore(open, orders);
    });
  });

  it("the Helper is killed: the agent sees the loss", async () => {
    await alone(async (open, solo) => {
      process.kill(await helperOf(solo), "SIGKILL");
      const { code, lines } = await linesOf(open.program);
      expect(code).toBe(1);
      expect(lines).toMatchObject([{ status: "accepted" }]);
      expect(await open.reviewer.closed).toContain("closed");
      // The session goes on with a new Helper and a new channel.
      await open.talk.endTurn();
      await open.talk.startTurn();
      const next = await reviewerOf(open.talk);
      solo.own(next);
      const { card } = await proposed(open.talk, next);
      expect(card.proposalId).not.toBe(open.proposalId);
      await open.talk.endTurn();
    });
  });
});
