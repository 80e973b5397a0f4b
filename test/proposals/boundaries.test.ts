// What binds a proposal: the bytes that were approved, and a decision that nothing which an agent is given can make.
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startMaster, type Master } from "../harness/master.ts";
import { masterProgram, runProgram } from "../harness/program.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { answerOffer, askingAgent, converse, nextOffer, selected } from "../permissions/conversation.ts";
import {
  approved,
  commandOf,
  linesOf,
  payload,
  proposed,
  ProposingHelper,
  reviewerOf,
  runInShell,
} from "./proposing.ts";

let agent: ScriptedAgent;
let helper: ProposingHelper;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
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

it("other bytes than the approved ones are refused, whatever differs, twice to be corrected and then for good (FF-169)", async () => {
  const talk = await converse(master, { agent: "fake" });
  await using reviewer = await reviewerOf(talk);
  const asked = payload("echo yes");
  const others = [
    asked.replace("echo yes", "echo yes "),
    asked.replace('"type":"send"', '"type":"open_and_send","target":"tab"'),
    // Even where the meaning is the same: what is compared are the bytes that were approved.
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(asked)).toReversed())),
  ];
  for (const [n, other] of others.entries()) {
    await approved(talk, commandOf(talk, asked));
    const { lines } = await linesOf(runInShell(talk, commandOf(talk, other)));
    expect(lines).toMatchObject([{ status: "digest_mismatch", retryable: n < 2 }]);
  }
  const { lines } = await linesOf(runInShell(talk, commandOf(talk, asked)));
  expect(lines).toMatchObject([{ status: "already_consumed", retryable: false }]);
  await talk.endTurn();
  expect(reviewer.events.all.filter(({ type }) => type === "card")).toEqual([]);
});

it("an agent is given nothing with which it could decide its own card or its own question (FF-170)", async () => {
  const talk = await converse(master, { agent: "fake" });
  await using reviewer = await reviewerOf(talk);
  const { card, program } = await proposed(talk, reviewer);
  const { proposalId } = card;
  const question = talk.ask("own");
  const offer = await nextOffer(talk.client, "own");

  const { env } = talk.process;
  const folder = env.ACP_PROPOSE_DIR ?? "";
  for (const value of Object.values(env)) {
    expect(value).not.toContain(master.home);
    expect(value).not.toContain(dirname(reviewer.path));
  }
  // The commands find no daemon from there.
  for (const args of [["approve", offer.approvalId], ["approvals"], ["review", "--json"]]) {
    const ended = await runProgram(process.execPath, [masterProgram, ...args], { env, cwd: master.work });
    expect([args[0], ended.code === 0, ended.stdout]).toEqual([args[0], false, ""]);
  }
  // The socket that it knows takes proposals and no decisions.
  const decide = { type: "decide", id: 1, proposalId, decision: "confirm", choice: 1, mode: "run" };
  for (const name of readdirSync(folder)) {
    for (const line of [{ type: "hello", version: 1, name: "agent" }, decide]) {
      const socket = connect(join(folder, name)).end(`${JSON.stringify(line)}\n`);
      expect(await text(socket)).toContain('"status":"rejected"');
    }
  }

  expect(helper.orders).toEqual([]);
  expect(talk.answersTo("own")).toEqual([]);
  await answerOffer(talk.client, offer, selected("no"));
  expect((await question).result).toEqual(selected("no"));
  await reviewer.client.decide({ proposalId, decision: "cancel" });
  expect((await linesOf(program)).lines[1]).toMatchObject({ status: "cancelled" });
  await talk.endTurn();
});
