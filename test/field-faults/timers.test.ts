// Field faults of the kind "timers": waits that end too early, too late or never.
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
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
/** Its limits are over in a moment. */
let impatient: Master;
let hasty: ScriptedAgent;
let agents: Record<string, ScriptedAgent>;
const hurry = {
  helper: { use: "ask", isolation: "shared", idleSeconds: 0.05 },
  sessions: { idleMinutes: 0.002 },
};

beforeAll(async () => {
  agent = askingAgent();
  master = await startMaster({
    agents: { fake: agent },
    config: {
      helper: { idleSeconds: 0.2 },
      approvals: { timeoutSeconds: 1.5 },
      limits: { clientSeconds: 1.5 },
      sessions: { idleMinutes: 0.1, cancelSeconds: 1.5 },
    },
  });
  hasty = askingAgent();
  agents = {
    hasty,
    quick: askingAgent({ definition: { approvals: { timeoutSeconds: 0.2 } } }),
    patient: askingAgent(),
  };
  impatient = await startMaster({ agents, config: { ...hurry, approvals: { noClientSeconds: 0.3 } } });
});
afterAll(async () => {
  for (const each of [master, impatient, agent, ...Object.values(agents)]) await each[Symbol.asyncDispose]();
});

const capabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {} },
};
const form = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } };

it("FF-155: a daemon that was stopped for longer than the wait gives people a grace, and a jump allows nothing", async () => {
  // One that ends itself when it is idle for less than the stop.
  await using unused = await startMaster({ config: { daemon: { idleExitMinutes: 0.1 } } });
  const idle = await converse(master, { agent: "fake", turn: false });
  await idle.client.close();
  const talking = await converse(master, { agent: "fake", capabilities });
  const { client, sessionId, process: asking } = talking;
  const asked = talking.ask("t1", { id: "slept" });
  const offer = await nextOffer(client);
  const read = asking.request("fs/read_text_file", { sessionId, path: "/read" });
  const write = asking.request("fs/write_text_file", { sessionId, path: "/write", content: "" });
  const filled = asking.request("elicitation/create", { sessionId, ...form });
  const [reading, writing, filling] = [
    await client.next("fs/read_text_file"),
    await client.next("fs/write_text_file"),
    await client.next("elicitation/create"),
  ];
  const cancelled = await converse(master, { agent: "fake" });
  await cancelled.client.notify("session/cancel", { sessionId: cancelled.sessionId });
  await cancelled.process.received("session/cancel");
  for (const daemon of [master, unused]) process.kill(daemon.pid, "SIGSTOP");
  // These answer in time and are not heard.
  await client.send({ jsonrpc: "2.0", id: reading.message.id, result: { content: "in time" } });
  await cancelled.process.answer(cancelled.turn.prompt, { stopReason: "cancelled", by: "agent" });
  try {
    // The clock itself is what is tested: longer than the waits and than any mere delay.
    await new Promise((resolve) => setTimeout(resolve, 6_500));
  } finally {
    for (const daemon of [master, unused]) process.kill(daemon.pid, "SIGCONT");
  }
  await client.expectSilence(({ method }) => method === "$/cancel_request");
  expect((await read).result).toEqual({ content: "in time" });
  expect((await cancelled.turn.done).result).toEqual({ stopReason: "cancelled", by: "agent" });
  const { approvals } = await client.call("_acp-master/approvals", { sessionId });
  expect(approvals).toHaveLength(1);
  expect(Date.parse(approvals[0].expiresAt) - Date.now()).toBeGreaterThan(20_000);
  await answerOffer(client, offer, selected("yes"));
  expect((await asked).result).toEqual(selected("yes"));
  await answerOffer(client, { id: String(writing.message.id) }, {});
  expect((await write).result).toEqual({});
  await answerOffer(client, { id: String(filling.message.id) }, { action: "decline" });
  expect((await filled).result).toEqual({ action: "decline" });
  // Who was away comes back to what was there.
  const back = await idle.join();
  expect((await back.call("_acp-master/sessions", {})).sessions).toContainEqual(
    expect.objectContaining({ sessionId: idle.sessionId, state: "idle" }),
  );
  const closes = idle.process.lines.all.filter(({ message }) => message.params?.sessionId === idle.sessionId);
  expect(closes.map(({ message }) => message.method)).not.toContain("session/close");
  await talking.endTurn();
  await using late = await unused.client();
  await late.initialize({ agent: null });
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

it("FF-156: a turn that is silent for longer than every idle limit goes on and ends, attached or not; then the session is parked", async () => {
  const others = await Promise.all([1, 2].map(() => converse(impatient, { agent: "hasty" })));
  const [watched, left] = [others[0]!, others[1]!];
  await left.client.close();
  // A session with nothing open beside it: when that one is parked, the limit was over for all.
  const unused = await converse(impatient, { agent: "hasty", turn: false });
  const first = await unused.startTurn();
  await unused.endTurn();
  await first.done;
  await unused.client.close();
  const closed = (id: string) =>
    unused.process.received(({ method, params }) => method === "session/close" && params.sessionId === id);
  await closed(unused.sessionId);
  const closes = () => unused.process.lines.all.filter(({ message }) => message.method === "session/close").length;
  expect(closes()).toBe(1);
  await watched.process.say(watched.sessionId, "at last");
  expect((await watched.endTurn()).result).toEqual({ stopReason: "end_turn" });
  expect(watched.client.text(watched.sessionId)).toBe("at last");
  // Somebody is still attached to the one; the other has nothing open any more when its turn ends.
  await left.process.answer(left.turn.prompt, { stopReason: "end_turn" });
  await closed(left.sessionId);
  expect(closes()).toBe(2);
  await watched.client.close();
  await closed(watched.sessionId);
});

const leaving: Record<string, (editor: RawClient) => Promise<unknown> | void> = {
  "its editor was killed": (editor) => void process.kill(editor.program!.pid, "SIGKILL"),
  "its editor was killed while it read nothing": (editor) => {
    editor.pause();
    process.kill(editor.program!.pid, "SIGKILL");
  },
  "its editor's input has ended": (editor) => editor.endInput(),
};
it.each(Object.entries(leaving))(
  "FF-157: limits begin when a client is gone, though nobody said goodbye: %s",
  async (_, leave) => {
    const editor = impatient.connect(["hasty"]);
    await editor.initialize();
    const { sessionId } = await editor.newSession();
    const agentProcess = await hasty.process();
    const turn = editor.prompt(sessionId, "go on");
    turn.catch(() => {}); // nobody may be left to hear its end
    const prompt = await agentProcess.received(
      ({ method, params }) => method === "session/prompt" && params.sessionId === sessionId,
    );
    const asked = agentProcess.askPermission(sessionId);
    await editor.next(PERMISSION);
    await leave(editor);
    expect((await asked).result).toEqual(selected("no"));
    await agentProcess.answer(prompt, { stopReason: "end_turn" });
    // Nothing is open and nobody is there: its agent releases it.
    await agentProcess.received(({ method, params }) => method === "session/close" && params.sessionId === sessionId);
  },
);

it("FF-158: one wait for every path: the question, the form and what a client is asked to do end when it is over", async () => {
  const talking = await converse(master, { agent: "fake", capabilities });
  const { sessionId, process: asking } = talking;
  const times = await Promise.all([
    waits(talking.ask("t1")),
    waits(asking.request("elicitation/create", { sessionId, ...form })),
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
  await talking.endTurn();
});

it("FF-158: an agent's own wait holds for its questions and forms, a changed one for what is asked from then on", async () => {
  const [first, second] = [
    await converse(impatient, { agent: "quick", capabilities }),
    await converse(impatient, { agent: "patient", capabilities }),
  ];
  const long = second.ask("t1");
  const offer = await nextOffer(second.client);
  const form1 = second.process.request("elicitation/create", { sessionId: second.sessionId, ...form });
  const question = await second.client.next("elicitation/create");
  expect((await first.ask("t1")).result).toEqual(selected("no"));
  const short = await first.process.request("elicitation/create", { sessionId: first.sessionId, ...form });
  expect(short.error?.data.reason).toBe("no_client");
  impatient.configure({ agents, config: { ...hurry, approvals: { timeoutSeconds: 0.2 } } });
  await eventually(
    () => impatient.logLines().some(({ msg }) => msg === "configuration changed"),
    "the change is in force",
  );
  const changed = await second.process.request("elicitation/create", { sessionId: second.sessionId, ...form });
  expect(changed.error?.data.reason).toBe("no_client");
  expect((await second.ask("t2")).result).toEqual(selected("no"));
  // What was asked before still waits.
  await answerOffer(second.client, offer, selected("yes"));
  expect((await long).result).toEqual(selected("yes"));
  await answerOffer(second.client, { id: String(question.message.id) }, { action: "decline" });
  expect((await form1).result).toEqual({ action: "decline" });
  for (const each of [first, second]) await each.endTurn();
});
