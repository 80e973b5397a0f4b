// Field faults of kind routing: every message reaches those whom it concerns, and nobody else.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bench, chunk } from "../harness/bench.ts";
import { isResponse, type Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";

const able = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {}, url: {} },
};

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({
    agents: 32,
    named: { twin1: { sessionIds: ["s1"] }, twin2: { sessionIds: ["s1"] } },
    config: { limits: { clientSeconds: 1 } },
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

const textsOf = (client: RawClient): string => client.lines.all.map((line) => line.text).join("\n");

describe("FF-29 echo-direction", () => {
  it("takes notifications and answers of a client to the agent and never back", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: able });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");

    const asked = process.askPermission(sessionId);
    const offer = await client.next("session/request_permission");
    await client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "yes" } },
    });
    expect((await asked).result).toEqual({ outcome: { outcome: "selected", optionId: "yes" } });

    const read = process.request("fs/read_text_file", { sessionId, path: "/x" });
    const question = await client.next("fs/read_text_file");
    await client.send({ jsonrpc: "2.0", id: question.message.id, error: { code: -32099, message: "own", data: [1] } });
    expect((await read).error).toEqual({ code: -32099, message: "own", data: [1] });

    await client.notify("_x/told", { sessionId, n: 1 });
    await client.notify("_x/told", { n: 2 });
    expect((await process.received("_x/told")).message.params).toEqual({ sessionId, n: 1 });
    expect((await process.received("_x/told")).message.params).toEqual({ n: 2 });
    await client.notify("session/cancel", { sessionId });
    await process.received("session/cancel");
    await process.answer(prompt, { stopReason: "cancelled" });
    expect((await turn).result).toEqual({ stopReason: "cancelled" });

    await bay.reached(client);
    const sent = new Set<unknown>([offer.message.id, question.message.id]);
    const echoes = client.lines.all.filter(
      ({ message }) =>
        ["session/cancel", "_x/told", "$/cancel_request"].includes(message.method ?? "") ||
        (isResponse(message) && sent.has(message.id)),
    );
    expect(echoes.map((line) => line.text)).toEqual([]);
  });

  it("takes requests, notifications and answers of the agent to the client and never back", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: able });
    client.answer("_x/ask", () => ({ got: true }));
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    await process.notify("_x/hello", { sessionId });
    expect((await process.request("_x/ask", { sessionId })).result).toEqual({ got: true });
    await client.next("_x/hello");
    await process.answer(prompt, { stopReason: "end_turn" });
    await turn;
    await bay.reached(client);
    expect(process.count("_x/hello")).toBe(0);
    expect(process.count("_x/ask")).toBe(0);
    expect(process.lines.all.filter(({ message }) => isResponse(message) && message.id === prompt.message.id)).toEqual(
      [],
    );
  });
});

describe("FF-30 broadcast-leak", () => {
  it("shows nothing of one client's session to another client of the same process", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const [a, b] = [await bay.client({ capabilities: able }), await bay.client({ capabilities: able })];
    const mine = (await a.newSession()).sessionId;
    const theirs = (await b.newSession()).sessionId;
    const process = await bay.process();
    a.answer("fs/read_text_file", () => ({ content: "canary" }));
    a.answer("terminal/create", () => ({ terminalId: "canary" }));
    a.answer("elicitation/create", () => ({ action: "decline" }));
    a.answer("_x/ask", () => ({ canary: 1 }));
    a.answer("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "no" } }));
    const turn = a.prompt(mine, "canary");
    const prompt = await process.received("session/prompt");
    for (const sessionUpdate of ["agent_message_chunk", "agent_thought_chunk", "plan", "canary_update"]) {
      await process.update(mine, { sessionUpdate, content: { type: "text", text: "canary" }, entries: [] });
    }
    await process.update(mine, { sessionUpdate: "tool_call", toolCallId: "canary", title: "canary" });
    await process.update(mine, { sessionUpdate: "current_mode_update", currentModeId: "canary" });
    await process.update(mine, { sessionUpdate: "usage_update", used: 1, size: 2, canary: 1 });
    await process.notify("_x/hello", { sessionId: mine, canary: 1 });
    await process.askPermission(mine, { toolCall: { toolCallId: "canary-2", title: "canary" } });
    await process.request("fs/read_text_file", { sessionId: mine, path: "/canary" });
    await process.request("terminal/create", { sessionId: mine, command: "canary" });
    await process.request("elicitation/create", { sessionId: mine, mode: "form", message: "canary" });
    await process.request("_x/ask", { sessionId: mine, canary: 1 });
    await process.answer(prompt, { stopReason: "end_turn" });
    await turn;
    // Whatever was meant for B before this has arrived with it.
    await process.say(theirs, "own");
    await b.next((message) => message.params?.update?.content?.text === "own");
    await bay.reached(b);
    expect(textsOf(b)).not.toContain("canary");
    expect(textsOf(b)).not.toContain(`"${mine}"`);
    expect(a.updates(mine)).toHaveLength(7);
    expect(textsOf(a)).not.toContain(`"${theirs}"`);
  });
});

describe("FF-31 agent-requests-unrouted", () => {
  it("takes each agent request to the owner of its session and the answer back under the agent's id", async () => {
    const bay = bench.agent();
    const owner = await bay.client({ capabilities: able });
    const other = await bay.client({ capabilities: able });
    const { sessionId } = await owner.newSession();
    await other.newSession();
    const process = await bay.process();
    const requests: [string, Loose, Loose][] = [
      [
        "session/request_permission",
        {
          toolCall: { toolCallId: "t", title: "T", rawInput: { n: 9 } },
          options: [
            { optionId: "go", name: "Go", kind: "allow_once" },
            { optionId: "stop", name: "Stop", kind: "reject_once" },
          ],
        },
        { outcome: { outcome: "selected", optionId: "stop" } },
      ],
      ["fs/read_text_file", { path: "/a", line: 3, limit: 4 }, { content: "å\u2028" }],
      ["fs/write_text_file", { path: "/b", content: "text" }, {}],
      ["terminal/create", { command: "ls", args: ["-l"], cwd: "/" }, { terminalId: "term-1" }],
      ["terminal/output", { terminalId: "term-1" }, { output: "o", truncated: false }],
      ["terminal/wait_for_exit", { terminalId: "term-1" }, { exitCode: 0, signal: null }],
      ["terminal/kill", { terminalId: "term-1" }, null],
      ["terminal/release", { terminalId: "term-1" }, {}],
      ["elicitation/create", { mode: "form", message: "M", requestedSchema: {} }, { action: "accept", content: {} }],
      ["_vendor/ask", { deep: [{ x: 1 }] }, [1, null]],
      ["session/foo", {}, "text"],
    ];
    const ids: (string | number)[] = [0, "", "0", -7, 9007199254740991, "a-b", "\u00fc", 12, 13, 14, 15];
    for (const [n, [method, params, result]] of requests.entries()) {
      const answered = process.request(method, { sessionId, ...params }, ids[n]);
      const { message } = await owner.next(method);
      const { _meta, ...shown } = message.params;
      expect(shown).toEqual({ sessionId, ...params });
      await owner.send({ jsonrpc: "2.0", id: message.id, result });
      const answer = await answered;
      expect(answer.id).toBe(ids[n]);
      expect(answer.result).toEqual(result);
    }
    await bay.reached(other);
    expect(other.lines.all.filter(({ message }) => message.method !== undefined)).toEqual([]);
  });

  it("answers at once what nobody can take", async () => {
    const bay = bench.agent();
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    for (const method of ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create"]) {
      const { error } = await process.request(method, { sessionId, mode: "form" }, undefined, 900);
      expect(error).toMatchObject({ code: -32601, data: { reason: "no_client" } });
    }
    for (const method of ["fs/read_text_file", "terminal/output", "_vendor/x", "elicitation/create"]) {
      const { error } = await process.request(method, { sessionId: "nobody" }, undefined, 900);
      expect(error?.data.reason).toBe("unknown_session");
    }
    expect((await process.askPermission("nobody", { deadlineMs: 900 })).result).toEqual({
      outcome: { outcome: "selected", optionId: "no" },
    });
    await bay.reached(client);
    expect(client.lines.all.filter(({ message }) => message.method !== undefined)).toEqual([]);
  });
});

describe("FF-32 unknown-request-no-answer", () => {
  it.each([
    ["_vendor/drain", true],
    ["_vendor/drain", false],
    ["session/foo", true],
    ["fs/read_text_file", true],
    ["terminal/create", true],
  ])("ends a silent wait for %s (with a session: %s) with an error, and the turn goes on", async (method, named) => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: able });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    const began = performance.now();
    const { error } = await process.request(method, named ? { sessionId } : {}, undefined, 5000);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(error?.code).not.toBe(-32000);
    expect(error?.message).toContain(method);
    const { message } = await client.next(method);
    // Its late answer is nobody's any more.
    await client.next((each) => each.method === "$/cancel_request" && each.params.requestId === message.id);
    await client.send({ jsonrpc: "2.0", id: message.id, result: { late: true } });
    await bay.reached(client);
    expect(process.lines.all.some((line) => line.text.includes('"late"'))).toBe(false);
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
  });

  it("answers -32601 at once when no client could take the method, and lets a permission wait", async () => {
    const bay = bench.agent();
    const client = await bay.client();
    const looker = await bay.client({ role: "observer" });
    const { sessionId } = await client.newSession();
    await looker.call("session/load", { sessionId, cwd: client.cwd, mcpServers: [] });
    const process = await bay.process();
    const asked = process.askPermission(sessionId, { deadlineMs: 6000 });
    await client.next("session/request_permission");
    const silent = process.request("_vendor/drain", { sessionId }, undefined, 5000);
    expect((await silent).error?.data.reason).toBe("no_client");
    expect(await client.call("_acp-master/approvals", { sessionId })).toMatchObject({ approvals: [{ sessionId }] });
    await bench.leave(client);
    const { error } = await process.request("_vendor/drain", { sessionId }, undefined, 900);
    expect(error).toMatchObject({ code: -32601, data: { reason: "no_client" } });
    expect(looker.received("_vendor/drain")).toEqual([]);
    await process.exit();
    await expect(asked).rejects.toThrow("ended");
  });
});

describe("FF-33 session-id-collision", () => {
  it("keeps two agents apart that give the same id, under two ids of the outside", async () => {
    const bays = [bench.named("twin1", { "session/prompt": false }), bench.named("twin2", { "session/prompt": false })];
    const clients = [await bays[0]!.client({ capabilities: able }), await bays[1]!.client({ capabilities: able })];
    const ids = [(await clients[0]!.newSession()).sessionId, (await clients[1]!.newSession()).sessionId];
    expect(ids).toEqual(["s1", "s1~2"]);
    for (const n of [0, 1]) {
      const [client, other] = [clients[n]!, clients[1 - n]!];
      const process = await bays[n]!.process();
      const turn = client.prompt(ids[n], `to ${n}`);
      const prompt = await process.received("session/prompt");
      expect(prompt.message.params).toEqual({ sessionId: "s1", prompt: [{ type: "text", text: `to ${n}` }] });
      await process.say("s1", `from ${n}`);
      const asked = process.askPermission("s1");
      const offer = await client.next("session/request_permission");
      expect(offer.message.params.sessionId).toBe(ids[n]);
      await client.send({
        jsonrpc: "2.0",
        id: offer.message.id,
        result: { outcome: { outcome: "selected", optionId: n === 0 ? "yes" : "no" } },
      });
      expect((await asked).result.outcome.optionId).toBe(n === 0 ? "yes" : "no");
      await process.answer(prompt, { stopReason: "end_turn" });
      await turn;
      expect(client.text(ids[n])).toBe(`from ${n}`);
      expect(textsOf(other)).not.toContain(`from ${n}`);
    }
  });
});

describe("FF-34 no-fanout", () => {
  it("gives every attached client the same updates in the same order", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const b = await bay.client();
    const c = await bay.client({ role: "observer" });
    const { sessionId } = await a.newSession();
    for (const client of [b, c]) await client.call("session/load", { sessionId, cwd: a.cwd, mcpServers: [] });
    const process = await bay.process();
    const turn = a.prompt(sessionId, "asked");
    const prompt = await process.received("session/prompt");
    for (let n = 0; n < 200; n++)
      await process.update(sessionId, n % 7 === 0 ? { sessionUpdate: `k${n}` } : chunk(`${n},`));
    await process.answer(prompt, { stopReason: "end_turn" });
    await turn;
    for (const client of [b, c]) {
      await client.waitFor((message) => message.params?.update?.content?.text === "199,");
      const [echo, ...rest] = client.updates(sessionId);
      expect(echo).toEqual({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "asked" } });
      expect(rest).toEqual(a.updates(sessionId));
    }
    expect(a.updates(sessionId)).toHaveLength(200);
  });
});

describe("FF-35 unknown-update-kind", () => {
  it("passes kinds, members and notifications that it does not know as the bytes they are", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const turn = client.prompt(sessionId, "go");
    const prompt = await process.received("session/prompt");
    const lines = [
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"usage_update","used":9007199254740993,"size":1.0,"new":{"a":[null]}},"more":-0}}`,
      `{ "method":"session/update" ,"params":{"update":{"x":1,"sessionUpdate":"never_heard_of"},"sessionId":"${sessionId}"},"jsonrpc":"2.0"}`,
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"no":"kind"}}}`,
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}"}}`,
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":7}}}`,
      `{"jsonrpc":"2.0","method":"_x/hello","params":{"sessionId":"${sessionId}","n":1e400}}`,
      `{"jsonrpc":"2.0","method":"_x/hello","params":{"list":[1,2]}}`,
      `{"jsonrpc":"2.0","method":"session/later","params":{"sessionId":"${sessionId}"}}`,
      `{"jsonrpc":"2.0","method":"_x/bare"}`,
    ];
    for (const line of lines) await process.sendRaw(`${line}\n`);
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    const got = client.lines.all.filter(({ message }) => message.method !== undefined).map((line) => line.text);
    expect(got).toEqual(lines);
  });
});

describe("FF-38 own-error-32000", () => {
  it("never signs a fault of its own with the code that starts a sign-in", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const fresh = await bench.master.client();
    const client = await bay.client();
    const stranger = await bay.client();
    const looker = await bay.client({ role: "observer" });
    const { sessionId } = await client.newSession();
    const place = { cwd: client.cwd, mcpServers: [] };
    await looker.call("session/load", { sessionId, ...place });
    const prompt = { sessionId, prompt: [] };
    const cases: [RawClient, string, Loose, number, RegExp, string?][] = [
      [fresh, "session/prompt", prompt, -32600, /initialize/],
      [fresh, "session/new", place, -32600, /initialize/],
      [fresh, "initialize", {}, -32602, /protocolVersion/],
      [fresh, "initialize", { protocolVersion: 0 }, -32602, /protocolVersion/],
      [
        fresh,
        "initialize",
        { protocolVersion: 1, _meta: { "acp-master": { agent: "nope" } } },
        -32050,
        /nope/,
        "unknown_agent",
      ],
      [client, "initialize", { protocolVersion: 1 }, -32600, /already/],
      [client, "session/prompt", { sessionId: "none", prompt: [] }, -32053, /no such session/, "unknown_session"],
      [client, "session/set_mode", { sessionId: "none" }, -32053, /no such session/, "unknown_session"],
      [client, "session/close", { sessionId: "none" }, -32053, /no such session/, "unknown_session"],
      [client, "session/prompt", { sessionId }, -32602, /prompt/],
      [client, "session/load", place, -32602, /sessionId/],
      [client, "session/new", { cwd: "here", mcpServers: [] }, -32602, /absolute/, "cwd_not_absolute"],
      [client, "session/new", { mcpServers: [] }, -32602, /cwd/, "cwd_not_absolute"],
      [client, "session/new", { cwd: "/not/there", mcpServers: [] }, -32602, /\/not\/there/, "cwd_missing"],
      [client, "session/list", { cursor: "§" }, -32602, /cursor/],
      [stranger, "session/prompt", prompt, -32055, /attached/, "not_attached"],
      [looker, "session/prompt", prompt, -32056, /looks on/, "observer"],
      [looker, "session/new", place, -32056, /looks on/, "observer"],
      [looker, "authenticate", { methodId: "m" }, -32056, /looks on/, "observer"],
      [client, "_acp-master/nothing", {}, -32601, /_acp-master\/nothing/],
      [client, "_acp-master/session/cancel", { sessionId: "none" }, -32053, /session/, "unknown_session"],
    ];
    for (const [who, method, params, code, message, reason] of cases) {
      const { error } = await who.request(method, params);
      expect(error, `${method} ${JSON.stringify(params)}`).toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
      expect(error?.data?.reason).toBe(reason);
    }
  });

  it("tells a full queue as busy", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    const turns = Array.from({ length: 17 }, (_, n) => client.prompt(sessionId, `${n}`));
    const { error } = await client.prompt(sessionId, "one too many");
    expect(error).toMatchObject({ code: -32057, data: { reason: "busy" }, message: expect.stringContaining("16") });
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    await client.notify("session/cancel", { sessionId });
    await process.received("session/cancel");
    await process.answer(prompt, { stopReason: "cancelled" });
    for (const turn of turns) expect((await turn).result).toEqual({ stopReason: "cancelled" });
    expect(process.count("session/prompt")).toBe(1);
  });

  it("passes the agent's own -32000 on as it is", async () => {
    const bay = bench.agent({ "session/new": false });
    const client = await bay.client();
    const made = client.request("session/new", { cwd: client.cwd, mcpServers: [] });
    const process = await bay.process();
    const data = { authMethods: ["x"], n: 1 };
    await process.fail(await process.received("session/new"), { code: -32000, message: "Sign in first", data });
    expect((await made).error).toEqual({ code: -32000, message: "Sign in first", data });
  });
});

describe("FF-39 null-result", () => {
  it("forwards null as the success it is, and the session works", async () => {
    const bay = bench.agent({ "session/load": null, "session/resume": null, "session/set_mode": null });
    const client = await bay.client();
    const place = { cwd: client.cwd, mcpServers: [] };
    for (const [method, sessionId] of [
      ["session/load", "old-1"],
      ["session/resume", "old-2"],
    ] as const) {
      const answer = await client.request(method, { sessionId, ...place });
      expect(answer).toEqual({ jsonrpc: "2.0", id: answer.id, result: null });
      expect((await client.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
      expect(await client.call("session/set_mode", { sessionId, modeId: "m" })).toBeNull();
      const second = await bay.client();
      expect((await second.request("session/load", { sessionId, ...place })).result).toBeNull();
      expect((await second.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
    }
  });

  it.each(["session/prompt", "authenticate", "_x/do", "session/close"])("forwards a null for %s", async (method) => {
    const bay = bench.agent({ [method]: null });
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    if (method === "session/close") await client.prompt(sessionId, "a turn");
    const params = method === "authenticate" ? { methodId: "m" } : { sessionId, prompt: [] };
    expect((await client.request(method, params)).result).toBeNull();
  });

  it("hands a client's null to the agent", async () => {
    const bay = bench.agent();
    const client = await bay.client({ capabilities: able });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    for (const method of ["fs/write_text_file", "terminal/kill", "_x/ask"]) {
      const answered = process.request(method, { sessionId, terminalId: "t" });
      const { message } = await client.next(method);
      await client.send({ jsonrpc: "2.0", id: message.id, result: null });
      expect(await answered).toMatchObject({ result: null });
    }
  });
});

describe("FF-40 second-connection-crash", () => {
  it("survives fifty connects and drops of two clients at once, with a third that goes on", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const steady = await bay.client();
    const { sessionId } = await steady.newSession();
    const turn = steady.prompt(sessionId, "go");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const { pid } = bench.master;
    const cycle = async (n: number): Promise<void> => {
      const client = await bench.master.client();
      if (n % 4 === 0) await client.send("no json");
      else if (n % 4 === 1)
        void client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } });
      else await client.initialize({ agent: bay.name });
      if (n % 4 === 3) await client.request("session/load", { sessionId, cwd: steady.cwd, mcpServers: [] });
      await client.close();
    };
    for (let n = 0; n < 25; n++) await Promise.all([cycle(n), cycle(n + 2)]);
    const last = await bay.client();
    expect(await last.call("_acp-master/status", {})).toMatchObject({ pid });
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
  });
});

describe("FF-41 foreign-session", () => {
  it("lets nobody act on a session by naming its id", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const a = await bay.client();
    const b = await bay.client();
    const { sessionId } = await a.newSession();
    const own = (await b.newSession()).sessionId;
    const turn = a.prompt(sessionId, "go");
    const process = await bay.process();
    const prompt = await process.received("session/prompt");
    const before = process.lines.all.length;

    const acts: [string, Loose][] = [
      ["session/prompt", { prompt: [] }],
      ["session/set_mode", { modeId: "m" }],
      ["session/set_model", { modelId: "m" }],
      ["session/set_config_option", { configId: "c", value: "v" }],
      ["session/set_config_option", { configId: "acp-master.approvals", value: "allow-all" }],
      ["session/close", {}],
      ["session/delete", {}],
      ["session/fork", { cwd: a.cwd, mcpServers: [] }],
      ["session/status", {}],
      ["_x/do", {}],
    ];
    for (const [method, params] of acts) {
      const { error, result } = await b.request(method, { sessionId, ...params });
      expect(result).toBeUndefined();
      expect(error?.data.reason, method).toBe(method === "session/delete" ? "busy" : "not_attached");
    }
    await b.notify("session/cancel", { sessionId });
    await b.notify("_x/told", { sessionId });
    await b.notify("$/cancel_request", { requestId: 3 });
    await bay.reached(b);
    const seen = process.lines.all.slice(before).filter(({ message }) => message.method !== "_bench/ping");
    expect(seen.map((line) => line.text)).toEqual([]);

    await process.say(sessionId, "on");
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result).toEqual({ stopReason: "end_turn" });
    expect(a.text(sessionId)).toBe("on");
    // Attached by the rules it may.
    await b.call("session/load", { sessionId, cwd: b.cwd, mcpServers: [] });
    expect(await b.call("session/set_mode", { sessionId, modeId: "m" })).toEqual({});
    expect(own).not.toBe(sessionId);
  });

  it("gives a detached client no more rights than any other", async () => {
    const bay = bench.agent();
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    await b.call("session/resume", { sessionId, cwd: b.cwd, mcpServers: [] });
    await a.call("session/close", { sessionId });
    expect((await a.prompt(sessionId, "x")).error?.data.reason).toBe("not_attached");
    expect((await b.prompt(sessionId, "x")).result).toEqual({ stopReason: "end_turn" });
  });
});
