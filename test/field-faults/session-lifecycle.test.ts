// Field faults of kind session-lifecycle: sessions are opened once, belong to who asked for them, stay in their process, and
// end only when somebody ends them.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announcing, type Bay, Bench, chunk } from "../harness/bench.ts";
import { eventually } from "../harness/events.ts";
import type { Line, Loose } from "../harness/lines.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const done = { stopReason: "end_turn" };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({
    agents: 60,
    named: {
      alone: { definition: { share: "session" }, sessionIds: ["alone-1", "alone-2", "alone-3"] },
      storing: { capabilities: { loadSession: true, sessionCapabilities: {} }, sessionIds: ["stored"] },
    },
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (cwd = bench.master.work): Loose => ({ cwd, mcpServers: [] });
const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const said = (sessionId: string, text: string): string =>
  line({ method: "session/update", params: { sessionId, update: chunk(text) } });
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Which texts and answers the client got, in order. */
const heard = (client: RawClient, from = 0): string[] =>
  client.lines.all
    .slice(from)
    .map(
      ({ message }) => message.params?.update?.content?.text ?? message.method ?? (message.error ? "error" : "answer"),
    );

/** The row of the session that people see. */
async function rowOf(client: RawClient, sessionId: string): Promise<Loose> {
  const { sessions } = await client.call("_acp-master/sessions", {});
  return sessions.find((row: Loose) => row.sessionId === sessionId);
}

/** What is kept on disk of the session with this text in it. */
function keptFrames(text: string): string[] {
  const sessions = join(bench.master.home, "state", "sessions");
  return readdirSync(sessions)
    .map((folder) => join(sessions, folder, "journal.ndjson"))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8").split("\n").slice(0, -1))
    .filter((lines) => lines.some((one) => one.includes(text)))
    .flat();
}

describe("FF-94: history that an agent replays while it loads", () => {
  it.each([
    ["in one chunk with the answer, 3000 frames", 3000, undefined],
    ["in small pieces", 30, 50],
  ])("comes before the answer, all of it, %s", async (_, total, size) => {
    const bay = bench.agent({ "session/load": false });
    const client = await bay.client();
    const opened = client.call("session/load", { sessionId: bay.name, ...place() });
    const process = await bay.process();
    const { message } = await process.received("session/load");
    const replay = upTo(total).map((n) => said(bay.name, `${n}`));
    await process.sendRaw([...replay, line({ id: message.id, result: null }), said(bay.name, "live")].join(""), size);
    expect(await opened).toBeNull();
    await client.waitFor(({ params }) => params?.update?.content?.text === "live");
    expect(heard(client, 1)).toEqual([...upTo(total).map(String), "answer", "live"]);
  });

  it("is no history when the load fails: what comes later is nobody's, and the next load shows only its own", async () => {
    const bay = bench.agent({ "session/load": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const first = a.request("session/load", { sessionId: bay.name, ...place() });
    const process = await bay.process();
    const failing = await process.received("session/load");
    for (const n of upTo(3)) await process.say(bay.name, `failed ${n}`);
    await process.fail(failing, { code: -32002, message: "gone" });
    expect((await first).error?.message).toBe("gone");
    const from = a.lines.all.length;
    await process.say(bay.name, "ghost");
    await bay.reached(a);
    expect(heard(a, from)).toEqual(["answer"]);
    const second = b.call("session/load", { sessionId: bay.name, ...place() });
    const load = await process.received("session/load");
    await process.say(bay.name, "history");
    await process.answer(load, {});
    await second;
    expect(b.text()).toBe("history");
    await a.call("session/load", { sessionId: bay.name, ...place() });
    expect(heard(a, from)).toEqual(["answer", "history", "answer"]);
  });

  it("belongs to the session, not to who asked first: when that one leaves, the next gets all of it once", async () => {
    const bay = bench.agent({ "session/load": false });
    const [a, b] = [await bay.client(), await bay.client()];
    void a.request("session/load", { sessionId: bay.name, ...place() });
    const process = await bay.process();
    const load = await process.received("session/load");
    await process.say(bay.name, "1");
    const joined = b.call("session/load", { sessionId: bay.name, ...place() });
    await bay.reached(b);
    await bench.leave(a);
    await process.say(bay.name, "2");
    await process.answer(load, {});
    await joined;
    await process.say(bay.name, "3");
    await b.waitFor(({ params }) => params?.update?.content?.text === "3");
    expect(b.text()).toBe("123");
    expect(process.count("session/load")).toBe(1);
  });
});

describe("FF-95: history that one client asks for", () => {
  it("is no news for those who are there, and is not kept again, however often it is asked for", async () => {
    const bay = bench.agent();
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    const process = await bay.process();
    for (const text of ["one", "two", "three"]) await process.say(sessionId, `${bay.name} ${text}`);
    await a.waitFor(({ params }) => params?.update?.content?.text.endsWith("three"));
    const before = a.lines.all.length;
    for (const method of ["session/load", "session/load", "session/resume", "session/load"]) {
      await b.call(method, { sessionId, ...place() });
    }
    expect(b.updates(sessionId)).toHaveLength(9);
    await bay.reached(a);
    expect(heard(a, before)).toEqual(["answer"]);
    expect(process.count("session/load") + process.count("session/resume")).toBe(0);
    await bench.master.cli(["status"]);
    expect(keptFrames(`${bay.name} one`)).toHaveLength(3);
  });

  it("is dropped when the agent replays it to a session that goes on in a new process, before or after its answer", async () => {
    const bay = bench.named("storing", { "session/load": false, "session/prompt": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    const first = await bay.process(0);
    const frames = [
      chunk("stored words"),
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "thought" } },
      { sessionUpdate: "tool_call", toolCallId: "t", title: "T", status: "completed" },
      { sessionUpdate: "plan", entries: [] },
    ];
    for (const frame of frames) await first.update(sessionId, frame);
    await a.waitFor(({ params }) => params?.update?.sessionUpdate === "plan");
    await first.exit();
    await eventually(async () => (await rowOf(a, sessionId)).state === "lost", "the session has lost its process");
    const before = a.lines.all.length;
    const opened = b.call("session/load", { sessionId, ...place() });
    const second = await bay.process(1);
    const load = await second.received("session/load");
    for (const frame of frames) await second.update(sessionId, frame);
    await second.answer(load, {});
    await opened;
    for (const frame of frames) await second.update(sessionId, frame);
    await bay.reached(b);
    expect(b.updates(sessionId)).toEqual(frames);
    expect(heard(a, before).filter((one) => one !== "answer")).toEqual([]);
    expect(keptFrames("stored words")).toHaveLength(frames.length);
    // What comes in the next turn is news for both.
    const turn = a.prompt(sessionId, "go on");
    const prompt = await second.received("session/prompt");
    await second.update(sessionId, chunk("stored words"));
    await second.answer(prompt, done);
    await turn;
    await b.waitFor(() => b.updates(sessionId).length === frames.length + 2);
    expect(b.updates(sessionId).slice(frames.length + 1)).toEqual([frames[0]]);
    expect(a.updates(sessionId).slice(frames.length)).toEqual([frames[0]]);
  });
});

describe("FF-98: a prompt", () => {
  it("is not shown to its sender when that one reads late, and everybody else sees it once", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const [a, b] = [await bay.client(), await bay.client()];
    const { sessionId } = await a.newSession();
    const process = await bay.process();
    await b.call("session/load", { sessionId, ...place() });
    a.pause();
    const filler = "x".repeat(256 * 1024);
    const turns = ["first", "second", "third"].map((text) => a.prompt(sessionId, text));
    for (const _ of turns) {
      const prompt = await process.received("session/prompt");
      // More than the socket holds, so that the sender is behind with its own prompt.
      for (const n of upTo(6)) await process.update(sessionId, { ...chunk(`${n}`), _meta: { filler } });
      await process.answer(prompt, done);
    }
    const asked = (client: RawClient) =>
      client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
    await eventually(() => b.text(sessionId).length === 18, "the other one has all of it");
    a.resume();
    await Promise.all(turns);
    expect(a.text(sessionId)).toBe("012345".repeat(3));
    expect(asked(a)).toEqual([]);
    expect(asked(b).map(({ content }) => content.text)).toEqual(["first", "second", "third"]);
    // What the agent itself says of it is the agent's word.
    await process.update(sessionId, { sessionUpdate: "user_message_chunk", content: { type: "text", text: "echo" } });
    await a.waitFor(({ params }) => params?.update?.content?.text === "echo");
    expect(asked(a)).toHaveLength(1);
  });
});

describe("FF-101: two who open the same session in the same moment", () => {
  it("share one load, each with the history once; the first one's leaving and a different manner change nothing", async () => {
    const bay = bench.agent({ "session/load": false });
    const clients = [await bay.client(), await bay.client(), await bay.client(), await bay.client()];
    const methods = ["session/load", "session/load", "session/resume", "session/load"];
    const answers = clients.map((client, n) => client.request(methods[n]!, { sessionId: bay.name, ...place() }));
    const process = await bay.process();
    const load = await process.received(({ method }) => method === "session/load" || method === "session/resume");
    const resumed = load.message.method === "session/resume";
    for (const client of clients) await bay.reached(client);
    await process.say(bay.name, "once");
    await bench.leave(clients[0]!);
    await process.answer(load, {});
    for (const answer of answers.slice(1)) expect((await answer).result).toEqual({});
    await process.say(bay.name, "!");
    for (const client of clients.slice(1)) await client.waitFor(({ params }) => params?.update?.content?.text === "!");
    expect(clients.slice(1).map((client) => client.text())).toEqual(["once!", resumed ? "once!" : "!", "once!"]);
    expect(process.count("session/load") + process.count("session/resume")).toBe(1);
    // A prompt of each goes to the one session.
    for (const client of clients.slice(1)) expect((await client.prompt(bay.name, "x")).result).toEqual(done);
    expect(process.count("session/prompt")).toBe(3);
  });
});

describe("FF-102: sessions that are made at the same time", () => {
  it("keep what was asked for each: folder, roots, servers, owner, in whatever order they are answered", async () => {
    const folders = ["a", "b", "c"].map((name) => join(bench.master.work, `made-${name}`));
    for (const folder of folders) mkdirSync(folder);
    const bay = bench.agent({ "session/new": false });
    const clients = await Promise.all(folders.map(() => bay.client({ capabilities: able })));
    const process = await bay.process();
    const params = folders.map((cwd, n) => ({
      cwd,
      mcpServers: [{ name: `m${n}`, command: "/bin/true", args: [], env: [] }],
      additionalDirectories: [join(bench.master.work, `more-${n}`)],
    }));
    const made = clients.map((client, n) => client.call("session/new", params[n]));
    const requests: Line[] = [];
    for (const _ of folders) requests.push(await process.received("session/new"));
    const of = (n: number): Line => requests.find(({ message }) => message.params.cwd === folders[n])!;
    for (const n of upTo(3)) expect(of(n).message.params).toEqual(params[n]);
    // The last first, and each session speaks before the next is named.
    for (const n of [2, 1, 0]) {
      await process.answer(of(n), { sessionId: `${bay.name}-in-${n}` });
      await process.say(`${bay.name}-in-${n}`, `${n}`);
    }
    for (const n of upTo(3)) {
      const sessionId = `${bay.name}-in-${n}`;
      expect((await made[n]!).sessionId).toBe(sessionId);
      await clients[n]!.next("session/update");
      expect(clients[n]!.text()).toBe(`${n}`);
      expect(await rowOf(clients[n]!, sessionId)).toMatchObject({ cwd: folders[n], clients: [{}] });
    }
    // When they are gone this host serves each session inside its own folders and no other's.
    for (const client of clients) await bench.leave(client);
    const write = (n: number, folder: string) =>
      process.request("fs/write_text_file", {
        sessionId: `${bay.name}-in-${n}`,
        path: join(folder, "made.txt"),
        content: `${n}`,
      });
    for (const n of upTo(3)) {
      expect((await write(n, folders[(n + 1) % 3]!)).error).toBeDefined();
      expect((await write(n, folders[n]!)).result).toEqual({});
    }
    expect(folders.map((folder) => readFileSync(join(folder, "made.txt"), "utf8"))).toEqual(["0", "1", "2"]);
  });
});

/** A prompt that runs in a first session of the client. */
async function running(bay: Bay, client: RawClient): Promise<{ sessionId: string; readonly end: () => Promise<void> }> {
  const { sessionId } = await client.newSession();
  const turn = client.prompt(sessionId, "long");
  const process = await bay.process();
  const prompt = await process.received("session/prompt");
  const end = async (): Promise<void> => {
    await process.say(sessionId, "still here");
    await process.answer(prompt, done);
    expect((await turn).result).toEqual(done);
    expect(client.text(sessionId)).toBe("still here");
  };
  return { sessionId, end };
}

describe("FF-103: a session that is made, loaded or ended beside another one", () => {
  it("leaves its prompt alone, whatever is done on the same connection", async () => {
    const bay = bench.agent({ "session/prompt": false, "session/fork": { sessionId: "forked" } });
    const client = await bay.client();
    const { sessionId, end } = await running(bay, client);
    const another = (await client.newSession()).sessionId;
    await client.call("session/load", { sessionId: "loaded", ...place() });
    await client.call("session/resume", { sessionId: "resumed", ...place() });
    await client.call("session/fork", { sessionId, ...place() });
    const second = client.prompt(another, "second");
    const process = await bay.process();
    await process.answer(await process.received("session/prompt"), done);
    expect((await second).result).toEqual(done);
    bay.agent.setAuto("session/load", () => {
      throw new Error("no such session");
    });
    bay.agent.setAuto("session/new", () => {
      throw new Error("no more sessions");
    });
    expect((await client.request("session/load", { sessionId: "unknown", ...place() })).error).toBeDefined();
    expect((await client.request("session/new", place())).error?.message).toBe("no more sessions");
    expect((await client.request("session/new", place("/no/such/folder"))).error?.data.reason).toBe("cwd_missing");
    for (const id of [another, "loaded", "forked"]) await client.call("session/close", { sessionId: id });
    await client.call("session/delete", { sessionId: "resumed" });
    await end();
    expect(bay.agent.processes).toHaveLength(1);
  });

  it("leaves it alone too where each session has a process of its own, also when the other one's dies", async () => {
    const bay = bench.named("alone", { "session/prompt": false });
    const client = await bay.client();
    const { end } = await running(bay, client);
    const another = (await client.newSession()).sessionId;
    const second = await bay.process(1);
    const broken = client.prompt(another, "second");
    const unanswered = client.request("_x/unanswered", { sessionId: another });
    await second.received("session/prompt");
    await second.received("_x/unanswered");
    bay.agent.setAuto("session/new", (_: Loose, process: ScriptedProcess) => void process.signal("SIGKILL"));
    await second.signal("SIGKILL");
    for (const answer of [broken, unanswered]) expect((await answer).error?.data.reason).toBe("agent_exited");
    const third = await client.request("session/new", place(), undefined, 20_000);
    expect(third.error?.data).toMatchObject({ reason: "agent_exited", signal: "SIGKILL" });
    await end();
  });

  it("has every open request of the process answered when that one must end", async () => {
    const bay = bench.agent({
      "session/prompt": false,
      "session/set_mode": false,
      "session/load": false,
    });
    const [a, b] = [await bay.client(), await bay.client()];
    const [mine, theirs] = [(await a.newSession()).sessionId, (await b.newSession()).sessionId];
    bay.agent.setAuto("session/new", false);
    const process = await bay.process();
    const open = [
      a.prompt(mine, "1"),
      a.prompt(mine, "waits"),
      b.prompt(theirs, "2"),
      a.request("session/set_mode", { sessionId: mine, modeId: "m" }),
      b.request("session/new", place()),
      a.request("session/load", { sessionId: "elsewhere", ...place() }),
      b.request("_x/ask", { sessionId: theirs }),
      b.request("_x/ask", {}),
    ];
    for (const method of ["session/set_mode", "session/new", "session/load", "_x/ask", "_x/ask"]) {
      await process.received(method);
    }
    await process.signal("SIGTERM");
    for (const [at, answer] of open.entries()) {
      const reason = (await answer).error?.data.reason;
      expect(at === 1 ? ["agent_exited", "session_lost"] : ["agent_exited"]).toContain(reason);
    }
  });
});

describe("FF-104: a session that does not exist", () => {
  const inSession = [
    "session/prompt",
    "session/set_mode",
    "session/set_config_option",
    "session/fork",
    "session/close",
  ];
  const ids = ["never-made", "", "../../etc/passwd", "a\0b", "x".repeat(20_000), "💥", "__proto__"];

  it("gives an error for everything that is asked of it; the agent hears nothing and nothing is made", async () => {
    const bay = bench.agent();
    const client = await bay.client();
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    const before = process.lines.all.length;
    for (const id of ids) {
      for (const method of [...inSession, "_x/ask"]) {
        const params = { sessionId: id, prompt: [], modeId: "m", configId: "c", value: "v", ...place() };
        expect((await client.request(method, params)).error?.data.reason, `${method} ${id.slice(0, 20)}`).toBe(
          "unknown_session",
        );
      }
      await client.notify("session/cancel", { sessionId: id });
      await client.notify("_x/told", { sessionId: id });
    }
    for (const id of [7, null, {}, ["never-made"]]) {
      for (const method of [...inSession, "session/load", "session/resume"]) {
        expect((await client.request(method, { sessionId: id, prompt: [], ...place() })).error).toBeDefined();
      }
    }
    await bay.reached(client);
    expect(process.lines.all.slice(before).map(({ message }) => message.method)).toEqual(["_bench/ping"]);
    const { sessions } = await client.call("_acp-master/sessions", {});
    expect(sessions.filter((row: Loose) => row.agent === bay.name).map((row: Loose) => row.sessionId)).toEqual([
      sessionId,
    ]);
  });

  it.each(["session/load", "session/resume", "session/delete"])(
    "is the agent's to refuse, by its own error, for %s; nothing of it is left",
    async (method) => {
      const error = { code: -32002, message: "Resource not found", data: { uri: "x" } };
      const bay = bench.agent({
        initialize: announcing({ sessionCapabilities: { delete: {} } }),
        [method]: () => {
          throw error;
        },
      });
      const client = await bay.client();
      await client.newSession();
      const process = await bay.process();
      for (const id of ids) {
        const refused = (await client.request(method, { sessionId: id, ...place() })).error;
        // One that no list or record could hold is no session's, and the agent is not asked.
        if (id.length > 1000 && method !== "session/delete") expect(refused?.data.reason).toBe("unknown_session");
        else expect(refused).toEqual(error);
        await process.say(id, "ghost");
        const asked = await process.askPermission(id);
        expect(asked.result).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
        expect((await client.prompt(id, "x")).error?.data.reason).toBe("unknown_session");
      }
      await bay.reached(client);
      expect(client.received("session/update")).toEqual([]);
      const { sessions } = await client.call("_acp-master/sessions", {});
      expect(sessions.filter((row: Loose) => row.agent === bay.name)).toHaveLength(1);
    },
  );

  it("is one that was deleted, for everybody; one that was closed is nobody's until it is loaded", async () => {
    const bay = bench.agent({ initialize: announcing({ sessionCapabilities: { delete: {} } }) });
    const [a, b] = [await bay.client(), await bay.client()];
    const reasons = { "session/close": "not_attached", "session/delete": "unknown_session" };
    for (const [method, reason] of Object.entries(reasons)) {
      const { sessionId } = await a.newSession();
      await a.prompt(sessionId, "x");
      await a.call(method, { sessionId });
      await (await bay.process()).say(sessionId, "ghost");
      for (const client of [a, b]) {
        expect((await client.prompt(sessionId, "y")).error?.data.reason).toBe(reason);
      }
      await bay.reached(a);
      expect(a.text(sessionId)).toBe("");
    }
  });
});

const promptsOf = (process: ScriptedProcess) =>
  new Set(
    process.lines.all
      .filter(({ message }) => message.method === "session/prompt")
      .map((one) => one.message.params.sessionId),
  );

describe("FF-105: a session in one of several processes", () => {
  it("stays in its own, whoever prompts, and no other process speaks for it", async () => {
    const bay = bench.agent({
      "session/prompt": (_: Loose, process: ScriptedProcess) => ({ ...done, pid: process.pid }),
    });
    const [a, b] = [await bay.client(), await bay.client({ capabilities: able })];
    const [mine, theirs] = [(await a.newSession()).sessionId, (await b.newSession()).sessionId];
    const [first, second] = [await bay.process(0), await bay.process(1)];
    await a.call("session/load", { sessionId: theirs, ...place() });
    await b.call("session/load", { sessionId: mine, ...place() });
    for (const client of [a, b, a, b]) {
      expect((await client.prompt(mine, "x")).result.pid).toBe(first.pid);
      expect((await client.prompt(theirs, "x")).result.pid).toBe(second.pid);
    }
    expect([...promptsOf(first), ...promptsOf(second)]).toEqual([mine, theirs]);
    // The other process knows the id by chance, or lies.
    await first.say(theirs, "not mine");
    expect((await first.request("fs/read_text_file", { sessionId: theirs, path: "/x" })).error?.data.reason).toBe(
      "unknown_session",
    );
    expect((await first.askPermission(theirs)).result.outcome.optionId).toBe("no");
    await bay.reached(a);
    expect(a.text(theirs)).toBe("");
    expect(b.received("session/request_permission")).toEqual([]);
  });

  it("goes on elsewhere only after its process has ended, by an explicit resume, and only that one", async () => {
    const bay = bench.agent({
      "session/prompt": (_: Loose, process: ScriptedProcess) => ({ ...done, pid: process.pid }),
    });
    const [a, b] = [await bay.client(), await bay.client({ capabilities: able })];
    const [mine, theirs] = [(await a.newSession()).sessionId, (await b.newSession()).sessionId];
    const [first, second] = [await bay.process(0), await bay.process(1)];
    await b.prompt(theirs, "before");
    await second.signal("SIGKILL");
    await eventually(async () => (await rowOf(b, theirs)).state === "lost", "people see that its process is gone");
    expect((await rowOf(a, mine)).state).toBe("idle");
    expect((await b.prompt(theirs, "after")).error).toBeUndefined();
    const third = await bay.process(2);
    expect(third.lines.all.map(({ message }) => message.method)).toEqual([
      "initialize",
      "session/resume",
      "session/prompt",
    ]);
    expect((await a.prompt(mine, "x")).result.pid).toBe(first.pid);
    expect(first.count("session/resume") + first.count("session/load")).toBe(0);
  });
});

describe("FF-106: a client that gives up while the agent is slow", () => {
  it("leaves no session behind when the agent only starts, and none that it forked", async () => {
    const bay = bench.agent({ initialize: false, "session/fork": false });
    const client = await bench.master.client();
    void client.initialize({ agent: bay.name }).catch(() => {});
    const process = await bay.process();
    const started = await process.received("initialize");
    void client.newSession().catch(() => {});
    await client.close();
    const watcher = await bench.master.client();
    await watcher.initialize({ agent: null });
    await process.answer(started, announcing({ sessionCapabilities: { fork: {} } }));
    const next = await bay.client();
    const { sessionId } = await next.newSession();
    expect(process.count("session/new")).toBe(1);
    void next.request("session/fork", { sessionId, ...place() }).catch(() => {});
    const fork = await process.received("session/fork");
    await bench.leave(next);
    await process.answer(fork, { sessionId: `${bay.name}-forked` });
    expect((await process.received("session/close")).message.params).toEqual({ sessionId: `${bay.name}-forked` });
    expect(await rowOf(watcher, `${bay.name}-forked`)).toBeUndefined();
  });

  it("finds what it loaded under its id, once, when it comes back", async () => {
    const bay = bench.agent({ "session/load": false });
    const client = await bay.client();
    void client.request("session/load", { sessionId: bay.name, ...place() }).catch(() => {});
    const process = await bay.process();
    const load = await process.received("session/load");
    await process.say(bay.name, "history");
    await bench.leave(client);
    await process.answer(load, {});
    const back = await bay.client();
    await back.call("session/load", { sessionId: bay.name, ...place() });
    expect(back.text()).toBe("history");
    expect(process.count("session/load")).toBe(1);
  });

  it("is told the cause in the message when the agent fails instead", async () => {
    const bay = bench.agent({
      "session/new": async (_: Loose, process: ScriptedProcess) => {
        await process.stderr("npm ERR! no space left on device\n");
        await process.exit(7);
      },
    });
    const client = await bay.client();
    const { error } = await client.request("session/new", place());
    expect(error?.message).toMatch(/exit code 7/);
    expect(error?.data).toMatchObject({ reason: "agent_exited", exitCode: 7 });
    expect(error?.data.stderrTail).toContain("no space left");
  });
});
