// Field faults of the kind "timers", as far as approvals are concerned: waits that end too early, too late or never.
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { isRunning, processGone } from "../harness/processes.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  answerOffer,
  askingAgent,
  converse,
  nextOffer,
  PERMISSION,
  selected,
  type Conversation,
} from "../permissions/conversation.ts";

let agent: ScriptedAgent;
let master: Master;

beforeAll(async () => {
  agent = askingAgent();
  master = await startMaster({
    agents: { fake: agent },
    config: { helper: { idleSeconds: 0.2 }, approvals: { timeoutSeconds: 1.5 }, limits: { clientSeconds: 1.5 } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

it("FF-155: a daemon that was stopped for longer than the wait gives people a grace, and a jump allows nothing", async () => {
  const talking = await converse(master, { agent: "fake" });
  const asked = talking.ask("t1", { id: "slept" });
  const offer = await nextOffer(talking.client);
  process.kill(master.pid, "SIGSTOP");
  try {
    // The clock itself is what is tested: longer than the wait and than any mere delay.
    await new Promise((resolve) => setTimeout(resolve, 6_500));
  } finally {
    process.kill(master.pid, "SIGCONT");
  }
  await talking.client.expectSilence(({ method }) => method === "$/cancel_request");
  const { approvals } = await talking.client.call("_acp-master/approvals", { sessionId: talking.sessionId });
  expect(approvals).toHaveLength(1);
  expect(Date.parse(approvals[0].expiresAt) - Date.now()).toBeGreaterThan(20_000);
  await answerOffer(talking.client, offer, selected("yes"));
  expect((await asked).result).toEqual(selected("yes"));
});

it("FF-156: an open question pins agent, session and Helper however short the idle limits are", async () => {
  await using waiting = askingAgent();
  await using own = await startMaster({
    agents: { fake: waiting },
    config: { helper: { idleSeconds: 0.05 }, sessions: { idleMinutes: 0.002 }, daemon: { idleExitMinutes: 0 } },
  });
  const talking = await converse(own, { agent: "fake", turn: false });
  const asked = talking.ask("t1");
  const { approvalId } = await nextOffer(talking.client);
  const pinned = await helperOf(talking);
  // Nobody is attached and no turn runs: the question alone keeps all of it.
  await talking.client.close();
  // Another session with the same limits and nothing open: when its Helper has ended, the time was over for both.
  const idle = await converse(own, { agent: "fake", turn: false });
  const unpinned = await helperOf(idle, [pinned]);
  await idle.client.close();
  await processGone(unpinned);
  expect(isRunning(pinned)).toBe(true);
  expect(isRunning(talking.process.pid)).toBe(true);
  expect((await own.cli(["approve", approvalId])).code).toBe(0);
  expect((await asked).result).toEqual(selected("yes"));
  // With nothing open the Helper ends after its limit.
  await processGone(pinned);
});

/** The pid of the session's Helper: the one that runs and is none of `others`. */
const helperOf = (talking: Conversation, others: readonly number[] = []): Promise<number> =>
  eventually(async () => {
    const { helpers } = await talking.client.call("_acp-master/status", {});
    return helpers.find((row: Loose) => row.state === "ready" && !others.includes(row.pid))?.pid;
  }, "a Helper that is ready");

const waits = async (answered: Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await answered;
  return performance.now() - began;
};

it("FF-157: the wait of a question whose client was killed begins with its end, though nobody said goodbye", async () => {
  await using deserted = askingAgent();
  await using own = await startMaster({
    agents: { fake: deserted },
    config: { helper: { use: "ask", isolation: "shared" }, approvals: { noClientSeconds: 0.3 } },
  });
  const editor = own.connect(["fake"]);
  own.own(editor);
  await editor.initialize();
  const { sessionId } = await editor.newSession();
  const agentProcess = await deserted.process();
  const asked = agentProcess.askPermission(sessionId);
  await editor.next(PERMISSION);
  process.kill(editor.program!.pid, "SIGKILL");
  expect((await asked).result).toEqual(selected("no"));
});

it("FF-158: one wait for every path: the question, the form and what a client is asked to do end when it is over", async () => {
  const capabilities = {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    elicitation: { form: {} },
  };
  const talking = await converse(master, { agent: "fake", capabilities });
  const { sessionId, process: asking } = talking;
  const schema = { type: "object", properties: {} };
  const times = await Promise.all([
    waits(talking.ask("t1")),
    waits(asking.request("elicitation/create", { sessionId, mode: "form", message: "?", requestedSchema: schema })),
    waits(asking.request("fs/read_text_file", { sessionId, path: "/x" })),
    waits(asking.request("fs/write_text_file", { sessionId, path: "/x", content: "" })),
    waits(asking.request("terminal/create", { sessionId, command: "true" })),
  ]);
  for (const time of times) {
    expect(time).toBeGreaterThan(1_400);
    expect(time).toBeLessThan(6_000);
  }
  // Each of them was taken back.
  expect(talking.client.received(PERMISSION)).toHaveLength(1);
  await eventually(
    () => talking.client.received("$/cancel_request").length === times.length,
    "each question is taken back",
  );
});
