// Field faults of kind capabilities: what is announced is what is served, and nothing is made up.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, Bench } from "../harness/bench.ts";
import { isRequest, type Loose } from "../harness/lines.ts";

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({
    agents: 40,
    named: { single: { definition: { share: "session" }, sessionIds: ["one", "two", "three"] } },
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (cwd: string): Loose => ({ cwd, mcpServers: [] });

/** Each agent request with the capability that it needs, and capabilities that lack only that. */
const gated: [string, Loose, Loose][] = [
  ["fs/read_text_file", { path: "/x" }, { fs: { writeTextFile: true }, terminal: true }],
  ["fs/write_text_file", { path: "/x", content: "" }, { fs: { readTextFile: true }, terminal: true }],
  ["terminal/create", { command: "ls" }, { fs: able.fs }],
  ["terminal/output", { terminalId: "t" }, { fs: able.fs, terminal: false }],
  ["terminal/wait_for_exit", { terminalId: "t" }, { terminal: "yes" }],
  ["terminal/kill", { terminalId: "t" }, { terminal: {} }],
  ["terminal/release", { terminalId: "t" }, {}],
  ["elicitation/create", { mode: "form", message: "m" }, { elicitation: {}, ...able }],
  ["elicitation/create", { mode: "url", url: "u", elicitationId: "e" }, { elicitation: { form: {} } }],
  ["elicitation/create", { mode: "form", message: "m" }, { elicitation: { url: {} } }],
  ["elicitation/create", { mode: "constructor", message: "m" }, { elicitation: { form: {}, url: {} } }],
];

describe("FF-148 foreign capabilities", () => {
  it("serves one client's files and refuses the other's, each in a process that was told the truth", async () => {
    const bay = bench.agent();
    const a = await bay.client({ capabilities: able });
    const b = await bay.client();
    a.answer("fs/read_text_file", ({ path }) => ({ content: path }));
    const [mine, theirs] = [(await a.newSession()).sessionId, (await b.newSession()).sessionId];
    const [first, second] = [await bay.process(0), await bay.process(1)];
    expect((await first.received("initialize")).message.params.clientCapabilities).toEqual(able);
    expect((await second.received("initialize")).message.params.clientCapabilities).toEqual({});
    const refused = await second.request("fs/read_text_file", { sessionId: theirs, path: "/b" });
    expect(refused.error).toMatchObject({ code: -32601, data: { reason: "no_client" } });
    const served = await first.request("fs/read_text_file", { sessionId: mine, path: "/a" });
    expect(served.result).toEqual({ content: "/a" });
    expect(a.received("fs/read_text_file").map((one) => one.params.path)).toEqual(["/a"]);
    await bay.reached(b);
    expect(b.lines.all.filter(({ message }) => isRequest(message))).toEqual([]);
  });

  it("asks only the client that announced it, also when the other one attached to the session", async () => {
    const bay = bench.agent();
    const a = await bay.client({ capabilities: able });
    const { sessionId } = await a.newSession();
    const b = await bay.client();
    await b.call("session/load", { sessionId, ...place(b.cwd) });
    const process = await bay.process();
    a.answer("fs/read_text_file", () => ({ content: "a" }));
    expect((await process.request("fs/read_text_file", { sessionId, path: "/" })).result).toEqual({ content: "a" });
    await bench.leave(a);
    // From now on this host serves it, inside the session's folders only.
    const { error } = await process.request("fs/read_text_file", { sessionId, path: "/" });
    expect(error?.code).toBe(-32603);
    expect(b.received("fs/read_text_file")).toEqual([]);
  });

  it("opens the sessions of a client that only attached in a process that was told its own capabilities", async () => {
    const bay = bench.agent();
    const a = await bay.client({ capabilities: able });
    const { sessionId } = await a.newSession();
    const b = await bay.client();
    await b.call("session/resume", { sessionId, ...place(b.cwd) });
    await b.newSession();
    await b.call("session/load", { sessionId: "known-to-the-agent", ...place(b.cwd) });
    const [first, second] = [await bay.process(0), await bay.process(1)];
    expect([first.count("session/new"), first.count("session/load")]).toEqual([1, 0]);
    expect([second.count("session/new"), second.count("session/load")]).toEqual([1, 1]);
    expect((await second.received("initialize")).message.params.clientCapabilities).toEqual({});
    expect(bay.agent.processes).toHaveLength(2);
  });

  it("shares a process between equal capabilities, however they are spelled", async () => {
    const bay = bench.agent();
    const a = await bay.client({ capabilities: { terminal: true, fs: { readTextFile: true, writeTextFile: true } } });
    const b = await bay.client({ capabilities: { fs: { writeTextFile: true, readTextFile: true }, terminal: true } });
    await Promise.all([a.newSession(), b.newSession()]);
    expect(bay.agent.processes).toHaveLength(1);
    expect((await bay.process()).count("session/new")).toBe(2);
  });

  it.each(gated)(
    "answers %s %j with -32601 to a client's agent when it announced %j",
    async (method, params, lacks) => {
      const bay = bench.agent();
      const client = await bay.client({ capabilities: lacks });
      const { sessionId } = await client.newSession();
      const process = await bay.process();
      const { error } = await process.request(method, { sessionId, ...params });
      expect(error).toMatchObject({ code: -32601, data: { reason: "no_client" } });
      await bay.reached(client);
      expect(client.received(method)).toEqual([]);
    },
  );

  it("follows an elicitation's mode to the client that announced it", async () => {
    const bay = bench.agent();
    const form = await bay.client({ capabilities: { elicitation: { form: {} } } });
    const url = await bay.client({ capabilities: { elicitation: { url: {} } } });
    form.answer("elicitation/create", () => ({ action: "accept", content: { from: "form" } }));
    url.answer("elicitation/create", () => ({ action: "accept", content: { from: "url" } }));
    const { sessionId } = await form.newSession();
    await url.call("session/load", { sessionId, ...place(url.cwd) });
    const process = await bay.process();
    for (const mode of ["url", "form", "url"]) {
      const { result } = await process.request("elicitation/create", { sessionId, mode, message: "m" });
      expect(result.content).toEqual({ from: mode });
    }
  });

  it("gives each client a true answer to initialize", async () => {
    const bay = bench.agent({
      initialize: announcing(
        {
          loadSession: false,
          promptCapabilities: { image: true },
          mcpCapabilities: { http: true, acp: true },
          sessionCapabilities: { list: null, resume: undefined, close: undefined, fork: {}, own: { n: 1 } },
          extra: [1],
        },
        { agentInfo: { name: "told", version: "9" }, authMethods: [{ id: "m", name: "M" }], _meta: { theirs: 1 } },
      ),
    });
    for (const capabilities of [able, {}]) {
      const client = await bench.master.client();
      const answer = await client.initialize({ agent: bay.name, capabilities });
      expect(answer).toEqual({
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true },
          mcpCapabilities: { http: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, fork: {}, own: { n: 1 } },
          extra: [1],
        },
        agentInfo: { name: "told", version: "9" },
        authMethods: [{ id: "m", name: "M" }],
        _meta: { theirs: 1, "acp-master": { version: expect.any(String), clientId: expect.any(String) } },
      });
    }
  });
});

describe("FF-149 fake success", () => {
  it.each(gated.slice(0, 8).map(([method, params]) => [method, params] as const))(
    "hands a client's error for %s to the agent and makes no result up",
    async (method, params) => {
      const bay = bench.agent();
      const client = await bay.client({ capabilities: { ...able, elicitation: { form: {} } } });
      client.answer(method, () => {
        throw Object.assign({ code: -32601, message: `"Method not found": ${method}` });
      });
      const { sessionId } = await client.newSession();
      const process = await bay.process();
      const answer = await process.request(method, { sessionId, ...params });
      expect(answer.error).toEqual({ code: -32601, message: `"Method not found": ${method}` });
      expect(answer.result).toBeUndefined();
    },
  );

  it("hands the agent's error for what it cannot do to the client", async () => {
    const refused = { code: -32601, message: "no" };
    const bay = bench.agent(
      Object.fromEntries(
        ["session/fork", "session/set_mode", "session/set_config_option", "logout", "_x/do"].map((method) => [
          method,
          () => {
            throw Object.assign({}, refused);
          },
        ]),
      ),
    );
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    for (const method of ["session/fork", "session/set_mode", "session/set_config_option", "logout", "_x/do"]) {
      const params = method === "logout" ? {} : { sessionId, modeId: "m", configId: "c", ...place(client.cwd) };
      const answer = await client.request(method, params);
      expect(answer.error, method).toEqual(refused);
    }
  });
});

describe("FF-150 protocol version", () => {
  it.each([2, 0, "1", 1.5, null, undefined])(
    "refuses an agent that answers initialize with version %j",
    async (version) => {
      const { protocolVersion: _, ...rest } = announcing({});
      const bay = bench.agent({ initialize: version === undefined ? rest : { ...rest, protocolVersion: version } });
      const client = await bench.master.client();
      const meta = { _meta: { "acp-master": { agent: bay.name } } };
      const answer = client.request("initialize", { protocolVersion: 1, clientCapabilities: {}, ...meta });
      const process = await bay.process();
      const { error } = await answer;
      expect(error).toMatchObject({ code: -32051, data: { reason: "agent_failed_to_start" } });
      expect(error?.message).toContain("version");
      await process.gone;
      expect(process.lines.all.map((line) => line.message.method)).toEqual(["initialize"]);
    },
  );

  it("asks agents for version 1, whatever the client asked", async () => {
    const bay = bench.agent();
    const client = await bench.master.client();
    expect((await client.initialize({ agent: bay.name, protocolVersion: 99 })).protocolVersion).toBe(1);
    await client.newSession();
    expect((await (await bay.process()).received("initialize")).message.params.protocolVersion).toBe(1);
    const alone = await bench.master.client();
    expect((await alone.initialize({ agent: null, protocolVersion: 2 })).protocolVersion).toBe(1);
  });

  it.each(["1", 0, -1, 1.5, null, undefined, [1], true])(
    "refuses a client that asks for version %j",
    async (version) => {
      const client = await bench.master.client();
      const { error } = await client.request("initialize", { protocolVersion: version, clientCapabilities: {} });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("protocolVersion") });
      expect((await client.initialize({ agent: null })).protocolVersion).toBe(1);
    },
  );
});

const signInFirst = (): never => {
  throw Object.assign({ code: -32000, message: "Sign in first" });
};

/** Keeps a sign-in per process: session/new and prompts need one. */
const needsSignIn = (): Record<string, Loose> => {
  const signedIn = new Set<number>();
  let made = 0;
  return {
    initialize: announcing({}, { authMethods: [{ id: "key", name: "Key" }] }),
    authenticate: ({ methodId }: Loose, process: Loose) => {
      if (methodId !== "key") throw Object.assign({ code: -32602, message: "no such method" });
      signedIn.add(process.pid);
      return {};
    },
    logout: (_: Loose, process: Loose) => {
      signedIn.delete(process.pid);
      return {};
    },
    "session/new": (_: Loose, process: Loose) =>
      signedIn.has(process.pid) ? { sessionId: `signed-${process.pid}-${++made}` } : signInFirst(),
  };
};

describe("FF-151 sign-in", () => {
  it("takes a sign-in to the process of the sessions, once for all its clients", async () => {
    const bay = bench.agent(needsSignIn());
    const a = await bench.master.client();
    const { authMethods } = await a.initialize({ agent: bay.name });
    expect(authMethods).toEqual([{ id: "key", name: "Key" }]);
    const b = await bay.client();
    const newSession = { cwd: a.cwd, mcpServers: [] };
    expect((await a.request("session/new", newSession)).error).toEqual({ code: -32000, message: "Sign in first" });
    expect((await a.request("authenticate", { methodId: "other" })).error?.code).toBe(-32602);
    expect((await a.request("session/new", newSession)).error?.code).toBe(-32000);
    expect(await a.call("authenticate", { methodId: "key" })).toEqual({});
    expect((await a.newSession()).sessionId).toMatch(/^signed-/);
    expect((await b.newSession()).sessionId).toMatch(/^signed-/);
    expect(bay.agent.processes).toHaveLength(1);
    expect((await bay.process()).count("authenticate")).toBe(2);
    await b.call("logout", {});
    expect((await a.request("session/new", newSession)).error?.code).toBe(-32000);
  });

  it("never signs in by itself, also not in a process that it starts again", async () => {
    const bay = bench.agent(needsSignIn());
    const client = await bay.client({ events: true });
    await client.call("authenticate", { methodId: "key" });
    await client.newSession();
    await (await bay.process()).exit(1);
    await client.next((message) => message.params?.type === "agent_exited");
    expect((await client.request("session/new", { cwd: client.cwd, mcpServers: [] })).error?.code).toBe(-32000);
    const second = await bay.process(1);
    expect(second.count("authenticate")).toBe(0);
    await client.call("authenticate", { methodId: "key" });
    expect((await client.newSession()).sessionId).toContain(`${second.pid}`);
  });

  it("signs in where the next session will run when each has a process of its own", async () => {
    const bay = bench.named("single", needsSignIn());
    const client = await bay.client();
    for (const n of [0, 1]) {
      const newSession = { cwd: client.cwd, mcpServers: [] };
      expect((await client.request("session/new", newSession)).error?.code).toBe(-32000);
      await client.call("authenticate", { methodId: "key" });
      const { sessionId } = await client.newSession();
      expect(sessionId).toContain(`${(await bay.process(n)).pid}`);
    }
    expect(bay.agent.processes).toHaveLength(2);
  });

  it("puts one sign-in after the other, and lets none wait for a client that is gone", async () => {
    const bay = bench.agent({ authenticate: false });
    const [a, b, c] = [await bay.client(), await bay.client(), await bay.client()];
    void a.request("authenticate", { methodId: "a" });
    const process = await bay.process();
    const first = await process.received("authenticate");
    const second = b.request("authenticate", { methodId: "b" });
    await bay.reached(b);
    const third = c.request("authenticate", { methodId: "c" });
    await bay.reached(c);
    expect(process.count("authenticate")).toBe(1);
    await process.answer(first, {});
    const next = await process.received("authenticate");
    expect(next.message.params.methodId).toBe("b");
    await bay.reached(c);
    expect(process.count("authenticate")).toBe(2);
    await b.close();
    const last = await process.received("authenticate");
    await process.fail(last, { code: -32001, message: "not today" });
    expect((await third).error).toEqual({ code: -32001, message: "not today" });
    await expect(second).rejects.toThrow();
  });
});
