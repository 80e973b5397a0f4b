// Field faults of kind shim: `connect` ends with its editor however that ends, and speaks nothing but JSON-RPC on stdout.
import { createServer, type Server } from "node:net";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import { makeHome, type Home } from "../harness/home.ts";
import type { Line } from "../harness/lines.ts";
import { startMaster } from "../harness/master.ts";
import { descendantsOf, isRunning } from "../harness/processes.ts";
import { masterProgram, Program } from "../harness/program.ts";
import { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";

const node = JSON.stringify(process.execPath);
const script = JSON.stringify(masterProgram);

/** An editor that is a shell: the shim is its child and inherits what the test holds. */
function editorOf(home: Home): { editor: Program; client: RawClient } {
  const editor = new Program("sh", ["-c", `${node} ${script} connect fake; true`], { env: home.env });
  home.own({ [Symbol.asyncDispose]: async () => void (await editor.end("SIGKILL", 5000)) });
  const client = RawClient.overProgram(editor);
  client.cwd = home.work;
  return { editor, client };
}

const shimBelow = (editor: Program): Promise<number> =>
  eventually(() => descendantsOf(editor.pid).find(({ command }) => command.includes("connect"))?.pid, "the shim runs");

describe("an editor that goes", () => {
  interface Its {
    readonly editor: Program;
    readonly shim: number;
    readonly client: RawClient;
    /** The agent says so much in the session. */
    readonly say: (text: string) => Promise<unknown>;
  }
  // Each leaves its shim in another way.
  const ways: Record<string, (its: Its) => Promise<void> | void> = {
    "is killed and its pipes close": ({ editor, client }) => {
      editor.child.kill("SIGKILL");
      client.endInput();
      editor.child.stdout.destroy();
    },
    "is killed while somebody else holds its pipes": ({ editor }) => void editor.child.kill("SIGKILL"),
    "is killed while it reads nothing": async ({ editor, client, say }) => {
      client.pause();
      await say("z".repeat(4 * 1024 * 1024));
      editor.child.kill("SIGKILL");
    },
    "closes what it reads from": async ({ editor, say }) => {
      editor.child.stdout.destroy();
      await say("more");
    },
    "sends SIGTERM": ({ shim }) => void process.kill(shim, "SIGTERM"),
    "sends SIGHUP": ({ shim }) => void process.kill(shim, "SIGHUP"),
    "sends SIGINT": ({ shim }) => void process.kill(shim, "SIGINT"),
    "is killed and so is the shim": ({ editor, shim }) => {
      process.kill(shim, "SIGKILL");
      editor.child.kill("SIGKILL");
    },
  };

  it("takes its shim with it within two seconds, however it goes; its turn goes on (FF-165)", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const watcher = await master.client();
    await watcher.initialize({ agent: null });
    const rowOf = async (id: string) => {
      const { sessions } = await watcher.call("_acp-master/sessions", {});
      return sessions.find((row: { sessionId: string }) => row.sessionId === id);
    };
    const go = async (how: string, leave: (its: Its) => Promise<void> | void) => {
      const { editor, client } = editorOf(master);
      await client.initialize();
      const { sessionId } = await client.newSession();
      client.prompt(sessionId, how, 20_000).catch(() => {}); // it never learns the end
      const process_ = await agent.process();
      const prompt = await process_.received(({ params }) => params?.prompt?.[0].text === how);
      const shim = await shimBelow(editor);
      expect((await rowOf(sessionId)).clients, how).toHaveLength(1);
      await leave({ editor, shim, client, say: (text) => process_.say(sessionId, text) });
      await eventually(() => !isRunning(shim), `the shim is gone (${how})`, 2500);
      await eventually(
        async () => (await rowOf(sessionId)).clients.length === 0,
        `the daemon shows the client gone (${how})`,
        4000,
      );
      expect((await rowOf(sessionId)).state, how).toBe("running");
      await process_.answer(prompt, { stopReason: "end_turn" });
      await eventually(async () => (await rowOf(sessionId)).state === "idle", `the turn has ended (${how})`);
    };
    // Two by two: a machine that starts all at once is too busy to be measured.
    const all = Object.entries(ways);
    for (let at = 0; at < all.length; at += 2) {
      await Promise.all(all.slice(at, at + 2).map(([how, leave]) => go(how, leave)));
    }
  });

  it("whose input ends gets the answers that are still due, then the shim ends with 0 (FF-165)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const client = master.connect(["fake"]);
    await client.initialize();
    await client.newSession();
    const turn = client.prompt("a", "hello");
    const process_ = await agent.process();
    const prompt = await process_.received("session/prompt");
    client.endInput();
    await process_.say("a", "late");
    await process_.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result.stopReason).toBe("end_turn");
    expect(client.text("a")).toBe("late");
    expect(await within(client.program!.exited, "the shim ends", 2000)).toEqual({ code: 0, signal: null });
  });
});

const isRpc = ({ message, isJson }: Line): boolean =>
  isJson && message.jsonrpc === "2.0" && ("method" in message || "result" in message || "error" in message);

describe("the shim's standard output", () => {
  const loud = { NODE_OPTIONS: "--trace-warnings --trace-deprecation --pending-deprecation --trace-exit" };

  interface Case {
    readonly what: string;
    readonly config?: string;
    readonly args?: readonly string[];
    readonly prepare?: (home: Home) => Promise<Disposable> | Disposable | void;
    /** undefined: the first request is answered with a result. */
    readonly fails?: RegExp;
    readonly code?: number;
  }
  const cases: Case[] = [
    { what: "it starts the daemon" },
    { what: "no daemon runs and none may be started", args: ["--no-start"], fails: /No daemon runs/, code: 3 },
    { what: "the configuration is wrong", config: '{ "agents": [] }', fails: /config\.json.*agents/s, code: 1 },
    { what: "the configuration is no JSON", config: "nonsense", fails: /config\.json/, code: 1 },
    { what: "the agent is unknown", args: ["nobody"], fails: /no agent "nobody"/ },
    {
      what: "the agent cannot be started",
      config: '{ "agents": { "gone": { "command": "no-such-agent" } } }',
      args: ["gone"],
      fails: /no-such-agent/,
    },
    {
      what: "the agent prints text and dies",
      config: JSON.stringify({ agents: { bad: { command: "sh", args: ["-c", "echo hello; echo no >&2; exit 4"] } } }),
      args: ["bad"],
      fails: /exit code 4/,
    },
    {
      what: "a file lies in the socket's place",
      prepare(home) {
        mkdirSync(join(home.home, "run"), { mode: 0o700 });
        writeFileSync(join(home.home, "run", "master.sock"), "mine");
      },
      fails: /master\.sock/,
      code: 1,
    },
    {
      what: "the run folder is open to others",
      prepare(home) {
        mkdirSync(join(home.home, "run"));
        chmodSync(join(home.home, "run"), 0o777);
      },
      fails: /chmod 700/,
      code: 1,
    },
    {
      what: "the log folder cannot be used",
      prepare: (home) => writeFileSync(join(home.home, "log"), "mine"),
    },
    {
      what: "the state folder is a file",
      prepare: (home) => writeFileSync(join(home.home, "state"), "mine"),
      fails: /state is not a folder/,
      code: 1,
    },
    {
      what: "the socket is served by a program that closes at once",
      async prepare(home) {
        mkdirSync(join(home.home, "run"), { mode: 0o700 });
        const server: Server = createServer((socket) => void socket.destroy());
        await new Promise<void>((resolve) => void server.listen(join(home.home, "run", "master.sock"), resolve));
        return { [Symbol.dispose]: () => void server.close() };
      },
      fails: /daemon ended before it answered/,
      code: 1,
    },
  ];

  it.each(cases)("holds JSON-RPC lines only when $what (FF-166)", async ({ config, args, prepare, fails, code }) => {
    await using home = makeHome(config === undefined ? {} : { config });
    using _prepared = (await prepare?.(home)) ?? { [Symbol.dispose]: () => {} };
    const shim = home.connect(args ?? ["demo"], { env: loud });
    const answer = await shim.request("initialize", { protocolVersion: 1, clientCapabilities: {} }, "first", 20_000);
    if (fails === undefined) expect(answer.result.protocolVersion).toBe(1);
    else expect(answer.error?.message).toMatch(fails);
    shim.endInput();
    const exit = await within(shim.program!.exited, "the shim ends", 10_000);
    if (code !== undefined) {
      expect(exit.code).toBe(code);
      expect(shim.program!.stderr).toMatch(/^acp-master: /m);
    }
    expect(shim.lines.all.filter((line) => !isRpc(line)).map(({ text }) => text)).toEqual([]);
    expect(shim.lines.all.filter(({ message }) => message.id === "first")).toHaveLength(1);
  });

  it("holds JSON-RPC lines only when the daemon is killed, stopped or restarted under it (FF-166)", async () => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const endings: Record<string, () => Promise<unknown>> = {
      killed: () => master.kill9(),
      stopped: () => master.cli(["stop"]),
      restarted: () => master.cli(["restart"]),
    };
    for (const [how, end] of Object.entries(endings)) {
      if (how !== "killed") await master.serve();
      // It waits for the next daemon and starts none: the test does.
      const shim = master.connect(["fake", "--no-start"], { env: loud });
      await shim.initialize();
      const { sessionId } = await shim.newSession();
      const turn = shim.prompt(sessionId, "hello", 20_000);
      const process_ = agent.processes.at(-1)!;
      await process_.received("session/prompt");
      await end();
      const { result, error } = await turn;
      if (how === "killed") expect(error?.data.reason).toBe("daemon_restarted");
      else expect(result.stopReason).toBe("cancelled");
      shim.endInput();
      await within(shim.program!.exited, "the shim ends", 10_000);
      expect(
        shim.lines.all.filter((line) => !isRpc(line)).map(({ text }) => text),
        how,
      ).toEqual([]);
      expect(shim.program!.stderr, how).toMatch(/^acp-master: /m);
    }
  });

  it("stays empty for a command line that is wrong (FF-166)", async () => {
    await using home = makeHome();
    for (const args of [["a", "b"], ["--observe"], ["--port=7"]]) {
      const wrong = await home.cli(["connect", ...args], { env: loud });
      expect(wrong).toMatchObject({ code: 2, stdout: "" });
      expect(wrong.stderr).not.toBe("");
    }
  });
});
