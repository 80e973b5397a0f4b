// Field faults of kind daemon-start: at most one daemon, never a live one taken for dead, never a foreign file removed.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect as connectSocket, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import { makeHome, type Home } from "../harness/home.ts";
import { Daemon, startMaster, type Master } from "../harness/master.ts";
import { isRunning, processesMarked, processGone } from "../harness/processes.ts";
import { masterProgram, Program, runProgram } from "../harness/program.ts";
import { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";

/** ACP_MASTER_FULL_SIZE=1: as often as the faults ask for. */
const full = process.env.ACP_MASTER_FULL_SIZE === "1";

const daemonsOf = (home: Home) =>
  processesMarked(home.marker).filter(({ command }) => / serve( |$)/.test(command) && /acp-master\.c?js/.test(command));

const sessionParams = (cwd: string) => ({ cwd, mcpServers: [] });

/** A client of the daemon that runs in a home that was started by somebody else. */
async function clientOf(home: Home, agent: string | null): Promise<RawClient> {
  const file = await eventually(() => home.masterFile(), "a daemon is ready");
  const client = await RawClient.overSocket(file.socket);
  home.own(client);
  client.cwd = home.work;
  await client.initialize({ agent });
  return client;
}

describe("a start after a kill", () => {
  it("takes a dead socket's place within two seconds, by serve and by connect (FF-123)", async () => {
    await using master = await startMaster({});
    const { ino } = statSync(master.socket);
    await master.kill9();
    expect(statSync(master.socket).ino).toBe(ino);
    const before = performance.now();
    await master.serve();
    expect(performance.now() - before).toBeLessThan(full ? 2000 : 5000);
    await master.kill9();
    const shim = master.connect();
    await shim.initialize({ agent: null });
    expect(daemonsOf(master)).toHaveLength(1);
    expect((await master.cli(["stop"])).code).toBe(0);
    await shim.ended;
  });

  it("clears what a daemon left that was killed while it was opening its socket (FF-123)", async () => {
    await using home = makeHome();
    const run = join(home.home, "run");
    mkdirSync(run, { mode: 0o700 });
    const left = join(run, "m0123456789");
    const maker = new Program(
      process.execPath,
      [
        "-e",
        `require("net").createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, "SIGKILL"))`,
      ],
      { env: home.env },
    );
    await maker.exited;
    expect(existsSync(left)).toBe(true);
    const shim = home.connect();
    await shim.initialize({ agent: null });
    expect(existsSync(left)).toBe(false);
    await shim.close();
  });
});

describe("a second start", () => {
  it("is refused with a clear line, and the first daemon serves on with its turn (FF-123)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const client = await clientOf(master, "fake");
    await client.newSession();
    const turn = client.prompt("a", "hello", 20_000);
    const process = await agent.process();
    const prompt = await process.received("session/prompt");
    for (const args of [["serve"], ["serve", "--json"]]) {
      const second = await master.cli(args);
      expect(second).toMatchObject({ code: 1, stdout: "" });
      expect(second.stderr).toMatch(/^acp-master: .*already running on .*acp-master stop\n$/);
    }
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result.stopReason).toBe("end_turn");
    expect(master.masterFile()?.pid).toBe(master.pid);
  });

  it("never takes a stopped daemon for dead, also not when its queue of connections is full (FF-124)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"] });
    await using master = await startMaster({ agents: { fake: agent } });
    const client = await clientOf(master, "fake");
    await client.newSession();
    const { ino, mtimeMs } = statSync(master.socket);
    const content = readFileSync(join(master.home, "run", "master.json"), "utf8");
    const unchanged = () => {
      expect(statSync(master.socket)).toMatchObject({ ino, mtimeMs });
      expect(readFileSync(join(master.home, "run", "master.json"), "utf8")).toBe(content);
      expect(daemonsOf(master).map(({ pid }) => pid)).toEqual([master.pid]);
    };
    process.kill(master.pid, "SIGSTOP");
    const waiting: Socket[] = [];
    try {
      expect(await master.cli(["serve"])).toMatchObject({ code: 1, stdout: "" });
      unchanged();
      // A shim waits for it; it starts no other.
      const shim = master.connect();
      const introduced = shim.initialize({ agent: null });
      await fillQueue(master.socket, waiting);
      const second = await master.cli(["serve"]);
      expect(second).toMatchObject({ code: 1, stdout: "" });
      expect(second.stderr).toMatch(/already running/);
      unchanged();
      process.kill(master.pid, "SIGCONT");
      await introduced;
      unchanged();
    } finally {
      process.kill(master.pid, "SIGCONT");
      for (const socket of waiting) socket.destroy();
    }
    expect((await client.prompt("a", "hello")).result.stopReason).toBe("end_turn");
  });

  it("does not disturb its replacement when a slow one ends late (FF-126)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
    await using master = await startMaster({
      agents: { fake: agent },
      config: { daemon: { drainSeconds: 60 } },
    });
    const client = await clientOf(master, "fake");
    await client.newSession();
    const turn = client.prompt("a", "hello", 30_000);
    const process = await agent.process();
    const prompt = await process.received("session/prompt");
    const old = { pid: master.pid, program: master.daemon.program };
    old.program.child.kill("SIGTERM");
    await eventually(() => !existsSync(master.socket), "the old daemon has given its socket back");
    const next = new Daemon(master);
    await eventually(() => existsSync(master.socket), "the new one has taken the place");
    expect(isRunning(old.pid)).toBe(true);
    // Whoever comes meanwhile waits for the new one.
    const early = await RawClient.overSocket(master.socket);
    master.own(early);
    const introduced = early.initialize({ agent: null });
    await process.answer(prompt, { stopReason: "end_turn" });
    expect((await turn).result.stopReason).toBe("end_turn");
    expect(await old.program.exited).toMatchObject({ code: 0 });
    const ready = await next.waitReady();
    master.daemon = next;
    expect(master.masterFile()?.pid).toBe(ready.pid);
    expect((await introduced)._meta["acp-master"].version).toBeDefined();
    expect(JSON.parse((await master.cli(["status", "--json"])).stdout).pid).toBe(ready.pid);
  });

  it("does not disturb one that took the place of its socket while it ran (FF-126)", async () => {
    await using master = await startMaster({});
    const old = { pid: master.pid, program: master.daemon.program };
    // Somebody tidied up; for a next start there is no daemon.
    rmSync(master.socket);
    const next = new Daemon(master);
    const { ino } = await eventually(
      () => statSync(master.socket, { throwIfNoEntry: false }),
      "the new one has the place",
    );
    expect(await old.program.end("SIGTERM", 20_000)).toMatchObject({ code: 0 });
    const ready = await next.waitReady();
    master.daemon = next;
    expect(ready.pid).not.toBe(old.pid);
    expect(statSync(master.socket).ino).toBe(ino);
    expect(master.masterFile()?.pid).toBe(ready.pid);
    expect(JSON.parse((await master.cli(["status", "--json"])).stdout).pid).toBe(ready.pid);
  });
});

/** Connects until the kernel takes no more. */
async function fillQueue(path: string, into: Socket[]): Promise<void> {
  for (;;) {
    const socket = connectSocket(path);
    into.push(socket);
    const refused = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(false));
      socket.once("error", () => resolve(true));
    });
    if (refused) return;
    socket.on("error", () => {}); // the daemon may close it before we do
  }
}

describe("many starts at once", () => {
  it("make one daemon that serves them all: connects and runs (FF-125)", async () => {
    for (let round = 0; round < (full ? 20 : 2); round++) {
      await using home = makeHome({ config: { defaultAgent: "demo" } });
      const shims = Array.from({ length: 14 }, () => home.connect());
      const runs = Array.from({ length: 6 }, () =>
        home.cli(["run", "--cwd", home.work, "/stream 1"], { deadlineMs: 60_000 }),
      );
      const answers = await Promise.all(
        shims.map((shim) =>
          shim.call("initialize", { protocolVersion: 1, _meta: { "acp-master": { agent: null } } }, 60_000),
        ),
      );
      expect(new Set(answers.map((answer) => answer._meta["acp-master"].clientId)).size).toBe(14);
      for (const run of await Promise.all(runs)) expect(run).toMatchObject({ code: 0 });
      expect(daemonsOf(home).map(({ pid }) => pid)).toEqual([home.masterFile()?.pid]);
      expect(home.logLines().filter(({ msg }) => msg === "daemon started")).toHaveLength(1);
      const { clients, agents } = JSON.parse((await home.cli(["status", "--json"])).stdout);
      expect(clients).toBe(15);
      expect(agents).toHaveLength(1);
      for (const shim of shims) await shim.close();
    }
  }, 600_000);

  it("end with the same reason for all when the daemon cannot start (FF-125)", async () => {
    await using home = makeHome({ config: '{ "agents": 7 }' });
    const shims = Array.from({ length: 6 }, () => home.connect());
    for (const shim of shims) {
      const answer = await shim.request("initialize", { protocolVersion: 1 }, undefined, 30_000);
      expect(answer.error?.message).toMatch(/config\.json.*agents/s);
      expect((await shim.program!.exited).code).toBe(1);
    }
    expect(daemonsOf(home)).toEqual([]);
  });
});

const stamp = (path: string) => () => {
  const { ino, mode, mtimeMs, size, uid } = lstatSync(path);
  return { ino, mode, mtimeMs, size, uid };
};

describe("something in the way", () => {
  interface Obstacle {
    readonly what: string;
    /** Puts it there; gives a function that reads what must not change. */
    put(path: string): () => unknown;
  }
  const obstacles: Obstacle[] = [
    {
      what: "a file with content",
      put(path) {
        writeFileSync(path, "precious");
        return () => [readFileSync(path, "utf8"), stamp(path)()];
      },
    },
    {
      what: "a folder",
      put(path) {
        mkdirSync(path);
        writeFileSync(join(path, "inside"), "precious");
        return () => [readdirSync(path), stamp(path)()];
      },
    },
    {
      what: "a symbolic link to a file",
      put(path) {
        writeFileSync(`${path}.target`, "precious");
        symlinkSync(`${path}.target`, path);
        return () => [readlinkSync(path), readFileSync(`${path}.target`, "utf8"), stamp(path)()];
      },
    },
    {
      what: "a symbolic link to nothing",
      put(path) {
        symlinkSync("/nowhere/at/all", path);
        return () => [readlinkSync(path), stamp(path)()];
      },
    },
  ];

  it.each(obstacles)("is named and left as it is: $what at the socket's place (FF-128)", async (obstacle) => {
    await using home = makeHome();
    const run = join(home.home, "run");
    mkdirSync(run, { mode: 0o700 });
    const path = join(run, "master.sock");
    const read = obstacle.put(path);
    const before = read();
    const served = await home.cli(["serve"]);
    expect(served).toMatchObject({ code: 1, stdout: "" });
    expect(served.stderr).toContain(path);
    const shim = home.connect();
    const answer = await shim.request("initialize", { protocolVersion: 1 });
    expect(answer.error?.message).toContain(path);
    expect((await shim.program!.exited).code).toBe(1);
    expect((await home.cli(["stop"])).code).not.toBe(0);
    expect(read()).toEqual(before);
    expect(daemonsOf(home)).toEqual([]);
  });

  it("is never a live socket of another program, which goes on (FF-128)", async () => {
    await using home = makeHome();
    const run = join(home.home, "run");
    mkdirSync(run, { mode: 0o700 });
    const path = join(run, "master.sock");
    const others: Socket[] = [];
    const server = createServer((socket) => {
      others.push(socket);
      socket.on("error", () => {}); // whoever looked has gone
    });
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    const { ino } = statSync(path);
    try {
      expect(await home.cli(["serve"])).toMatchObject({ code: 1, stdout: "" });
      expect(statSync(path).ino).toBe(ino);
      expect(others.length).toBeGreaterThan(0);
    } finally {
      for (const socket of others) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    }
  });

  it.runIf(process.getuid?.() === 0)(
    "is a socket or a folder of another user, which only root can make (FF-128)",
    async () => {
      await using home = makeHome();
      const run = join(home.home, "run");
      mkdirSync(run, { mode: 0o700 });
      const path = join(run, "master.sock");
      const maker = new Program(
        process.execPath,
        [
          "-e",
          `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
        ],
        { env: home.env },
      );
      await maker.exited;
      chownSync(path, 12_345, 12_345);
      const foreign = await home.cli(["serve"]);
      expect(foreign.code).toBe(1);
      expect(foreign.stderr).toMatch(/belongs to user 12345/);
      expect(statSync(path).uid).toBe(12_345);
      rmSync(path);
      chownSync(run, 12_345, 12_345);
      for (const args of [["serve"], ["run", "hello"]]) {
        const refused = await home.cli(args);
        expect(refused.code).not.toBe(0);
        expect(refused.stderr).toMatch(/belongs to user 12345/);
      }
      expect(readdirSync(run)).toEqual([]);
    },
  );

  it("is a folder that others may enter, with the remedy that cures it", async () => {
    await using home = makeHome();
    for (const name of ["run", "state"]) {
      const folder = join(home.home, name);
      mkdirSync(folder, { mode: 0o755, recursive: true });
      chmodSync(folder, 0o755);
      const refused = await home.cli(["serve"]);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      const remedy = /Run: (chmod 700 '.*')/.exec(refused.stderr)?.[1];
      expect(remedy).toBe(`chmod 700 '${folder}'`);
      expect(statSync(folder).mode & 0o777).toBe(0o755);
      await runProgram("sh", ["-c", remedy!], { env: home.env });
    }
    const shim = home.connect();
    await shim.initialize({ agent: null });
    await shim.close();
  });

  it("is a folder above that anybody can write, or a link in the folder's place", async () => {
    await using home = makeHome();
    const open = join(home.folder, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    const refused = await home.cli(["serve"], { env: { ACP_MASTER_HOME: join(open, "home") } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/Any user can write .*open/);
    const elsewhere = join(home.folder, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, join(home.home, "run"));
    const linked = await home.cli(["serve"]);
    expect(linked.code).toBe(1);
    expect(linked.stderr).toMatch(/symbolic link/);
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

describe("a socket path that is too long", () => {
  it("is replaced by a short private one, the same for every program and another for every home", async () => {
    await using home = makeHome();
    const sockets: string[] = [];
    for (const name of ["one", "two"]) {
      const long = join(home.folder, `${name}-${"long".repeat(30)}`);
      mkdirSync(long, { mode: 0o700 });
      const env = { ACP_MASTER_HOME: long };
      const shim = home.connect([], { env });
      await shim.initialize({ agent: null });
      const { pid, socket } = JSON.parse(readFileSync(join(long, "run", "master.json"), "utf8"));
      sockets.push(socket);
      expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(103);
      expect(statSync(socket).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
      const seen = JSON.parse((await home.cli(["status", "--json"], { env })).stdout);
      expect(seen).toMatchObject({ pid, socket });
      expect((await home.cli(["serve"], { env })).stderr).toMatch(/already running/);
      expect((await home.cli(["stop"], { env })).code).toBe(0);
      expect(existsSync(socket)).toBe(false);
      rmSync(dirname(socket), { recursive: true });
    }
    expect(new Set(sockets).size).toBe(2);
  });
});

/** The built programs under another version number. */
function otherVersion(home: Home): string {
  const folder = join(home.folder, "other");
  cpSync(dirname(masterProgram), folder, { recursive: true, filter: (source) => !source.endsWith(".map") });
  let changed = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const text = readFileSync(path, "utf8");
    const next = text.replace(/VERSION = "0\.1\.0"/g, 'VERSION = "9.9.9"');
    if (next !== text) {
      changed++;
      writeFileSync(path, next);
    }
  }
  expect(changed).toBeGreaterThan(0);
  return join(folder, "acp-master.js");
}

describe("another version", () => {
  it("is refused with both versions and the remedy, in both directions, and no turn is disturbed (FF-129)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a", "b", "c"], auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent } });
    const other = otherVersion(master);
    const own = masterProgram;
    for (const [program, mine, theirs, turnId] of [
      [other, "9.9.9", "0.1.0", "a"],
      [own, "0.1.0", "9.9.9", "b"],
    ] as const) {
      // The daemon is of `theirs`, the programs of `mine`.
      const client = await clientOf(master, "fake");
      await client.newSession();
      const turn = client.prompt(turnId, "hello", 30_000);
      const process_ = agent.processes.at(-1)!;
      const prompt = await process_.received("session/prompt");
      for (const args of [["status"], ["sessions", "--json"], ["approvals"], ["cancel", "a"], ["run", "hello"]]) {
        const run = await runProgram(process.execPath, [program, ...args], { env: master.env });
        expect(run.code, args[0]).toBe(1);
        expect(run.stdout, args[0]).toBe("");
        expect(run.stderr, args[0]).toContain(mine);
        expect(run.stderr, args[0]).toContain(theirs);
        expect(run.stderr, args[0]).toContain("acp-master restart");
        expect(run.stderr.trim().split("\n"), args[0]).toHaveLength(1);
      }
      const shim = new Program(process.execPath, [program, "connect", "fake"], { env: master.env });
      master.own({ [Symbol.asyncDispose]: async () => void (await shim.end("SIGKILL", 5000)) });
      const editor = RawClient.overProgram(shim);
      const { error } = await editor.request("initialize", { protocolVersion: 1 });
      expect(error?.data.reason).toBe("version_mismatch");
      expect(error?.message).toContain(mine);
      expect(error?.message).toContain(theirs);
      editor.endInput();
      await within(shim.exited, "the shim ends with its editor", 5000);
      await process_.answer(prompt, { stopReason: "end_turn" });
      expect((await turn).result.stopReason).toBe("end_turn");
      // The remedy: a daemon of the program's own version.
      const restarted = await runProgram(process.execPath, [program, "restart"], { env: master.env });
      expect(restarted).toMatchObject({ code: 0, stderr: "" });
      expect(master.masterFile()?.version).toBe(mine);
    }
  });
});

describe("a restart while clients are attached", () => {
  it("tells them why, answers what is due, and the next connection works", async () => {
    await using agent = fakeAgent({ sessionIds: ["a", "b"], auto: { "session/prompt": false } });
    await using master: Master = await startMaster({ agents: { fake: agent } });
    const client = await clientOf(master, "fake");
    await client.newSession();
    const shim = master.connect(["fake"]);
    await shim.initialize();
    await shim.newSession();
    const turns = [client.prompt("a", "hello", 30_000), shim.prompt("b", "hello", 30_000)];
    const process = await agent.process();
    await process.received("session/prompt");
    await process.received("session/prompt");
    const old = master.pid;
    const restarted = await master.cli(["restart"], { deadlineMs: 40_000 });
    expect(restarted).toMatchObject({ code: 0, stderr: "" });
    expect(isRunning(old)).toBe(false);
    expect(master.masterFile()?.pid).not.toBe(old);
    for (const turn of turns) expect((await turn).result.stopReason).toBe("cancelled");
    expect((await client.waitFor("_acp-master/closing")).message.params.reason).toBe("restart");
    await client.ended;
    await processGone(process.pid, 1000);
    const next = await clientOf(master, "fake");
    expect((await next.newSession()).sessionId).toBeDefined();
    await shim.close();
  });
});

describe("a configuration that changes while the daemon runs", () => {
  it("takes effect when it is valid; an invalid one leaves the old in force and shows in status", async () => {
    await using first = fakeAgent();
    await using second = fakeAgent();
    await using master = await startMaster({ agents: { first } });
    const client = await clientOf(master, null);
    const open = (agent: string) =>
      client.request("session/new", { ...sessionParams(master.work), _meta: { "acp-master": { agent } } });
    const problem = async () => (await client.call("_acp-master/status", {})).config.problem;
    expect((await open("second")).error?.data.reason).toBe("unknown_agent");

    master.configure({ agents: { first, second } });
    await eventually(async () => (await open("second")).result !== undefined, "the new agent can be used");
    expect(await problem()).toBeUndefined();

    for (const [text, named] of [
      ['{ "agents": { "first": { "command": 7 } } }', "agents.first.command"],
      ['{ "sessions": { "idelMinutes": 3 } }', "idelMinutes"],
      ['{ "agents": ', "line 1"],
      ["", "empty"],
    ] as const) {
      writeFileSync(master.configFile, text);
      await eventually(async () => (await problem())?.includes(named), `status names ${named}`);
      const shown = await master.cli(["status"]);
      expect(shown.stdout).toContain(named);
      expect(shown.stdout).toContain("acp-master config check");
      expect((await open("second")).result, named).toBeDefined();
    }

    // An editor that writes a new file in the old one's place.
    const beside = `${master.configFile}.new`;
    writeFileSync(beside, JSON.stringify({ agents: { second: second.definition }, daemon: { drainSeconds: 1 } }));
    await runProgram("mv", [beside, master.configFile], { env: master.env });
    await eventually(async () => (await problem()) === undefined, "the problem is gone");
    expect((await open("first")).error?.data.reason).toBe("unknown_agent");
    expect((await open("second")).result).toBeDefined();
    expect(master.masterFile()?.pid).toBe(master.pid);
  });
});
