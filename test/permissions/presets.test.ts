// Presets: who may switch them and how, who learns of it, and what the router itself enforces of what a Helper declares.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper, type ScriptedHelper } from "../harness/scripted-helper.ts";
import {
  answerOffer,
  askingAgent,
  auditRecords,
  converse,
  decisions,
  EVENT,
  nextOffer,
  PERMISSION,
  resolvedEvent,
  selected,
  withdrawal,
  type Conversation,
} from "./conversation.ts";

const OPTION = "acp-master.approvals";
const own = { id: "verbosity", name: "Verbosity", type: "select", currentValue: "low", options: [] };

/** Presets with names of their own: only what is declared of them counts. */
const declared = [
  { value: "closed", name: "Closed", width: 0, refuseWrites: true, refuseAll: true },
  { value: "look", name: "Look", width: 1, refuseWrites: true },
  { value: "talk", name: "Talk", width: 2 },
  { value: "free", name: "Free", width: 4, confirm: true },
];

let plain: ScriptedAgent;
let optioned: ScriptedAgent;
let hidden: ScriptedAgent;
let always: ScriptedAgent;
let helper: ScriptedHelper;
let master: Master;

beforeAll(async () => {
  plain = askingAgent();
  optioned = askingAgent({ session: { configOptions: [own] } });
  hidden = askingAgent({ session: { configOptions: [own] }, definition: { approvalsOption: "never" } });
  always = askingAgent({ definition: { approvalsOption: "always" } });
  helper = scriptedHelper({ presets: declared });
  master = await startMaster({
    agents: { plain, optioned, hidden, always },
    config: { helper: { use: helper.use, isolation: "shared" }, approvals: { preset: "talk" } },
  });
});
afterEach(() => helper.setAuto(PERMISSION, { outcome: { outcome: "ask" } }));
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await helper[Symbol.asyncDispose]();
  for (const agent of [plain, optioned, hidden, always]) await agent[Symbol.asyncDispose]();
});

const writes = { capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true } };
const talk = () => converse(master, { agent: "plain", ...writes });

const approvalsOf = (options: Loose): Loose => options?.find((option: Loose) => option.id === OPTION);
const setPreset = (client: RawClient, sessionId: string, preset: Loose, more: object = {}) =>
  client.request("_acp-master/session/preset", { sessionId, preset, ...more });
/** As above, where it has to work. */
const switchTo = async (talking: Conversation, preset: string): Promise<void> => {
  const answer = await setPreset(talking.client, talking.sessionId, preset, { confirm: true });
  expect(answer.result).toEqual({ preset });
};
const setOption = (client: RawClient, sessionId: string, value: Loose) =>
  client.request("session/set_config_option", { sessionId, configId: OPTION, value });
const presetOf = async (client: RawClient, sessionId: string): Promise<string> => {
  const { sessions } = await client.call("_acp-master/sessions", {});
  return sessions.find((row: Loose) => row.sessionId === sessionId).preset;
};
/** The next update of the session's options that names this preset as the current one. */
const told = (client: RawClient, preset: string) =>
  client.next(
    ({ params }) =>
      params?.update?.sessionUpdate === "config_option_update" &&
      approvalsOf(params.update.configOptions)?.currentValue === preset,
  );

describe("the presets of a session", () => {
  it("are listed as its Helper declared them, for who only reads too", async () => {
    const { sessionId } = await talk();
    const reader = await master.client();
    await reader.initialize({ agent: null, role: "observer" });
    expect(await reader.call("_acp-master/session/presets", { sessionId })).toEqual({
      preset: "talk",
      presets: declared.map(({ value, name, width, ...more }) => ({ value, name, width, confirm: "confirm" in more })),
    });
    const unknown = await reader.request("_acp-master/session/presets", { sessionId: "nobody" });
    expect(unknown.error?.data.reason).toBe("unknown_session");
  });
});

describe("the preset as a config option", () => {
  it("stands at the end of every list of an agent that sends configOptions, and of no other", async () => {
    const client = await master.client();
    await client.initialize({ agent: "optioned" });
    const { sessionId, configOptions } = await client.newSession();
    expect(configOptions).toEqual([own, expect.objectContaining({ id: OPTION, currentValue: "talk" })]);
    expect(configOptions[1].options.map((option: Loose) => option.value)).toEqual(["closed", "look", "talk", "free"]);
    const process = await optioned.process();
    // In updates and in answers of the agent, for those who load, and never towards the agent.
    await process.update(sessionId, { sessionUpdate: "config_option_update", configOptions: [{ ...own, n: 2 }] });
    expect((await told(client, "talk")).message.params.update.configOptions[0].n).toBe(2);
    const set = client.request("session/set_config_option", { sessionId, configId: "verbosity", value: "high" });
    const forwarded = await process.received("session/set_config_option");
    await process.answer(forwarded, { configOptions: [{ ...own, n: 3 }] });
    expect((await set).result.configOptions.map((option: Loose) => option.id)).toEqual(["verbosity", OPTION]);
    const late = await master.client();
    await late.initialize({ agent: null });
    const loaded = await late.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
    expect(loaded.configOptions.map((option: Loose) => option.id)).toEqual(["verbosity", OPTION]);
    expect(process.lines.all.some((line) => line.text.includes(OPTION))).toBe(false);
    const other = await master.client();
    await other.initialize({ agent: "plain", ...writes });
    expect(await other.newSession()).not.toHaveProperty("configOptions");
  });

  it("follows approvalsOption: never shows none, always shows one where the agent sends no options", async () => {
    const client = await master.client();
    await client.initialize({ agent: "hidden" });
    expect((await client.newSession()).configOptions).toEqual([own]);
    const other = await master.client();
    await other.initialize({ agent: "always" });
    const { sessionId, configOptions } = await other.newSession();
    expect(configOptions).toEqual([expect.objectContaining({ id: OPTION, currentValue: "talk" })]);
    await other.call("session/set_config_option", { sessionId, configId: OPTION, value: "look" });
    const late = await master.client();
    await late.initialize({ agent: null });
    const loaded = await late.call("session/load", { sessionId, cwd: master.work, mcpServers: [] });
    expect(approvalsOf(loaded.configOptions).currentValue).toBe("look");
  });

  it("is switched by the editor, by the command line and by the socket, and every client is told each time", async () => {
    const talking = await converse(master, { agent: "optioned" });
    const { client, sessionId } = talking;
    const [second, observer] = [await talking.join(), await talking.join({ role: "observer" })];
    const answer = await setOption(client, sessionId, "look");
    expect(approvalsOf(answer.result.configOptions).currentValue).toBe("look");
    for (const one of [second, observer]) await told(one, "look");
    expect((await master.cli(["preset", sessionId, "talk"])).code).toBe(0);
    for (const one of [client, second, observer]) await told(one, "talk");
    expect((await setPreset(second, sessionId, "closed")).result).toEqual({ preset: "closed" });
    for (const one of [client, second, observer]) {
      await told(one, "closed");
      await one.waitFor(
        ({ method, params }) =>
          method === EVENT && params.type === "session_changed" && params.session.preset === "closed",
      );
    }
    const process = await helper.process();
    for (const preset of ["look", "talk", "closed"]) {
      const heard = await process.received(
        ({ method, params }) => method === "helper/preset" && params.sessionId === sessionId,
      );
      expect(heard.params.preset).toBe(preset);
    }
    const recorded = auditRecords(master).filter((line) => line.type === "preset" && line.sessionId === sessionId);
    expect(recorded.map((line) => line.preset)).toEqual(["look", "talk", "closed"]);
    await talking.settle();
    expect(talking.process.lines.all.some((line) => line.text.includes(OPTION))).toBe(false);
  });
});

describe("a switch", () => {
  it("to the current value succeeds and is not recorded; an unknown one, a wrong type, an observer and an unknown session are refused", async () => {
    const talking = await talk();
    const { client, sessionId } = talking;
    const before = auditRecords(master).length;
    expect((await setPreset(client, sessionId, "talk")).result).toEqual({ preset: "talk" });
    for (const wrong of ["custom", "allow-all", "", 7, null]) {
      expect((await setPreset(client, sessionId, wrong)).error?.code, String(wrong)).toBe(-32602);
      expect((await setOption(client, sessionId, wrong)).error?.code, String(wrong)).toBe(-32602);
    }
    expect((await setPreset(client, "no-such", "look")).error?.data.reason).toBe("unknown_session");
    const observer = await talking.join({ role: "observer" });
    expect((await setPreset(observer, sessionId, "look")).error?.data.reason).toBe("observer");
    expect((await setOption(observer, sessionId, "look")).error?.data.reason).toBe("observer");
    expect((await master.cli(["preset", sessionId, "nope"])).code).toBe(1);
    expect((await master.cli(["preset", "no-such", "look"])).code).toBe(4);
    expect(await presetOf(client, sessionId)).toBe("talk");
    expect(auditRecords(master)).toHaveLength(before);
  });

  it("that widens into a preset with confirm needs the confirmation, and the refusal names the command", async () => {
    const { client, sessionId } = await talk();
    for (const refused of [
      await setPreset(client, sessionId, "free"),
      await setPreset(client, sessionId, "free", { confirm: "yes" }),
      await setOption(client, sessionId, "free"),
    ]) {
      expect(refused.error?.code).toBe(-32602);
      expect(refused.error?.message).toContain(`acp-master preset ${sessionId} free --yes`);
    }
    const without = await master.cli(["preset", sessionId, "free"]);
    expect(without.code).toBe(1);
    expect(without.stderr).toContain("--yes");
    expect(await presetOf(client, sessionId)).toBe("talk");
    expect((await master.cli(["preset", sessionId, "free", "--yes"])).code).toBe(0);
    expect(await presetOf(client, sessionId)).toBe("free");
    // Narrowing is free.
    expect((await setPreset(client, sessionId, "talk")).error).toBeUndefined();
    expect((await setPreset(client, sessionId, "free", { confirm: true })).result).toEqual({ preset: "free" });
  });

  it("to a preset with refuseAll settles what is open, and what is decided after it is refused", async () => {
    const talking = await talk();
    const answers = [talking.ask("t1"), talking.ask("t2")];
    const offers = [await nextOffer(talking.client, "t1"), await nextOffer(talking.client, "t2")];
    await switchTo(talking, "closed");
    for (const answer of answers) expect((await answer).result).toEqual(selected("no"));
    for (const offer of offers) {
      await withdrawal(talking.client, offer);
      expect(await resolvedEvent(talking.client, offer.approvalId)).toMatchObject({
        outcome: { result: "refused" },
        by: { kind: "preset" },
      });
    }
    // A Helper that allows all the same is overruled.
    helper.setAuto(PERMISSION, selected("yes"));
    expect((await talking.ask("t3")).result).toEqual(selected("no"));
    expect(decisions(master).at(-1)).toMatchObject({ outcome: { result: "refused" }, by: { kind: "preset" } });
  });

  it("to a smaller width asks the Helper once more: its refusal settles by preset, anything else leaves it to people", async () => {
    const talking = await talk();
    await switchTo(talking, "free");
    const [refused, left] = [talking.ask("t1"), talking.ask("t2")];
    const offers = [await nextOffer(talking.client, "t1"), await nextOffer(talking.client, "t2")];
    helper.setAuto(PERMISSION, (params: Loose) => selected(params.toolCall.toolCallId === "t2" ? "yes" : "no"));
    await switchTo(talking, "talk");
    expect((await refused).result).toEqual(selected("no"));
    // The Helper answers in order: once t3 is decided, its new answer for t2 has been heard.
    expect((await talking.ask("t3")).result).toEqual(selected("no"));
    expect(await resolvedEvent(talking.client, offers[0]!.approvalId)).toMatchObject({
      outcome: { result: "refused" },
      by: { kind: "preset" },
    });
    // The dialog stays, under the same id.
    await talking.client.expectSilence(
      ({ method, params }) => method === PERMISSION || params?.requestId === offers[1]!.id,
    );
    await answerOffer(talking.client, offers[1]!, selected("yes"));
    expect((await left).result).toEqual(selected("yes"));
  });

  it("to a smaller width makes a person's allow before the Helper's new answer a refusal by preset", async () => {
    const talking = await talk();
    await switchTo(talking, "free");
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client, "t1");
    helper.setAuto(PERMISSION, false);
    await switchTo(talking, "look");
    const process = await helper.process();
    const again = await process.received(
      ({ method, params }) =>
        method === PERMISSION &&
        params.sessionId === talking.sessionId &&
        process.messages.all.filter((one) => one.params?.toolCall && one.params.sessionId === talking.sessionId)
          .length === 2,
    );
    expect(again.params._meta["acp-master"].approvalId).toBe(offer.approvalId);
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("no"));
    expect(await resolvedEvent(talking.client, offer.approvalId)).toMatchObject({
      outcome: { result: "refused" },
      by: { kind: "preset" },
    });
  });

  it("to a greater width settles nothing", async () => {
    const talking = await talk();
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    const process = await helper.process();
    const before = process.count(PERMISSION);
    await switchTo(talking, "free");
    await process.received(
      ({ method, params }) => method === "helper/preset" && params.sessionId === talking.sessionId,
    );
    await talking.settle();
    expect(process.count(PERMISSION)).toBe(before);
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("yes"));
  });
});

const write = (talking: Conversation) =>
  talking.process.request("fs/write_text_file", { sessionId: talking.sessionId, path: "/x", content: "c" });
const terminal = (talking: Conversation) =>
  talking.process.request("terminal/create", { sessionId: talking.sessionId, command: "true" });

describe("refuseWrites", () => {
  it("is enforced by the router for fs/write_text_file and terminal/create, at once, and for nothing else", async () => {
    const talking = await talk();
    talking.client.answer("fs/write_text_file", () => ({}));
    talking.client.answer("fs/read_text_file", () => ({ content: "text" }));
    talking.client.answer("terminal/create", () => ({ terminalId: "term" }));
    expect((await write(talking)).result).toEqual({});
    expect((await terminal(talking)).result).toEqual({ terminalId: "term" });
    for (const preset of ["look", "closed"]) {
      await switchTo(talking, preset);
      for (const refused of [await write(talking), await terminal(talking)]) {
        expect(refused.error?.data.reason).toBe("refused_by_preset");
      }
      const read = { sessionId: talking.sessionId, path: "/x" };
      expect((await talking.process.request("fs/read_text_file", read)).result).toEqual({ content: "text" });
    }
    expect(talking.client.received("fs/write_text_file")).toHaveLength(1);
    expect(talking.client.received("terminal/create")).toHaveLength(1);
    await switchTo(talking, "talk");
    expect((await write(talking)).result).toEqual({});
  });
});

describe("the preset of a session", () => {
  it("survives reconnect and load, and set_mode does not change it", async () => {
    const talking = await talk();
    await switchTo(talking, "look");
    await talking.client.call("session/set_mode", { sessionId: talking.sessionId, modeId: "bypass" });
    await talking.client.close();
    const again = await talking.join();
    expect(await presetOf(again, talking.sessionId)).toBe("look");
  });

  it("that the Helper does not know becomes the entry of least width", async () => {
    await using one = askingAgent({ session: { configOptions: [own] } });
    await using own2 = scriptedHelper({ presets: declared.toReversed() });
    await using other = await startMaster({
      agents: { fake: one },
      config: { helper: { use: own2.use }, approvals: { preset: "allow-everything" } },
    });
    const talking = await converse(other, { agent: "fake", ...writes });
    expect(await presetOf(talking.client, talking.sessionId)).toBe("closed");
    expect((await terminal(talking)).error?.data.reason).toBe("refused_by_preset");
    const process = await own2.process();
    await process.received(({ method, params }) => method === "helper/preset" && params.preset === "closed");
  });
});
