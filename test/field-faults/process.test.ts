// Field faults of kind process: how agents end, and what a daemon makes of it. All with real processes.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { eventually, patient, within } from "../harness/events.ts";
import { makeHome, type AgentEntry } from "../harness/home.ts";
import type { Message } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { descendantsOf, isRunning, processesMarked, processGone } from "../harness/processes.ts";
import { masterProgram, Program } from "../harness/program.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent, type ScriptedAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

/** ACP_MASTER_FULL_SIZE=1 runs the faults at the size in which they were met. */
const full = process.env.ACP_MASTER_FULL_SIZE === "1";
const plainAgent = fileURLToPath(new URL("./fixtures/plain-agent.mjs", import.meta.url));
const plain = (...args: readonly string[]): AgentEntry => ({ command: process.execPath, args: [plainAgent, ...args] });

async function clientOf(master: Master, agent: string | null, capabilities = {}): Promise<RawClient> {
  const client = await master.client();
  await client.initialize({ agent, capabilities });
  return client;
}

const status = async (master: Master) => JSON.parse((await master.cli(["status", "--json"])).stdout);

/** A wrapper as people write them: two shells above the agent, neither of which passes signals on. */
function wrapped({ definition }: ScriptedAgent): AgentEntry {
  const inner = 'exec 3<&0; "$@" <&3 3<&- & wait';
  const outer = `exec 3<&0; sh -c '${inner.replaceAll("'", "'\\''")}' sh "$@" <&3 3<&- & wait`;
  return { ...definition, command: "sh", args: ["-c", outer, "sh", definition.command, ...(definition.args ?? [])] };
}

/** User and system time that a process has used so far, in ms. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const peakBytes = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;

const withTwoSessions = (name: string) =>
  fakeAgent({
    sessionIds: [`${name}-a`, `${name}-b`],
    auto: { "session/prompt": false, "session/set_mode": false },
  });

/** The client is told that nobody needs its answer to this dialog any more. */
const withdrawal = (client: RawClient, dialog: Message) =>
  client.next(({ method, params }) => method === "$/cancel_request" && params.requestId === dialog.id);

describe("an agent that ends", () => {
  const endings = [
    { how: "with code 0", end: (agent: { exit(code: number): Promise<void> }) => agent.exit(0), exitCode: 0 },
    { how: "with code 1", end: (agent: { exit(code: number): Promise<void> }) => agent.exit(1), exitCode: 1 },
    {
      how: "by SIGKILL",
      end: (agent: { signal(name: "SIGKILL"): Promise<void> }) => agent.signal("SIGKILL"),
      signal: "SIGKILL",
    },
  ];

  it("fails everything that waits for it within a second, however it ends, and is started anew (FF-107)", async () => {
    await using zero = withTwoSessions("zero");
    await using one = withTwoSessions("one");
    await using killed = withTwoSessions("killed");
    await using master = await startMaster({ agents: { zero, one, killed } });
    for (const [n, { how, end, ...facts }] of endings.entries()) {
      const [name, agent] = Object.entries({ zero, one, killed })[n]!;
      const [a, b] = [`${name}-a`, `${name}-b`];
      const first = await clientOf(master, name);
      const second = await clientOf(master, name);
      await first.newSession();
      await second.call("session/load", { sessionId: a, cwd: second.cwd, mcpServers: [] });
      await second.newSession();
      const process = await agent.process(0);
      const waiting = [first.prompt(a, "one"), first.prompt(a, "queued"), second.prompt(b, "two")];
      await process.received("session/prompt");
      await process.received("session/prompt");
      waiting.push(second.request("session/set_mode", { sessionId: b, modeId: "m" }));
      await process.received("session/set_mode");
      void patient(process.askPermission(a));
      const dialogs = await Promise.all([first, second].map((client) => client.next("session/request_permission")));
      await process.say(a, "last ");
      await process.say(a, "words");

      const before = performance.now();
      await end(process);
      const answers = await Promise.all(waiting);
      expect(performance.now() - before, how).toBeLessThan(1000);
      for (const { error } of [answers[0]!, answers[2]!, answers[3]!]) {
        expect(error?.data, how).toMatchObject({ reason: "agent_exited", exitCode: null, signal: null, ...facts });
      }
      expect(answers[1]?.error, how).toBeDefined();
      expect(first.text(a)).toBe("last words");
      await withdrawal(first, dialogs[0]!.message);
      await withdrawal(second, dialogs[1]!.message);
      expect((await first.call("_acp-master/approvals", {})).approvals).toEqual([]);
      const { sessions } = await first.call("_acp-master/sessions", {});
      expect(
        sessions.filter((row: { agent: string }) => row.agent === name).map((row: { state: string }) => row.state),
      ).toEqual(["lost", "lost"]);
      const { exits, pid } = await status(master);
      expect(exits.at(-1)).toMatchObject({ agent: name, exitCode: null, signal: null, ...facts });
      expect(pid).toBe(master.pid);
      await first.newSession();
      expect((await agent.process(1)).pid).not.toBe(process.pid);
    }
  });

  it("fails a session/new that it had not answered, and its other requests, at once (FF-107)", async () => {
    await using agent = fakeAgent({ auto: { "session/new": false, authenticate: false, "_x/ask": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const client = await clientOf(master, "fake");
    const waiting = [
      client.request("session/new", { cwd: client.cwd, mcpServers: [] }),
      client.request("authenticate", { methodId: "m" }),
      client.request("_x/ask", {}),
    ];
    const process = await agent.process();
    for (const method of ["session/new", "authenticate", "_x/ask"]) await process.received(method);
    await process.exit(7);
    for (const answer of await within(Promise.all(waiting), "all answers", 1000)) {
      expect(answer.error?.data).toMatchObject({ reason: "agent_exited", exitCode: 7 });
    }
  });

  it("is ended when it closes its output or its input and lives on, and is replaced (FF-108)", async () => {
    await using mute = fakeAgent({ auto: { "session/prompt": false }, start: { ignoreEof: true } });
    await using idle = fakeAgent({ start: { ignoreEof: true } });
    await using deaf = fakeAgent({ start: { ignoreEof: true } });
    await using master = await startMaster({ agents: { mute, idle, deaf } });

    // With a prompt open.
    const client = await clientOf(master, "mute");
    const { sessionId } = await client.newSession();
    const turn = client.prompt(sessionId, "hello");
    const process = await mute.process();
    await process.received("session/prompt");
    await process.closeStdout();
    expect((await within(turn, "the prompt fails", 2000)).error?.data.reason).toBe("agent_exited");
    await client.newSession();
    expect((await mute.process(1)).pid).not.toBe(process.pid);

    // With nothing open.
    const other = await clientOf(master, "idle");
    const session = (await other.newSession()).sessionId;
    const silent = await idle.process();
    await silent.closeStdout();
    await other.prompt(session, "hello", 4000);
    await within(other.newSession(), "a session on a new process", 2000);
    expect((await idle.process(1)).pid).not.toBe(silent.pid);

    const third = await clientOf(master, "deaf");
    const unheard = (await third.newSession()).sessionId;
    const closed = await deaf.process();
    await closed.closeStdin();
    await third.prompt(unheard, "hello", 4000);
    await within(third.newSession(), "a session on a new process", 2000);
    expect((await deaf.process(1)).pid).not.toBe(closed.pid);

    await Promise.all([process, silent, closed].map((one) => processGone(one.pid, 8000)));
    expect((await status(master)).exits).toHaveLength(3);
  });

  it("is noticed when it dies with no request open; the next prompt is served anew or fails at once (FF-108)", async () => {
    await using loads = fakeAgent();
    await using forgets = fakeAgent({ capabilities: { loadSession: false, sessionCapabilities: {} } });
    await using master = await startMaster({ agents: { loads, forgets } });
    for (const [name, agent] of Object.entries({ loads, forgets })) {
      const client = await clientOf(master, name);
      const { sessionId } = await client.newSession();
      await (await agent.process()).signal("SIGKILL");
      await eventually(
        async () => (await status(master)).exits.some((end: { agent: string }) => end.agent === name),
        "status shows the exit",
      );
      const { result, error } = await client.prompt(sessionId, "hello", 4000);
      expect(result?.stopReason ?? error?.data.reason).toBe(name === "loads" ? "end_turn" : "session_lost");
      await within(client.newSession(), "a session on a new process", 2000);
    }
  });

  it("that never speaks and ends its output while it starts fails the client's initialize (FF-108)", async () => {
    await using agent = fakeAgent({ auto: { initialize: false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const client = await master.client();
    const answer = client.request("initialize", { protocolVersion: 1, _meta: { "acp-master": { agent: "fake" } } });
    const process = await agent.process();
    await process.received("initialize");
    await process.closeStdout();
    expect((await within(answer, "initialize fails", 2000)).error?.data.reason).toBe("agent_failed_to_start");
  });
});

/** Attaches to session "a" and reads nothing of it. */
async function attachDeaf(client: RawClient): Promise<RawClient> {
  await client.initialize({ agent: null });
  await client.call("session/load", { sessionId: "a", cwd: client.cwd, mcpServers: [] });
  client.pause();
  return client;
}

describe("a peer that stops reading", () => {
  it("fails only its own requests when an agent goes amid large prompts (FF-109)", async () => {
    await using dying = fakeAgent({
      auto: { "session/prompt": (_, { pid }) => (deaf.has(pid) ? undefined : { stopReason: "end_turn" }) },
    });
    const deaf = new Set<number>();
    await using fine = fakeAgent();
    await using master = await startMaster({ agents: { dying, fine } });
    const other = await clientOf(master, "fine");
    const { sessionId } = await other.newSession();
    const large = "x".repeat(1024 * 1024);
    for (const end of [
      (process: ScriptedProcess) => process.signal("SIGKILL"),
      async (process: ScriptedProcess) => {
        await process.closeStdin();
        await process.exit(1);
      },
      (process: ScriptedProcess) => process.closeStdin(),
    ]) {
      const client = await clientOf(master, "dying");
      const own: string[] = [];
      for (let count = 0; count < 6; count++) own.push((await client.newSession()).sessionId);
      const process = dying.processes.at(-1)!;
      deaf.add(process.pid);
      const turns = own.map((session) => client.prompt(session, large));
      await process.received("session/prompt");
      await process.pauseInput();
      turns.push(...own.map((session) => client.prompt(session, large)));
      await client.call("_acp-master/status", {});
      await end(process);
      const answers = await Promise.all(turns);
      expect(answers.some(({ error }) => error !== undefined)).toBe(true);
      for (const { result, error } of answers) expect(result ?? error).toBeDefined();
      expect((await other.prompt(sessionId, "hello")).result.stopReason).toBe("end_turn");
    }
    expect((await status(master)).pid).toBe(master.pid);
  });

  it("costs nobody else anything when a client goes amid a flood to it (FF-109)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const staying = await clientOf(master, "fake");
    await staying.newSession();
    const leaving = [await attachDeaf(await master.client()), await attachDeaf(await master.client())];
    const shim = await attachDeaf(master.connect());
    const turn = staying.prompt("a", "hello");
    const process = await agent.process();
    const prompt = await process.received("session/prompt");
    const chunk = "y".repeat(256 * 1024);
    const flood = (async () => {
      for (let n = 0; n < 24; n++) await process.say("a", chunk);
    })();
    await staying.waitFor("session/update");
    for (const client of leaving) await client.close();
    shim.program!.child.stdout.destroy();
    await flood;
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result.stopReason).toBe("end_turn");
    expect(staying.text("a").length).toBe(24 * chunk.length);
    await within(shim.program!.exited, "the shim ends when its output is closed", 5000);
    await eventually(async () => {
      const [row] = JSON.parse((await master.cli(["sessions", "--json"])).stdout).sessions;
      return row.clients.length === 1;
    }, "the clients that went are gone");
    expect((await status(master)).pid).toBe(master.pid);
  });
});

describe("a program whose own output goes nowhere", () => {
  const serve = `${JSON.stringify(process.execPath)} ${JSON.stringify(masterProgram)} serve --json`;

  it.each([
    ["a reader that exits", `${serve} 2>&1 | head -c 1 >/dev/null`],
    ["closed descriptors", `exec ${serve} <&- >&- 2>&-`],
    ["a full disk", `exec ${serve} >/dev/full 2>/dev/full`],
  ])("is a daemon that goes on with its log file: %s (FF-110)", async (_, script) => {
    await using agent = fakeAgent();
    await using home = makeHome({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const shell = new Program("sh", ["-c", script], { env: home.env });
    home.own({ [Symbol.asyncDispose]: async () => void (await shell.exited) });
    const daemon = await eventually(() => home.masterFile(), "the daemon is ready");
    home.own({
      [Symbol.asyncDispose]: async () => {
        process.kill(daemon.pid, "SIGTERM");
        await processGone(daemon.pid);
      },
    });
    // Much that it may want to speak of: a crash, a bad configuration, bad lines.
    const client = home.connect();
    await client.initialize();
    await client.newSession();
    await (await agent.process()).signal("SIGKILL");
    writeFileSync(home.configFile, "{ nonsense");
    await eventually(
      async () => (await home.cli(["status", "--json"])).stdout.includes('"problem"'),
      "status shows the bad configuration",
    );
    const before = { at: performance.now(), ms: processorMs(daemon.pid), log: home.logText().length };
    for (let n = 0; n < 3; n++) expect((await home.cli(["status"])).code).toBe(0);
    expect(processorMs(daemon.pid) - before.ms).toBeLessThan((performance.now() - before.at) / 2);
    expect(home.logText().length - before.log).toBeLessThan(10_000);
    expect(home.logText().length).toBeLessThan(50_000);
    await client.close();
  });

  it("is a shim that ends, and a command that ends (FF-110)", async () => {
    await using master = await startMaster({});
    const program = JSON.stringify(masterProgram);
    const node = JSON.stringify(process.execPath);
    const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"_meta":{"acp-master":{"agent":null}}}}`;
    const ask = `{"jsonrpc":"2.0","id":2,"method":"_acp-master/status"}`;
    // The last reader is gone before the second answer comes; the input stays open until the shim has ended.
    const shim = new Program("sh", ["-c", `exec ${node} ${program} connect 2>&1 | head -c 1`], { env: master.env });
    shim.child.stdin.write(`${initialize}\n`);
    await eventually(() => shim.stdout.length === 1, "the reader has read one byte");
    for (let n = 0; n < 3; n++) shim.child.stdin.write(`${ask.replace("2,", `${n + 2},`)}\n`);
    await within(shim.exited, "the shim ends", 5000);
    for (const command of ["status", "agents", "doctor", "logs"]) {
      const run = new Program("sh", ["-c", `${node} ${program} ${command} 2>&1 | true`], { env: master.env });
      await within(run.exited, `${command} ends`, 10_000);
    }
    expect((await master.cli(["status", "--json"])).code).toBe(0);
  });
});

describe("the ladder", () => {
  it("ends agents that ignore the end of input, TERM, or are stopped, before stop returns (FF-111)", async () => {
    await using stays = fakeAgent({ start: { ignoreEof: true } });
    await using stubborn = fakeAgent({
      auto: { "session/prompt": false },
      start: { ignoreEof: true, ignoreTerm: true },
    });
    await using frozen = fakeAgent();
    await using master = await startMaster({ agents: { stays, stubborn, frozen } });
    const client = await clientOf(master, "stays");
    await client.newSession();
    const second = await clientOf(master, "frozen");
    await second.newSession();
    process.kill((await frozen.process()).pid, "SIGSTOP");

    // An open turn with an open permission.
    const third = await master.client();
    await third.initialize({ agent: "stubborn", events: true });
    const { sessionId } = await third.newSession();
    const turn = third.prompt(sessionId, "hello", 30_000);
    const agent = await stubborn.process();
    const prompt = await agent.received("session/prompt");
    const verdict = agent.askPermission(prompt.message.params.sessionId);
    await third.next("session/request_permission");
    const helpers = (await status(master)).helpers.map(({ pid }: { pid: number }) => pid);
    expect(helpers.length).toBeGreaterThan(0);

    const before = performance.now();
    const stopped = await master.cli(["stop"]);
    const took = performance.now() - before;
    const pids = [...helpers, master.pid, ...[stays, stubborn, frozen].map((one) => one.processes[0]!.pid)];
    expect(pids.filter(isRunning)).toEqual([]);
    expect(stopped).toMatchObject({ code: 0, stderr: "" });
    // Drain 1 s, cancel 2 s, ladder 3 + 2 + 2 s, and the time of a loaded machine.
    expect(took).toBeLessThan(15_000);
    expect((await turn).result.stopReason).toBe("cancelled");
    expect((await verdict).result).toEqual({ outcome: { outcome: "cancelled" } });
    expect(await third.next("_acp-master/closing")).toMatchObject({ message: { params: { reason: "stop" } } });
    expect(master.masterFile()).toBeUndefined();
    expect(existsSync(master.socket)).toBe(false);
    const audit = readFileSync(join(master.home, "state", "audit.ndjson"), "utf8");
    expect(audit.match(/"result":"cancelled"/g)).toHaveLength(1);
    expect((await master.cli(["audit", "verify"])).code).toBe(0);
  });

  it("ends a wrapper with all that is below it, at stop and after a kill of its leader (FF-113)", async () => {
    await using killed = fakeAgent({ auto: { "session/prompt": false }, start: { ignoreTerm: true } });
    await using stopped = fakeAgent({ start: { ignoreTerm: true, ignoreEof: true } });
    await using master = await startMaster({ agents: { killed: wrapped(killed), stopped: wrapped(stopped) } });
    const client = await clientOf(master, "killed");
    const { sessionId } = await client.newSession();
    const turn = client.prompt(sessionId, "hello");
    const inner = await killed.process();
    await inner.received("session/prompt");
    await inner.spawn();
    const leader = (await status(master)).agents.find((row: { name: string }) => row.name === "killed").pid;
    const tree = descendantsOf(leader).map(({ pid }) => pid);
    expect(tree.length).toBeGreaterThanOrEqual(3);
    process.kill(leader, "SIGKILL");
    expect((await within(turn, "the prompt fails", 2000)).error?.data).toMatchObject({ signal: "SIGKILL" });
    for (const pid of tree) await processGone(pid, 3000);

    const second = await clientOf(master, "stopped");
    await second.newSession();
    const agent = await stopped.process();
    const pids = [agent.pid, await agent.spawn(), await agent.spawn({ detached: true })];
    expect((await master.cli(["stop"])).code).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(processesMarked(stopped.marker)).toEqual([]);
  });
});

describe("a daemon that is killed", () => {
  it("leaves no agent, no Helper and no grandchild behind, and touches nobody else's process (FF-114)", async () => {
    await using polite = fakeAgent();
    await using stubborn = fakeAgent({ start: { ignoreEof: true, ignoreTerm: true } });
    await using frozen = fakeAgent();
    await using starting = fakeAgent({ auto: { initialize: false }, start: { ignoreEof: true } });
    await using gone = fakeAgent();
    await using master = await startMaster({
      agents: { polite, stubborn: wrapped(stubborn), frozen, starting, gone },
    });
    const bystander = new Program("sleep", ["1000"], { env: {} });
    master.own({ [Symbol.asyncDispose]: async () => void (await bystander.end("SIGKILL", 5000)) });

    for (const name of ["polite", "stubborn", "frozen", "gone"]) {
      const client = await clientOf(master, name);
      const { sessionId } = await client.newSession();
      if (name !== "gone") await client.prompt(sessionId, "hello");
    }
    await (await gone.process()).exit();
    const late = await master.client();
    void patient(late.initialize({ agent: "starting" }));
    await (await starting.process()).received("initialize");
    const agent = await stubborn.process();
    const strays = [await agent.spawn(), await agent.spawn({ detached: true })];
    process.kill((await frozen.process()).pid, "SIGSTOP");
    const below = descendantsOf(master.pid);
    expect(below.some(({ command }) => command.includes("helper-"))).toBe(true);
    expect(below.map(({ pid }) => pid)).toContain(agent.pid);

    const before = performance.now();
    await master.kill9();
    const pids = [...below.map(({ pid }) => pid), ...strays];
    await eventually(() => pids.every((pid) => !isRunning(pid)), "all that the daemon started is gone", 2000);
    expect(performance.now() - before).toBeLessThan(2500);
    expect(isRunning(bystander.pid)).toBe(true);

    // A record that names a process of somebody else is no reason to end that one.
    const record = { pid: bystander.pid, socket: master.socket, version: "0.1.0", startedAt: new Date().toISOString() };
    writeFileSync(join(master.home, "run", "master.json"), JSON.stringify(record), { mode: 0o600 });
    await master.serve();
    expect((await master.cli(["status", "--json"])).code).toBe(0);
    expect((await master.cli(["stop"])).code).toBe(0);
    expect(isRunning(bystander.pid)).toBe(true);
  });

  it("leaves nothing even when the process that watches over it was killed before (FF-114)", async () => {
    await using agent = fakeAgent({ start: { ignoreEof: true, ignoreTerm: true } });
    await using master = await startMaster({ agents: { fake: agent } });
    const client = await clientOf(master, "fake");
    await client.newSession();
    const reapers = () => descendantsOf(master.pid).filter(({ command }) => command.includes("acp-master-reaper"));
    const [first] = reapers();
    process.kill(first!.pid, "SIGKILL");
    await eventually(() => reapers().some(({ pid }) => pid !== first!.pid), "another one watches");
    const { pid } = await agent.process();
    await master.kill9();
    await processGone(pid, 2000);
  });
});

describe("stderr", () => {
  it("is kept by its end only, however much an agent writes before it crashes (FF-116)", async () => {
    const mebibytes = full ? 500 : 160;
    await using master = await startMaster({
      agents: { flooding: { ...plain("flood", String(mebibytes)) } },
    });
    const client = await clientOf(master, "flooding");
    const { sessionId } = await client.newSession();
    const before = peakBytes(master.pid);
    const { error } = await client.prompt(sessionId, "go", 60_000);
    expect(Buffer.byteLength(JSON.stringify(error))).toBeLessThan(100 * 1024);
    expect(error?.data).toMatchObject({ reason: "agent_exited", exitCode: 1 });
    expect(error?.data.stderrTail).toMatch(/the last line of the flood$/);
    expect(peakBytes(master.pid) - before).toBeLessThan(64 * 1024 * 1024);
  });
});

/** How often an agent that keeps a log of its starts was started. */
const starts = (log: string): number => readFileSync(log, "utf8").trim().split("\n").length;

describe("a broken agent", () => {
  it("is not started again and again, alone or shared, dying at once or at its first task (FF-117)", async () => {
    await using home = makeHome();
    const broken = [
      { name: "exits", habit: "exit", share: "pool", said: "unknown flag --acp" },
      { name: "exits-alone", habit: "exit", share: "session", said: "unknown flag --acp" },
      { name: "dies", habit: "die-at-new", share: "pool", said: "no licence found" },
      { name: "dies-alone", habit: "die-at-new", share: "session", said: "no licence found" },
    ].map((one) => ({ ...one, log: join(home.folder, one.name) }));
    const agents = Object.fromEntries(
      broken.map(({ name, habit, share, log }) => [name, { ...plain(habit), env: { AGENT_LOG: log }, share }]),
    );
    await using master = await startMaster({ agents });
    // From clients that share no process.
    const clients = await Promise.all(
      [{}, { terminal: true }, { fs: { readTextFile: true } }].map((one) => clientOf(master, null, one)),
    );
    const ask = (agent: string, n: number) => {
      const meta = { _meta: { "acp-master": { agent } } };
      const params = { cwd: master.work, mcpServers: [], ...meta };
      return clients[n % 3]!.request("session/new", params, `${agent}-${n}`, 20_000);
    };
    const check = async ({ name, said, log }: (typeof broken)[number]) => {
      const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(name, n)));
      for (let n = 30; n < 50; n++) answers.push(await ask(name, n));
      for (const { error } of answers) {
        expect(error?.data.reason, name).toMatch(/^agent_(failed_to_start|exited)$/);
        expect(`${error?.message} ${error?.data.stderrTail}`, name).toContain(said);
      }
      // Waits of 0, 1 and 2 s are sat out, longer ones and the parked state are an answer.
      expect(starts(log), name).toBeLessThanOrEqual(5);
    };
    await Promise.all(broken.map(check));
    expect(master.logText().length).toBeLessThan(100_000);

    // Parked: an answer at once, which names the way back.
    const [{ name, log }] = [broken[0]!];
    const [before, count] = [performance.now(), starts(log)];
    const { error } = await ask(name, 99);
    expect(performance.now() - before).toBeLessThan(1000);
    expect(error?.message).toContain(`acp-master agents --retry ${name}`);
    expect(starts(log)).toBe(count);
    expect((await master.cli(["agents", "--retry", name])).code).toBe(0);
    await ask(name, 100);
    expect(starts(log)).toBe(count + 1);
    expect((await master.cli(["agents", "--retry", "nobody"])).code).toBe(4);
  });

  it("is the only one that fails: the daemon starts and others work, whatever is wrong with a command (FF-118)", async () => {
    await using home = makeHome();
    const at = (name: string) => join(home.work, name);
    mkdirSync(at("folder"));
    writeFileSync(at("not-executable"), "#!/bin/sh\n", { mode: 0o644 });
    writeFileSync(at("no-interpreter"), "#!/nowhere/interpreter\n", { mode: 0o755 });
    closeSync(openSync(at("empty"), "w", 0o755));
    await using fine = fakeAgent();
    const commands: Record<string, string> = {
      missing: "no-such-agent-anywhere",
      absent: at("absent"),
      folder: at("folder"),
      rights: at("not-executable"),
      interpreter: at("no-interpreter"),
    };
    const agents = Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { command }]));
    await using master = await startMaster({ agents: { ...agents, fine }, config: { defaultAgent: "missing" } });
    const client = await clientOf(master, "fine");
    await client.newSession();
    for (const [name, command] of Object.entries(commands)) {
      const other = await master.client();
      const params = { protocolVersion: 1, clientCapabilities: {}, _meta: { "acp-master": { agent: name } } };
      const { error } = await other.request("initialize", params, undefined, 2000);
      expect(error?.data.reason, name).toBe("agent_failed_to_start");
      expect(error?.message, name).toContain(command);
      const meta = { _meta: { "acp-master": { agent: name } } };
      const again = await client.request("session/new", { cwd: client.cwd, mcpServers: [], ...meta }, undefined, 4000);
      expect(again.error?.message, name).toContain(command);
    }
    const rows: { name: string; ready: boolean; why?: string }[] = JSON.parse(
      (await master.cli(["agents", "--json"])).stdout,
    ).agents;
    const missing = rows.find(({ name }) => name === "missing");
    expect(missing).toMatchObject({ ready: false });
    expect(missing?.why).toContain("no-such-agent-anywhere");
    expect((await client.prompt((await client.newSession()).sessionId, "hello")).result.stopReason).toBe("end_turn");
  });
});
