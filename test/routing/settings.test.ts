// Mode, model and options of a session, the list of sessions, and update kinds: what one client does, the others learn.
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, Bench } from "../harness/bench.ts";
import type { Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 20 });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });
const idsOf = (page: Loose): string[] => page.sessions.map((row: Loose) => row.sessionId);

describe("a setting", () => {
  it("is answered to its setter by the agent, and told to the others once the agent took it", async () => {
    const configOptions = [{ id: "o", type: "select", currentValue: "new", options: [], extra: 9 }];
    const bay = bench.agent({ "session/set_mode": false, "session/set_config_option": { configOptions } });
    const [setter, other] = [await bay.client(), await bay.client()];
    const looker = await bay.client({ role: "observer" });
    const { sessionId } = await setter.newSession();
    for (const client of [other, looker]) await client.call("session/load", { sessionId, ...place() });
    const process = await bay.process();

    const set = setter.request("session/set_mode", { sessionId, modeId: "plan\u00e9", _meta: { n: 1 } });
    const request = await process.received("session/set_mode");
    expect(request.message.params).toEqual({ sessionId, modeId: "plan\u00e9", _meta: { n: 1 } });
    await bay.reached(other);
    expect(other.updates()).toEqual([]);
    await process.answer(request, { _meta: { own: 1 } });
    expect((await set).result).toEqual({ _meta: { own: 1 } });
    const mode = { sessionUpdate: "current_mode_update", currentModeId: "plan\u00e9" };
    const refused = setter.request("session/set_mode", { sessionId, modeId: "never" });
    await process.fail(await process.received("session/set_mode"), { code: -32602, message: "no such mode" });
    expect((await refused).error).toEqual({ code: -32602, message: "no such mode" });

    const answer = await setter.call("session/set_config_option", { sessionId, configId: "o", value: "new" });
    expect(answer).toEqual({ configOptions });
    const options = { sessionUpdate: "config_option_update", configOptions };
    for (const client of [other, looker]) {
      await client.waitFor((message) => message.params?.update?.sessionUpdate === "config_option_update");
      expect(client.updates(sessionId)).toEqual([mode, options]);
    }
    await bay.reached(setter);
    expect(setter.updates()).toEqual([]);
    const late = await bay.client();
    await late.call("session/resume", { sessionId, ...place() });
    await bay.reached(late);
    expect(late.updates()).toEqual([mode, options]);
  });
});

describe("session/fork", () => {
  it("makes a session of its caller alone, beside its source", async () => {
    const bay = bench.agent({
      initialize: announcing({ sessionCapabilities: { fork: {} } }),
      "session/fork": { sessionId: "forked", modes: { currentModeId: "m", availableModes: [] } },
    });
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    await b.call("session/load", { sessionId, ...place() });
    const made = await a.call("session/fork", { sessionId, ...place(), _meta: { "acp-master": {}, t: 1 } });
    expect(made).toEqual({ sessionId: "forked", modes: { currentModeId: "m", availableModes: [] } });
    const process = await bay.process();
    expect((await process.received("session/fork")).message.params).toEqual({ sessionId, ...place(), _meta: { t: 1 } });
    expect((await a.prompt("forked", "x")).result).toEqual({ stopReason: "end_turn" });
    expect((await b.prompt("forked", "x")).error?.data.reason).toBe("not_attached");
    await process.say("forked", "f");
    await process.say(sessionId, "s");
    await b.next((message) => message.params?.update?.content?.text === "s");
    expect(b.text("forked")).toBe("");
    await a.waitFor((message) => message.params?.update?.content?.text === "s");
    expect([a.text("forked"), a.text(sessionId)]).toEqual(["f", "s"]);
    const { error } = await a.request("session/fork", { sessionId, cwd: "rel", mcpServers: [] });
    expect(error?.data.reason).toBe("cwd_not_absolute");
  });
});

describe("session/list", () => {
  it("is what runs here and what the agent lists, each once, page by page under a cursor of the master's", async () => {
    const pages: Record<string, Loose> = {
      "": { sessions: [{ sessionId: "old-1", cwd: "/a", title: "One", _meta: { n: 1 } }], nextCursor: "p 2/ü" },
      "p 2/ü": { sessions: [], nextCursor: "3" },
      "3": { sessions: [{ sessionId: "old-2", cwd: "/b" }], _meta: { last: true } },
    };
    const bay = bench.agent({ "session/list": ({ cursor }: Loose) => pages[cursor ?? ""] });
    const client = await bay.client();
    const live = (await client.newSession()).sessionId;
    const named = (await client.newSession()).sessionId;
    pages[""].sessions.push({ sessionId: named, cwd: client.cwd, title: "Named" });
    for (let walk = 0; walk < 2; walk++) {
      const seen: Loose[] = [];
      let cursor: string | undefined;
      let count = 0;
      do {
        const page: Loose = await client.call("session/list", cursor === undefined ? {} : { cursor });
        seen.push(...page.sessions);
        cursor = page.nextCursor;
        count++;
        if (cursor !== undefined) expect(["p 2/ü", "3"]).not.toContain(cursor);
        else expect(page._meta).toEqual({ last: true });
      } while (cursor !== undefined);
      expect(count).toBe(3);
      expect(seen.map((row) => row.sessionId)).toEqual(["old-1", named, "old-2", live]);
      expect(seen[0]).toEqual({ sessionId: "old-1", cwd: "/a", title: "One", _meta: { n: 1 } });
      expect(seen[1].title).toBe("Named");
      expect(seen[3]).toMatchObject({ cwd: client.cwd });
    }
    // Another walk that meets other rows is another walk.
    pages[""] = { sessions: [] };
    expect(new Set(idsOf(await client.call("session/list", {})))).toEqual(new Set([live, named]));
    for (const cursor of ["p 2/ü", "", 7, {}]) {
      expect((await client.request("session/list", { cursor })).error?.code, JSON.stringify(cursor)).toBe(-32602);
    }
    const error = { code: -32603, message: "no list today" };
    bay.agent.setAuto("session/list", () => {
      throw Object.assign({}, error);
    });
    expect(new Set(idsOf(await client.call("session/list", {})))).toEqual(new Set([live, named]));
  });

  it("FF-161: filters by the folder, however it is spelled, and passes the spelling on", async () => {
    const real = join(realpathSync(bench.master.work), "real");
    const alias = join(bench.master.work, "alias");
    mkdirSync(join(real, "p"), { recursive: true });
    symlinkSync(real, alias);
    const bay = bench.agent({
      "session/list": {
        sessions: [
          { sessionId: "old-there", cwd: join(alias, "p") },
          { sessionId: "old-elsewhere", cwd: real },
          { sessionId: "old-nowhere" },
        ],
      },
    });
    const client = await bay.client();
    const there = (await client.newSession({ cwd: join(alias, "p") })).sessionId;
    const elsewhere = (await client.newSession()).sessionId;
    const process = await bay.process();
    expect((await process.received("session/new")).message.params.cwd).toBe(join(alias, "p"));
    for (const cwd of [join(real, "p"), join(alias, "p"), `${real}/../real/p/`]) {
      const listed = idsOf(await client.call("session/list", { cwd }));
      expect(new Set(listed)).toEqual(new Set([there, "old-there", "old-nowhere"]));
      expect(listed).toHaveLength(3);
      expect((await process.received("session/list")).message.params).toEqual({ cwd });
      const rows = await client.call("_acp-master/sessions", { cwd });
      expect(idsOf(rows)).toEqual([there]);
    }
    expect(idsOf(await client.call("session/list", {}))).toContain(elsewhere);
    expect(idsOf(await client.call("session/list", { cwd: "/not/there" }))).toEqual(["old-nowhere"]);
  });

  it("shows a client its own agent's sessions, one without an agent all that run, and starts no agent", async () => {
    const [one, two] = [bench.agent(), bench.agent()];
    const a = await one.client();
    const b = await two.client();
    const [mine, theirs] = [(await a.newSession()).sessionId, (await b.newSession()).sessionId];
    expect(idsOf(await a.call("session/list", {}))).toEqual([mine]);
    const all = await bench.master.client();
    await all.initialize({ agent: null });
    const listed = idsOf(await all.call("session/list", {}));
    expect(listed).toEqual(expect.arrayContaining([mine, theirs]));
    await (await one.process()).exit();
    expect(idsOf(await a.call("session/list", {}))).toEqual([mine]);
    expect(one.agent.processes).toHaveLength(1);
  });
});

describe("an update kind", () => {
  const optional: [string, Loose, Loose][] = [
    ["notice", { session: { notices: {} } }, {}],
    ["compaction_update", { session: { compaction: {} } }, {}],
    ["compaction_summary_chunk", { session: { compaction: true } }, {}],
    ["plan_update", { plan: {} }, {}],
    ["plan_removed", { plan: true }, {}],
    ["subagent_update", { subagents: {} }, { sessionId: "kid" }],
    ["session_message", { subagents: {} }, {}],
    ["session_message_chunk", { subagents: {} }, {}],
  ];

  it("that has to be announced goes to the clients that announced it, live and in a replay", async () => {
    const bay = bench.agent();
    const all = Object.assign({}, ...optional.map(([, capabilities]) => capabilities), {
      session: { notices: {}, compaction: {} },
    });
    const maker = await bay.client({ capabilities: all });
    const { sessionId } = await maker.newSession();
    const clients: [RawClient, Loose][] = [[maker, all]];
    const join = async (): Promise<void> => {
      for (const capabilities of [
        {},
        all,
        { session: { notices: {}, compaction: false } },
        { plan: {} },
        { subagents: {} },
        { session: { compaction: {} } },
      ]) {
        const client = await bay.client({ capabilities });
        await client.call("session/load", { sessionId, ...place() });
        clients.push([client, capabilities]);
      }
    };
    await join();
    const process = await bay.process();
    for (const [sessionUpdate, , more] of optional) await process.update(sessionId, { sessionUpdate, ...more, n: 1 });
    await process.say("kid", "below");
    await process.say(sessionId, "end");
    await maker.waitFor((message) => message.params?.update?.content?.text === "end");
    await join();
    for (const [client, capabilities] of clients) {
      await client.waitFor((message) => message.params?.update?.content?.text === "end");
      const { session = {}, plan, subagents } = capabilities;
      const expected = [
        ...(session.notices ? ["notice"] : []),
        ...(session.compaction ? ["compaction_update", "compaction_summary_chunk"] : []),
        ...(plan ? ["plan_update", "plan_removed"] : []),
        ...(subagents ? ["subagent_update", "session_message", "session_message_chunk", "agent_message_chunk"] : []),
        "agent_message_chunk",
      ];
      const seen = client.updates().map((one) => one.sessionUpdate);
      expect(seen, JSON.stringify(capabilities)).toEqual(expected);
    }
  });
});

describe("a session below another one", () => {
  it("belongs to the clients of the one above, answers included, and ends with it", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const capabilities = { subagents: {}, fs: { readTextFile: true } };
    const [a, b, stranger] = [
      await bay.client({ capabilities }),
      await bay.client({ capabilities }),
      await bay.client({ capabilities }),
    ];
    const { sessionId } = await a.newSession();
    await b.call("session/load", { sessionId, ...place() });
    await stranger.newSession();
    const process = await bay.process();
    const turn = a.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    const kid = `${sessionId}/kid`;
    const grandkid = `${sessionId}/kid/kid`;
    await process.update(sessionId, { sessionUpdate: "subagent_update", sessionId: kid });
    await process.update(kid, { sessionUpdate: "subagent_update", sessionId: grandkid });
    a.answer("fs/read_text_file", ({ sessionId: named }) => ({ content: named }));
    for (const below of [kid, grandkid]) {
      await process.say(below, `by ${below}`);
      const { result } = await process.request("fs/read_text_file", { sessionId: below, path: "/" });
      expect(result.content).toBe(below);
      const asked = process.askPermission(below);
      const offer = await b.next("session/request_permission");
      expect(offer.message.params.sessionId).toBe(below);
      await b.send({
        jsonrpc: "2.0",
        id: offer.message.id,
        result: { outcome: { outcome: "selected", optionId: "yes" } },
      });
      expect((await asked).result.outcome.optionId).toBe("yes");
      await b.waitFor((message) => message.params?.update?.content?.text === `by ${below}`);
      expect(b.text(below)).toBe(`by ${below}`);
    }
    const open = process.askPermission(kid);
    await b.next("session/request_permission");
    await a.notify("session/cancel", { sessionId });
    expect((await open).result.outcome).toEqual({ outcome: "cancelled" });
    await process.answer(prompt, { stopReason: "cancelled" });
    await turn;
    await b.call("session/close", { sessionId });
    await a.call("session/close", { sessionId });
    await process.received("session/close");
    const { error } = await process.request("fs/read_text_file", { sessionId: kid, path: "/" });
    expect(error?.data.reason).toBe("unknown_session");
    expect((await process.askPermission(kid)).result.outcome.optionId).toBe("no");
    await bay.reached(stranger);
    expect(stranger.lines.all.filter(({ message }) => message.method !== undefined)).toEqual([]);
  });

  it("is one of so many at a time: the oldest are nobody's, and the others are as before", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: { subagents: {} } });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const kid = (n: number): string => `${sessionId}/${n}`;
    const announced = Array.from({ length: 1025 }, (_, n) => ({
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId, update: { sessionUpdate: "subagent_update", sessionId: kid(n) } },
    }));
    await process.sendRaw(announced.map((message) => `${JSON.stringify(message)}\n`).join(""));
    for (const n of [0, 1, 1024]) await process.say(kid(n), "here");
    await client.waitFor((message) => message.params?.sessionId === kid(1024));
    expect([0, 1, 1024].map((n) => client.text(kid(n)))).toEqual(["", "here", "here"]);
    expect((await process.askPermission(kid(0))).result.outcome.optionId).toBe("no");
    expect(client.received("session/request_permission")).toEqual([]);
  });

  it("has a state of its own, which is not shown as the state of the one above", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: { subagents: {} } });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const kid = `${sessionId}/kid`;
    await process.update(sessionId, { sessionUpdate: "session_info_update", title: "above" });
    await process.update(sessionId, { sessionUpdate: "subagent_update", sessionId: kid });
    await process.update(kid, { sessionUpdate: "session_info_update", title: "below" });
    await process.update(kid, { sessionUpdate: "current_mode_update", currentModeId: "below" });
    await client.waitFor((message) => message.params?.update?.currentModeId === "below");
    expect(client.updates(kid)).toHaveLength(2);
    const late = await bay.client({ capabilities: { subagents: {} } });
    await late.call("session/resume", { sessionId, ...place() });
    await bay.reached(late);
    expect(late.updates().map((update) => update.title)).toEqual(["above"]);
  });
});
