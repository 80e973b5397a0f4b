// Field faults of kind terminal: output is cut between characters, commands end with what they were started for, and a
// terminal is one of its session.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bay, Bench } from "../harness/bench.ts";
import { eventually } from "../harness/events.ts";
import type { Loose, Message } from "../harness/lines.ts";
import { allProcesses, isRunning } from "../harness/processes.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ agents: 24, config: { sessions: { cancelSeconds: 0.3 } } });
});
afterAll(() => bench[Symbol.asyncDispose]());

const place = (): Loose => ({ cwd: bench.master.work, mcpServers: [] });

/** An agent whose editor is gone: this host runs its commands. */
interface OnHost {
  readonly sessionId: string;
  readonly process: ScriptedProcess;
  readonly ask: (method: string, params: object) => Promise<Message>;
  /** Runs a line to its end; gives the terminal's id. */
  readonly run: (command: string, more?: object) => Promise<string>;
}
async function onHost(bay: Bay): Promise<OnHost> {
  const editor = await bay.client({ capabilities: able });
  const { sessionId } = await editor.newSession();
  await editor.prompt(sessionId, "once");
  const process = await bay.process();
  await bench.leave(editor);
  const ask = (method: string, params: object) => process.request(method, { sessionId, ...params });
  const run = async (command: string, more: object = {}): Promise<string> => {
    const { terminalId } = (await ask("terminal/create", { command, ...more })).result;
    await ask("terminal/wait_for_exit", { terminalId });
    return terminalId;
  };
  return { sessionId, process, ask, run };
}

describe("FF-152: output that is longer than its limit", () => {
  let host: OnHost;
  beforeAll(async () => {
    host = await onHost(bench.agent());
  });
  const shown = async (command: string, outputByteLimit?: number): Promise<Loose> => {
    const terminalId = await host.run(command, outputByteLimit === undefined ? {} : { outputByteLimit });
    const { output, truncated } = (await host.ask("terminal/output", { terminalId })).result;
    return { output, truncated };
  };

  const words = { two: "éééé", three: "中中中中", four: "😀😀😀😀", mixed: "aé中😀b" };
  it.each(Object.entries(words))(
    "keeps its end, whole characters only, and says so: %s bytes each",
    async (_, text) => {
      const bytes = Buffer.byteLength(text);
      for (const limit of [0, 1, 2, 3, 4, 5, 7, bytes - 1, bytes, bytes + 1]) {
        const { output, truncated } = await shown(`printf '%s' '${text}'`, limit);
        expect(truncated, `limit ${limit}`).toBe(bytes > limit);
        // The longest end of the text that fits.
        const fitting = Array.from(text, (__, at) => Array.from(text).slice(at).join("")).find(
          (end) => Buffer.byteLength(end) <= limit,
        );
        expect(output, `limit ${limit}`).toBe(fitting ?? "");
      }
    },
  );

  it("has no broken character in it however its command writes, on either stream", async () => {
    // One byte at a time, the two streams in turn.
    const bytes = [...Buffer.from("中é")].map((byte) => `\\${byte.toString(8)}`);
    const dribble = bytes.map((byte) => `printf '${byte}'; printf '${byte}' >&2; sleep 0.01`).join("; ");
    const { output } = await shown(dribble);
    expect(output).not.toContain("\ufffd");
    expect(Array.from(String(output)).toSorted()).toEqual(["é", "é", "中", "中"]);
  });

  it("is text within the limit also where it is no text at all", async () => {
    const limit = 1000;
    for (const command of [
      "head -c 5000 /dev/zero | tr '\\0' '\\200'",
      "head -c 5000 /dev/urandom",
      "yes 中 | head -c 300000",
    ]) {
      const { output, truncated } = await shown(command, limit);
      expect(truncated).toBe(true);
      const bytes = Buffer.from(String(output));
      expect(bytes.length).toBeLessThanOrEqual(limit);
      expect(bytes.length).toBeGreaterThan(limit - 4);
      expect(bytes.toString()).toBe(output);
    }
  });

  it("is passed on as it is where a client serves it", async () => {
    const bay = bench.agent();
    const client = await bay.client({ capabilities: able });
    const { sessionId } = await client.newSession();
    const process = await bay.process();
    client.answer("terminal/create", ({ outputByteLimit }) => ({ terminalId: "t", _meta: { outputByteLimit } }));
    const made = await process.request("terminal/create", { sessionId, command: "c", outputByteLimit: 5 });
    expect(made.result).toEqual({ terminalId: "t", _meta: { outputByteLimit: 5 } });
    const asked = process.request("terminal/output", { sessionId, terminalId: "t" }, "out");
    const question = await client.next("terminal/output");
    // An escaped half of a pair, and more than was asked for: the client's business.
    await client.send(
      `{"jsonrpc":"2.0","id":${JSON.stringify(question.message.id)},"result":{"output":"\\ud83d中","truncated":true,"x":1.0}}`,
    );
    await asked;
    const line = process.lines.all.find(({ message }) => message.id === "out")!;
    expect(line.text).toContain('"result":{"output":"\\ud83d中","truncated":true,"x":1.0}');
  });
});

/** A line that tells the pid of each of its processes: itself, one in the background, and those that go as far as they can. */
const family = [
  "sleep 1000 & echo $!",
  "nohup sleep 1000 >/dev/null 2>&1 & echo $!",
  "setsid sh -c 'echo $$; exec sleep 1000' &",
  "(setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!' &)",
  "sleep 0.05; echo $$; exec sleep 1000",
].join("\n");

async function started(host: OnHost, command = family, count = 5): Promise<{ terminalId: string; pids: number[] }> {
  const { terminalId } = (await host.ask("terminal/create", { command })).result;
  const pids = await eventually(async () => {
    const { output } = (await host.ask("terminal/output", { terminalId })).result;
    const lines = output.trim().split("\n");
    return lines.length === count ? lines.map(Number) : undefined;
  }, "the command tells its pids");
  expect(pids.every(isRunning)).toBe(true);
  return { terminalId, pids };
}

const allEnd = (pids: readonly number[], why: string) =>
  eventually(() => !pids.some(isRunning), `all have ended: ${why}`);

describe("FF-153: commands that are started for an agent, on this host", () => {
  it("end as a whole when the agent dies, kills or releases them, or its session is closed", async () => {
    const bay = bench.agent();
    const host = await onHost(bay);
    const killed = await started(host);
    const waiting = host.ask("terminal/wait_for_exit", { terminalId: killed.terminalId });
    await host.ask("terminal/kill", { terminalId: killed.terminalId });
    expect((await waiting).result).toEqual({ exitCode: null, signal: "SIGKILL" });
    await allEnd(killed.pids, "killed");

    const released = await started(host);
    const answered = host.ask("terminal/wait_for_exit", { terminalId: released.terminalId });
    await host.ask("terminal/release", { terminalId: released.terminalId });
    expect((await answered).result).toEqual({ exitCode: null, signal: "SIGKILL" });
    await allEnd(released.pids, "released");

    const left = await started(host);
    void host.ask("terminal/wait_for_exit", { terminalId: left.terminalId }).catch(() => {}); // nobody is left to hear it
    await host.process.signal("SIGKILL");
    await allEnd(left.pids, "the agent died");
  });

  it("end with their session, though the command itself has ended before", async () => {
    const host = await onHost(bench.agent());
    const left: number[] = [];
    // What it leaves behind holds its output open, or does not.
    for (const rest of ["sleep 1000 & echo $!", "sleep 1000 >/dev/null 2>&1 & echo $!"]) {
      const terminalId = await host.run(rest);
      const { output, exitStatus } = (await host.ask("terminal/output", { terminalId })).result;
      expect(exitStatus).toMatchObject({ exitCode: 0 });
      left.push(Number(output));
    }
    expect(left.every(isRunning)).toBe(true);
    const { pids } = await started(host, "sleep 1000 & echo $!; sleep 1000 & echo $!; wait", 2);
    const watcher = await bench.master.client();
    await watcher.initialize({ agent: null });
    await watcher.call("_acp-master/session/close", { sessionId: host.sessionId });
    await allEnd([...pids, ...left], "the session was closed");
  });

  it("end when the process that serves them is killed, and what was asked of it is answered", async () => {
    const host = await onHost(bench.agent());
    const { terminalId, pids } = await started(host);
    const waiting = host.ask("terminal/wait_for_exit", { terminalId });
    await host.ask("terminal/output", { terminalId });
    const server = allProcesses().find(
      ({ ppid, command }) => ppid === bench.master.pid && command.includes("host-client"),
    )!;
    globalThis.process.kill(server.pid, "SIGKILL");
    expect((await waiting).error?.data.reason).toBe("client_gone");
    await allEnd(pids, "their server was killed");
    expect((await host.ask("terminal/output", { terminalId })).error).toBeDefined();
    // The next one is served again.
    await host.run("true");
  });
});

/** A client that makes terminals and counts what it is asked about them. */
async function hosting(
  bay: Bay,
): Promise<{ client: RawClient; sessionId: string; process: ScriptedProcess; ids: string[] }> {
  const client = await bay.client({ capabilities: able });
  const { sessionId } = await client.newSession();
  await client.prompt(sessionId, "once");
  const process = await bay.process();
  let made = 0;
  client.answer("terminal/create", () => ({ terminalId: `term-${++made}` }));
  client.answer("terminal/release", () => ({}));
  const ids: string[] = [];
  for (const _ of [1, 2, 3]) {
    ids.push((await process.request("terminal/create", { sessionId, command: "sleep 600" })).result.terminalId);
  }
  await process.request("terminal/release", { sessionId, terminalId: ids[0] });
  return { client, sessionId, process, ids: ids.slice(1) };
}

/** What it was asked to release after the one that `hosting` had released. */
const released = (client: RawClient): Loose[] =>
  client
    .received("terminal/release")
    .slice(1)
    .map(({ params }) => params);

describe("FF-153: commands that a client runs for an agent", () => {
  interface Hosted {
    readonly bay: Bay;
    readonly client: RawClient;
    readonly sessionId: string;
    readonly process: ScriptedProcess;
  }
  const ends: Record<string, (its: Hosted) => Promise<unknown>> = {
    "the agent is killed": ({ process }) => process.signal("SIGKILL"),
    "the agent exits": ({ process }) => process.exit(),
    "the client closes the session": ({ client, sessionId }) => client.call("session/close", { sessionId }),
    "the session is closed from elsewhere": async ({ sessionId }) => {
      expect((await bench.master.cli(["close", sessionId])).code).toBe(0);
    },
    "the agent ignores a cancel and is given up": async ({ bay, client, sessionId, process }) => {
      bay.agent.setAuto("session/prompt", false);
      const turn = client.prompt(sessionId, "for ever");
      await process.received(
        ({ method, params }) => method === "session/prompt" && params.prompt[0].text === "for ever",
      );
      await client.notify("session/cancel", { sessionId });
      expect((await turn).result).toEqual({ stopReason: "cancelled" });
    },
  };
  it.each(Object.entries(ends))("are released at the client when %s", async (_, end) => {
    const bay = bench.agent();
    const { client, sessionId, process, ids } = await hosting(bay);
    void process.request("terminal/wait_for_exit", { sessionId, terminalId: ids[0] }).catch(() => {}); // it may not live to hear
    const wait = await client.next("terminal/wait_for_exit");
    await end({ bay, client, sessionId, process });
    await eventually(() => released(client).length === ids.length, "the client is told to end them");
    expect(released(client)).toEqual(ids.map((terminalId) => ({ sessionId, terminalId })));
    // A late answer, be it to a dead agent, does no harm.
    await client.send({ jsonrpc: "2.0", id: wait.message.id, result: { exitCode: null, signal: "SIGKILL" } });
    await client.expectSilence(({ method }) => method === "terminal/release");
  });

  it("are released when the client had only just made them", async () => {
    const bay = bench.agent();
    const client = await bay.client({ capabilities: able });
    const { sessionId } = await client.newSession();
    await client.prompt(sessionId, "once");
    const process = await bay.process();
    void process.request("terminal/create", { sessionId, command: "sleep 600" }).catch(() => {}); // it dies first
    const create = await client.next("terminal/create");
    await process.signal("SIGKILL");
    await client.next("$/cancel_request");
    await client.send({ jsonrpc: "2.0", id: create.message.id, result: { terminalId: "late" } });
    expect((await client.next("terminal/release")).message.params).toEqual({ sessionId, terminalId: "late" });
  });

  it("are answered for when the client goes: what waits for their end gets an error, and so does what follows", async () => {
    const bay = bench.agent();
    const { client, sessionId, process, ids } = await hosting(bay);
    const waiting = ids.map((terminalId) => process.request("terminal/wait_for_exit", { sessionId, terminalId }));
    for (const _ of ids) await client.next("terminal/wait_for_exit");
    await client.close();
    for (const answer of waiting) expect((await answer).error?.data.reason).toBe("client_gone");
    for (const method of ["terminal/output", "terminal/kill", "terminal/release", "terminal/wait_for_exit"]) {
      const { error } = await process.request(method, { sessionId, terminalId: ids[0] });
      expect(error?.data.reason, method).toBe("client_gone");
    }
  });
});

describe("FF-154: terminals of the same name", () => {
  it("are each the one of its session, in one process or two, at two clients or one", async () => {
    const bay = bench.agent();
    const clients = [await bay.client({ capabilities: able }), await bay.client({ capabilities: able })];
    const sessions: string[] = [];
    // The second client has two sessions and gives the same name in both.
    for (const client of [clients[0]!, clients[1]!, clients[1]!]) sessions.push((await client.newSession()).sessionId);
    const process = await bay.process();
    for (const [n, client] of clients.entries()) {
      client.answer("terminal/create", () => ({ terminalId: "term-1" }));
      for (const method of ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]) {
        client.answer(method, ({ sessionId, terminalId }) => ({ of: sessionId, terminalId, by: n }));
      }
    }
    for (const sessionId of sessions) await process.request("terminal/create", { sessionId, command: "c" });
    for (const method of ["terminal/output", "terminal/wait_for_exit", "terminal/kill"]) {
      for (const [at, sessionId] of sessions.entries()) {
        const { result } = await process.request(method, { sessionId, terminalId: "term-1" });
        expect(result).toEqual({ of: sessionId, terminalId: "term-1", by: at === 0 ? 0 : 1 });
      }
    }
    // Released in one session it lives on in the others, and still belongs to whoever made it there.
    await process.request("terminal/release", { sessionId: sessions[1], terminalId: "term-1" });
    await clients[0]!.call("session/resume", { sessionId: sessions[2], ...place() });
    await clients[1]!.call("session/resume", { sessionId: sessions[0], ...place() });
    for (const [at, by] of [
      [0, 0],
      [2, 1],
    ] as const) {
      const { result } = await process.request("terminal/output", { sessionId: sessions[at], terminalId: "term-1" });
      expect(result).toEqual({ of: sessions[at], terminalId: "term-1", by });
    }
  });

  it("are kept apart in a session and in one below it, and each is released under its own", async () => {
    const bay = bench.agent({ "session/prompt": false });
    const client = await bay.client({ capabilities: { ...able, subagents: {} } });
    const { sessionId } = await client.newSession();
    client.prompt(sessionId, "delegate").catch(() => {}); // the agent dies before its end
    const process = await bay.process();
    await process.received("session/prompt");
    const child = `${sessionId}-child`;
    await process.update(sessionId, { sessionUpdate: "subagent_update", sessionId: child, status: "running" });
    client.answer("terminal/create", () => ({ terminalId: "term-1" }));
    for (const id of [sessionId, child]) {
      expect((await process.request("terminal/create", { sessionId: id, command: "c" })).result.terminalId).toBe(
        "term-1",
      );
    }
    await process.signal("SIGKILL");
    await eventually(() => client.received("terminal/release").length === 2, "both are released");
    expect(client.received("terminal/release").map(({ params }) => params.sessionId)).toEqual([sessionId, child]);
  });

  it("are nobody else's on this host: another session's terminal is not there, and takes no room", async () => {
    const [one, other] = [await onHost(bench.agent()), await onHost(bench.agent())];
    for (let n = 0; n < 64; n++) await other.run("true");
    const { error: full } = await other.ask("terminal/create", { command: "true" });
    expect(full?.message).toMatch(/64 terminals/);
    const terminalId = await one.run("echo secret");
    for (const method of ["terminal/output", "terminal/kill", "terminal/release", "terminal/wait_for_exit"]) {
      expect((await other.ask(method, { terminalId })).error?.code, method).toBe(-32002);
    }
    expect((await one.ask("terminal/output", { terminalId })).result.output).toBe("secret\n");
  });
});

describe("FF-153: commands on this host, at the end of the daemon itself", () => {
  const ends: Record<string, () => Promise<unknown>> = {
    "is stopped": () => bench.master.stop(),
    "is killed": () => bench.master.kill9(),
  };
  it.each(Object.entries(ends))("end with it as a whole when it %s", async (_, end) => {
    const { pids } = await started(await onHost(bench.agent()));
    await end();
    await allEnd(pids, "the daemon has ended");
    await bench.master.serve();
  });
});
