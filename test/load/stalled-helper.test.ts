// A Helper that reads nothing any more: after ten seconds it is at fault and replaced; what waited for it comes reduced.
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster } from "../harness/master.ts";
import { scriptedHelper } from "../harness/scripted-helper.ts";
import { askingAgent, converse, jsonLine } from "../permissions/conversation.ts";

it("is ended as stalled, and every frame comes, in order, without what nobody judged", async () => {
  await using agent = askingAgent();
  await using helper = scriptedHelper({
    hooks: ["tool_call"],
    auto: { "helper/tool_call": { verdict: "pass", final: true } },
  });
  await using master = await startMaster({
    agents: { fake: agent },
    config: { defaultAgent: "fake", helper: { use: helper.use, isolation: "session" } },
  });
  const talk = await converse(master, { agent: "fake" });
  const first = await helper.process(0);
  first.pauseInput();
  const count = 2000;
  const lines = Array.from({ length: count }, (_, n) => {
    const update = { sessionUpdate: "tool_call", toolCallId: `t${n}`, title: "secret ".repeat(100), status: "pending" };
    return jsonLine({ method: "session/update", params: { sessionId: talk.sessionId, update } });
  });
  const sent = talk.process.sendRaw(lines.join(""));
  await eventually(
    () => master.logLines().some(({ event, cause }) => event === "helper.over" && cause === "stalled"),
    "it is at fault",
    30_000,
  );
  await first.gone;
  await sent;
  const calls = () => talk.client.updates(talk.sessionId).filter(({ toolCallId }: Loose) => toolCallId !== undefined);
  await eventually(() => calls().length === count, "all have come", 60_000);
  expect(calls().map(({ toolCallId }) => toolCallId)).toEqual(Array.from({ length: count }, (_, n) => `t${n}`));
  expect(calls().some(({ title }) => title === undefined)).toBe(true);
  let later = 0;
  await eventually(async () => {
    const update = { sessionUpdate: "tool_call", toolCallId: `later ${later++}`, title: "judged", status: "pending" };
    await talk.process.update(talk.sessionId, update);
    return calls().at(-1).title === "judged";
  }, "the next Helper judges");
  expect(helper.processes.length).toBeGreaterThanOrEqual(2);
  await talk.endTurn();
});
