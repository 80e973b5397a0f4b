// Cards of direct proposals in the console: from the Helper's review endpoint to the pages and back, past the daemon.
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { askingAgent, converse } from "../permissions/conversation.ts";
import { approved, commandOf, linesOf, payload, ProposingHelper, runInShell } from "../proposals/proposing.ts";
import { RunningConsole } from "./running-console.ts";

let agent: ScriptedAgent;
let helper: ProposingHelper;
let master: Master;
let running: RunningConsole;

beforeAll(async () => {
  agent = askingAgent();
  helper = new ProposingHelper();
  master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "shared" } },
  });
  running = await RunningConsole.start(master);
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  helper[Symbol.dispose]();
  await agent[Symbol.asyncDispose]();
});

it("is shown on every page, kept for late ones, and decided once by the first", async () => {
  const talk = await converse(master, { agent: "fake" });
  const { sessionId } = talk;
  const [page, other] = [await running.page(), await running.page()];
  // The endpoint has said what it has.
  await page.next("cards");
  const command = commandOf(talk, payload("echo hi"));
  await approved(talk, command);
  const program = runInShell(talk, command);
  const { card } = await page.next("card");
  expect(card).toMatchObject({ sessionId, agent: "fake", choices: [{ actions: [{ lines: ["echo hi"] }] }] });
  const { proposalId } = card;
  expect((await other.next("card")).card).toEqual(card);
  // It is up when a page says that a person can see it, and not before.
  expect(program.stdout).toBe("");
  await page.request("card.shown", { proposalId });
  await eventually(() => program.stdout.includes("accepted"), "the agent hears that the card is up");
  const late = await running.page();
  expect(await late.messages.waitFor((each) => each.type === "cards")).toMatchObject({ cards: [{ proposalId }] });
  expect(helper.orders).toEqual([]);
  const choice = { proposalId, decision: "confirm", choice: 1 } as const;
  const ends = await Promise.all([
    page.request("card.decide", { ...choice, mode: "insert" }),
    other.request("card.decide", { ...choice, mode: "insert" }),
  ]);
  expect(ends.map(({ end }) => end).toSorted()).toEqual(["confirmed", "lost"]);
  for (const each of [page, other, late]) {
    expect(await each.next("card_over")).toMatchObject({ sessionId, proposalId, status: "confirmed" });
  }
  expect((await linesOf(program)).lines.at(-1)).toMatchObject({ phase: "final", status: "confirmed" });
  expect(helper.orders).toEqual([`insert send in pane of ${sessionId}: echo hi`]);
  expect(await late.request("card.decide", { ...choice, mode: "run" })).toEqual({ end: "lost" });
  for (const each of [page, other, late]) await each[Symbol.asyncDispose]();
  await talk.endTurn();
});

it("comes to nobody who only looks on: the agent hears that no person is there", async () => {
  const talk = await converse(master, { agent: "fake" });
  const page = await running.page(await running.credentials("observer"));
  const command = commandOf(talk, payload("echo no"));
  await approved(talk, command);
  const { lines } = await linesOf(runInShell(talk, command));
  expect(lines).toMatchObject([{ phase: "validation", status: "unavailable" }]);
  expect(page.messages.all.some((each) => each.type === "card")).toBe(false);
  await talk.endTurn();
});
