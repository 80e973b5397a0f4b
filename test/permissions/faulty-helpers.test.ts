// Helpers that fail: what becomes of the ticket, and a line in the log without content. No fault is ever an allow.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper, type ScriptedHelper } from "../harness/scripted-helper.ts";
import {
  answerOffer,
  askingAgent,
  CANCELLED,
  converse,
  decisions,
  nextOffer,
  PERMISSION,
  resolvedEvent,
  selected,
} from "./conversation.ts";

/** Stands in every request, and may stand in no line of the log. */
const CANARY = "canary-7f3a";

let agent: ScriptedAgent;
let master: Master;
const helpers: ScriptedHelper[] = [];

const kinds = {
  steady: {},
  dying: { auto: { [PERMISSION]: false } },
  silent: { auto: { [PERMISSION]: false } },
  second: { auto: { "helper/initialize": { protocolVersion: 2, helper: { name: CANARY, version: "1" }, hooks: [] } } },
  garbage: { auto: { [PERMISSION]: false } },
  negative: { auto: { [PERMISSION]: false } },
  resigning: {},
} as const;
type Kind = keyof typeof kinds;
let helperOf: Readonly<Record<Kind, ScriptedHelper>>;

const make = (kind: Kind): ScriptedHelper => {
  const helper = scriptedHelper(kinds[kind]);
  helpers.push(helper);
  return helper;
};

beforeAll(async () => {
  agent = askingAgent();
  helperOf = {
    steady: make("steady"),
    dying: make("dying"),
    silent: make("silent"),
    second: make("second"),
    garbage: make("garbage"),
    negative: make("negative"),
    resigning: make("resigning"),
  };
  const agents = Object.entries(helperOf).map(([kind, { use }]) => {
    const helper = { use, decideSeconds: kind === "silent" ? 0.3 : 20 };
    return [kind, { ...agent.definition, share: "session", helper }];
  });
  master = await startMaster({ agents: Object.fromEntries(agents) });
});
afterAll(async () => {
  const log = master.logText();
  await master[Symbol.asyncDispose]();
  for (const helper of helpers) await helper[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  expect(log).not.toContain(CANARY);
});

async function talk(kind: Kind) {
  const talking = await converse(master, { agent: kind });
  const ask = (toolCallId: string, options?: Loose) =>
    talking.ask(toolCallId, { toolCall: { title: CANARY, rawInput: { command: CANARY } }, options });
  return { talking, ask };
}

const lastDecision = (): Loose => decisions(master).at(-1);
const faultLine = (fault: string): Promise<Loose> =>
  eventually(
    () =>
      master
        .logLines()
        .find(
          (line) => line.event?.startsWith("helper.") === true && [line.fault, line.kind, line.cause].includes(fault),
        ),
    `a log line about ${fault}`,
  );

describe("an answer of the Helper", () => {
  it("that is none makes the ticket unavailable: wrong shapes, errors, options that were not offered", async () => {
    const { talking, ask } = await talk("steady");
    const helper = helperOf.steady;
    const both = { optionId: "also", name: "Allow", kind: "allow_once" };
    const always = { optionId: "ever", name: "Always", kind: "allow_always" };
    const base = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const cases: [Loose, string, Loose?][] = [
      [null, "wrong_shape"],
      [{}, "wrong_shape"],
      [{ outcome: "selected", optionId: "yes" }, "wrong_shape"],
      [{ outcome: { outcome: "allow", optionId: "yes" } }, "wrong_shape"],
      [{ outcome: { outcome: "selected" } }, "wrong_shape"],
      [selected(CANARY), "option_not_offered"],
      [selected("YES"), "option_not_offered"],
      // An allow that is not the only allow_once is a fault, whoever gives it.
      [selected("ever"), "allow_is_not_the_only_allow_once", [...base, always]],
      [selected("yes"), "allow_is_not_the_only_allow_once", [...base, both]],
      [
        selected("odd"),
        "allow_is_not_the_only_allow_once",
        [...base, { optionId: "odd", name: "?", kind: "allow_persistent" }],
      ],
    ];
    for (const [result, fault, options] of cases) {
      helper.setAuto(PERMISSION, (_params: Loose, process, message) => process.answer(message, result));
      const answer = await ask("t1", options ?? base);
      expect(answer.result, JSON.stringify(result)).toEqual(selected("no"));
      expect(lastDecision()).toMatchObject({ outcome: { result: "unavailable" }, by: { kind: "helper" } });
      await faultLine(fault);
    }
    helper.setAuto(PERMISSION, (_params: Loose, process, message) => process.fail(message, -32601, CANARY));
    expect((await ask("t1")).result).toEqual(selected("no"));
    await faultLine("error");
    // Nobody was asked in any of these.
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    helper.setAuto(PERMISSION, CANCELLED);
    expect((await ask("t2")).result).toEqual(CANCELLED);
    expect(lastDecision()).toMatchObject({ outcome: { result: "cancelled" }, by: { kind: "helper" } });
    helper.setAuto(PERMISSION, selected("yes"));
    expect((await ask("t3")).result).toEqual(selected("yes"));
    expect(lastDecision()).toMatchObject({ outcome: { result: "selected", optionId: "yes" }, by: { kind: "helper" } });
  });

  it("that does not come in time is none; it may come later and changes nothing", async () => {
    const { talking, ask } = await talk("silent");
    const asked = ask("t1");
    const process = await helperOf.silent.process();
    const question = await process.received(PERMISSION);
    expect((await asked).result).toEqual(selected("no"));
    expect(lastDecision()).toMatchObject({ outcome: { result: "unavailable" } });
    await faultLine("deadline");
    await process.received((message) => message.method === "$/cancelRequest" && message.params.id === question.id);
    process.answer(question, selected("yes"));
    await talking.settle();
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
  });
});

describe("a Helper that dies", () => {
  it("over a question is started again and asked once more with the same approval, and then no more", async () => {
    const { talking, ask } = await talk("dying");
    const helper = helperOf.dying;
    const asked = ask("t1");
    const first = await helper.process(0);
    const question = await first.received(PERMISSION);
    await first.kill();
    const second = await helper.process(1);
    const again = await second.received(PERMISSION);
    expect(again.params).toEqual(question.params);
    await second.kill();
    expect((await asked).result).toEqual(selected("no"));
    expect(lastDecision()).toMatchObject({ outcome: { result: "unavailable" }, by: { kind: "helper" } });
    // Two deaths within a minute: nobody decides any more, and status says so.
    expect((await ask("t2")).result).toEqual(selected("no"));
    const { helpers: rows } = await talking.client.call("_acp-master/status", {});
    expect(rows.filter((row: Loose) => row.state === "unavailable")).toHaveLength(1);
    expect(helper.processes).toHaveLength(2);
    await faultLine("died");
  });

  it("while people are asked takes nothing from them: their answer counts", async () => {
    const { talking, ask } = await talk("steady");
    helperOf.steady.setAuto(PERMISSION, { outcome: { outcome: "ask" } });
    const asked = ask("t1");
    const offer = await nextOffer(talking.client);
    const { processes } = helperOf.steady;
    await processes.at(-1)!.kill();
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
  });
});

describe("a Helper that breaks the protocol", () => {
  it("by speaking version 2 is not used: every ticket is refused and the log names both versions", async () => {
    const { talking, ask } = await talk("second");
    expect((await ask("t1")).result).toEqual(selected("no"));
    expect(lastDecision()).toMatchObject({ outcome: { result: "unavailable" }, by: { kind: "helper" } });
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
    expect(await faultLine("version_mismatch")).toBeDefined();
    const line = master.logLines().find((one) => one.event === "helper.version_mismatch");
    expect(line).toMatchObject({ offered: 2, spoken: 1 });
    expect(helperOf.second.processes).toHaveLength(1);
  });

  it("by printing garbage or a negative length is ended at once; the ticket gets its second Helper and then fails closed", async () => {
    for (const [kind, bytes] of [
      ["garbage", `${CANARY} is no header\n\n{"id":0}`],
      ["negative", `Content-Length: -5\r\n\r\n${CANARY}`],
    ] as const) {
      const { ask } = await talk(kind);
      const asked = ask("t1");
      for (const n of [0, 1]) {
        const process = await helperOf[kind].process(n);
        await process.received(PERMISSION);
        process.sendRaw(bytes);
        await process.gone;
      }
      expect((await asked).result).toEqual(selected("no"));
      expect(lastDecision()).toMatchObject({ outcome: { result: "unavailable" }, by: { kind: "helper" } });
      await faultLine("died");
    }
  });

  it("by giving its session up is asked no more; what waits for it is refused", async () => {
    const { talking, ask } = await talk("resigning");
    helperOf.resigning.setAuto(PERMISSION, false);
    const asked = ask("t1");
    const process = await helperOf.resigning.process();
    await process.received(PERMISSION);
    process.notify("helper/unavailable", { sessionId: talking.sessionId, reason: CANARY });
    expect((await asked).result).toEqual(selected("no"));
    expect(lastDecision()).toMatchObject({ outcome: { result: "unavailable" } });
    expect((await ask("t2")).result).toEqual(selected("no"));
    await faultLine("given_up");
  });

  it("by bodies that are no message, answers to nothing and floods of notices keeps its tickets in order", async () => {
    const { talking, ask } = await talk("steady");
    helperOf.steady.setAuto(PERMISSION, (_params: Loose, process, message) => {
      process.sendRaw("Content-Length: 3\r\n\r\n{x}");
      process.send({ id: 999, result: selected("yes") });
      for (let n = 0; n < 2_000; n++) process.notify("helper/log", { level: "info", message: CANARY });
      process.answer(message, { outcome: { outcome: "ask" } });
    });
    const asked = ask("t1");
    const offer = await nextOffer(talking.client);
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
    expect(await resolvedEvent(talking.client, offer.approvalId)).toMatchObject({ by: { kind: "client" } });
    await faultLine("not_json");
  });
});
