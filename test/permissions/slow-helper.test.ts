// A Helper with the hook tool_call that does not read: its sessions' lanes wait, within bounds, and nothing is lost.
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { residentBytesOf } from "../harness/processes.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper, type ScriptedHelper, type ScriptedHelperProcess } from "../harness/scripted-helper.ts";
import { askingAgent, type Conversation, converse, jsonLine } from "./conversation.ts";

const MIB = 1024 * 1024;

let agent: ScriptedAgent;
let another: ScriptedAgent;
let helper: ScriptedHelper;
let master: Master;

beforeAll(async () => {
  [agent, another] = [askingAgent(), askingAgent()];
  helper = scriptedHelper({ hooks: ["tool_call"], auto: { "helper/tool_call": { verdict: "pass", final: true } } });
  master = await startMaster({
    agents: { fake: agent, another },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "session" } },
  });
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await helper[Symbol.asyncDispose]();
  for (const each of [agent, another]) await each[Symbol.asyncDispose]();
});

/** A session with an open turn, and its Helper. */
async function watched(): Promise<{ talk: Conversation; its: ScriptedHelperProcess }> {
  const talk = await converse(master, { agent: "fake" });
  const its = await eventually(
    () =>
      helper.processes.find(({ messages }) => messages.all.some(({ params }) => params?.sessionId === talk.sessionId)),
    "the session's Helper runs",
  );
  return { talk, its };
}
/** Tool calls with titles of this size, and a text behind every twentieth. */
async function calls(talk: Conversation, count: number, size: number): Promise<void> {
  const { process, sessionId } = talk;
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    const update = { sessionUpdate: "tool_call", toolCallId: `t${n}`, status: "pending", title: "" };
    const frame = jsonLine({ method: "session/update", params: { sessionId, update } });
    const [head = "", tail = ""] = frame.split(/(?<="title":")/);
    sent.push(process.sendFilled(head, size, tail));
    if (n % 20 === 0) sent.push(process.say(sessionId, `after ${n}`));
  }
  await Promise.all(sent);
}
const seen = (talk: Conversation): string[] =>
  talk.client.updates(talk.sessionId).map((update: Loose) => update.toolCallId ?? update.content?.text);
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

it.each([
  // More than may wait for a Helper (256 messages, 8 MiB) and than a lane holds (1,000 frames, 8 MiB).
  ["many small calls", 1600, 10],
  ["few big ones", 60, 512 * 1024],
])(
  "%s of a Helper that stops reading for a while wait, and come in order with what is behind them",
  async (_, count, size) => {
    const { talk, its } = await watched();
    its.pauseInput();
    const before = residentBytesOf(master.pid);
    const sent = calls(talk, count, size);
    // The agent waits with its session; another agent, and its Helper, do not.
    const beside = await converse(master, { agent: "another" });
    await beside.process.update(beside.sessionId, { sessionUpdate: "tool_call", toolCallId: "quick", title: "T" });
    await beside.client.waitFor(({ params }) => params?.update?.toolCallId === "quick");
    expect(seen(talk).length).toBeLessThan(count);
    expect(residentBytesOf(master.pid) - before).toBeLessThan(100 * MIB);
    its.resumeInput();
    await sent;
    await talk.settle();
    const inOrder = upTo(count).flatMap((n) => [`t${n}`, ...(n % 20 === 0 ? [`after ${n}`] : [])]);
    expect(seen(talk).filter((one) => !one.startsWith("mark"))).toEqual(inOrder);
    const answered: Message = await talk.endTurn();
    expect(answered.result).toEqual({ stopReason: "end_turn" });
    await beside.endTurn();
  },
);
