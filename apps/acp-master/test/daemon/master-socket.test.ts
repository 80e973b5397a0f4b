import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { chmodSync, chownSync } from "node:fs";
import { connect, createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { resolvePlaces } from "../../src/config/places.ts";
import { openMasterSocket } from "../../src/daemon/master-socket.ts";
import { bundledProgram, FixtureHome, isAlive } from "./fixture-home.ts";

let folder: string;
let program: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acpm-program-"));
  program = bundledProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    socket.write('{"jsonrpc":"2.0","id":1,"method":"hello"}\n');
    const [reply] = await once(socket, "data");
    return String(reply).includes('"id":1');
  } finally {
    socket.destroy();
  }
}

const ignore = (): void => {};

describe("a daemon that was killed", () => {
  it("leaves a socket that the next one replaces", async () => {
    await using home = new FixtureHome(program);
    const first = await home.serve();
    first.child.kill("SIGKILL");
    await first.ended;
    expect(lstatSync(home.places.socketPath).isSocket()).toBe(true);
    const second = await home.serve();
    expect(await answers(home.places.socketPath)).toBe(true);
    expect(JSON.parse(readFileSync(home.places.masterFile, "utf8"))).toMatchObject({ pid: second.child.pid });
  });
});

describe("a daemon that runs", () => {
  it("keeps its socket when another one is started, which says so", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const inode = lstatSync(home.places.socketPath).ino;
    const second = home.start(["serve"]);
    expect((await second.ended).code).toBe(1);
    expect(second.errors()).toMatch(/^running: .*already running/);
    expect(lstatSync(home.places.socketPath).ino).toBe(inode);
    expect(await answers(home.places.socketPath)).toBe(true);
  });

  it("counts as running while it is stopped, and serves on afterwards", async () => {
    await using home = new FixtureHome(program);
    const first = await home.serve();
    first.child.kill("SIGSTOP");
    const second = home.start(["serve"]);
    expect((await second.ended).code).toBe(1);
    expect(second.errors()).toMatch(/^running: /);
    first.child.kill("SIGCONT");
    expect(await answers(home.places.socketPath)).toBe(true);
    expect(home.births()).toHaveLength(1);
  });

  it("counts as running while it is stopped and its queue of new connections is full", async () => {
    await using home = new FixtureHome(program);
    const first = await home.serve();
    first.child.kill("SIGSTOP");
    const waiting = [];
    for (let full = false; !full;) {
      const socket = connect(home.places.socketPath);
      socket.on("error", ignore);
      waiting.push(socket);
      full = await Promise.race([
        once(socket, "connect").then(() => false),
        once(socket, "close").then(() => true),
      ]).catch(() => true);
    }
    const opened = await openMasterSocket(home.places, ignore);
    for (const socket of waiting) socket.destroy();
    expect(opened).toMatchObject({ ok: false, reason: "running" });
  });
});

describe("something else at the socket's place", () => {
  it.each(["file", "folder", "symbolic link"])("a %s stays untouched and stops the start", async (kind) => {
    await using home = new FixtureHome(program);
    const { runDir, socketPath } = home.places;
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
    const target = join(home.root, "target");
    writeFileSync(target, "precious");
    if (kind === "file") writeFileSync(socketPath, "precious");
    else if (kind === "folder") mkdirSync(socketPath);
    else symlinkSync(target, socketPath);
    const opened = await openMasterSocket(home.places, ignore);
    expect(opened).toMatchObject({ ok: false, reason: "in_the_way" });
    expect(opened.ok ? "" : opened.message).toContain(socketPath);
    const stat = lstatSync(socketPath);
    expect([stat.isFile(), stat.isDirectory(), stat.isSymbolicLink()]).toEqual([
      kind === "file",
      kind === "folder",
      kind === "symbolic link",
    ]);
    expect(readFileSync(target, "utf8")).toBe("precious");
    expect(readdirSync(runDir)).toEqual(["master.sock"]);
  });

  it.runIf(process.getuid?.() === 0)("another user's socket stays, dead as it is", async () => {
    await using home = new FixtureHome(program);
    const dead = await home.serve();
    dead.child.kill("SIGKILL");
    await dead.ended;
    chownSync(home.places.socketPath, 12_345, 12_345);
    expect(await openMasterSocket(home.places, ignore)).toMatchObject({ ok: false, reason: "in_the_way" });
    expect(lstatSync(home.places.socketPath).uid).toBe(12_345);
  });
});

describe("the folder of the socket", () => {
  it("must be closed to others", async () => {
    await using home = new FixtureHome(program);
    mkdirSync(home.places.runDir, { recursive: true });
    chmodSync(home.places.runDir, 0o755);
    const opened = await openMasterSocket(home.places, ignore);
    expect(opened).toMatchObject({ ok: false, reason: "rights" });
    expect(opened.ok ? "" : opened.message).toContain(`chmod 700 '${home.places.runDir}'`);
    expect(readdirSync(home.places.runDir)).toEqual([]);
  });

  it("may be deep below a long path: the socket then has a short private place, the same for every spelling", async () => {
    await using home = new FixtureHome(program);
    const deep = join(home.root, "d".repeat(60), "e".repeat(60));
    const places = resolvePlaces({ ACP_MASTER_HOME: deep });
    expect(Buffer.byteLength(places.socketPath)).toBeLessThanOrEqual(103);
    const opened = await openMasterSocket(places, ignore);
    if (!opened.ok) throw new Error(opened.message);
    try {
      expect(lstatSync(join(places.socketPath, "..")).mode & 0o777).toBe(0o700);
      expect(lstatSync(places.socketPath).mode & 0o777).toBe(0o600);
      symlinkSync(deep, join(home.root, "short"));
      expect(resolvePlaces({ ACP_MASTER_HOME: join(home.root, "short") }).socketPath).toBe(places.socketPath);
      expect(JSON.parse(readFileSync(places.masterFile, "utf8"))).toMatchObject({ socket: places.socketPath });
    } finally {
      await opened.socket[Symbol.asyncDispose]();
      rmSync(join(places.socketPath, ".."), { recursive: true });
    }
  });
});

describe("rights", () => {
  it("are never wider than 0600 and 0700 during a start under umask 000", async () => {
    await using home = new FixtureHome(program);
    const script = `umask 000; exec "$0" "$@"`;
    const seen = new Set<string>();
    const daemon = home.run("sh", ["-c", script, process.execPath, program, "serve"], {
      env: { ...process.env, ACP_MASTER_HOME: home.home },
    });
    let ready = false;
    const done = daemon.says('"ready":true').then(() => (ready = true));
    const look = (path: string): void => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat !== undefined) seen.add(`${stat.isDirectory() ? "folder" : "file"} ${(stat.mode & 0o777).toString(8)}`);
    };
    for (let last = false; !last;) {
      last = ready;
      look(home.places.runDir);
      const names = existsSync(home.places.runDir) ? readdirSync(home.places.runDir) : [];
      for (const name of names) look(join(home.places.runDir, name));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    expect(seen).toEqual(new Set(["file 600", "folder 700"]));
    expect(lstatSync(home.places.socketPath).mode & 0o777).toBe(0o600);
    expect(lstatSync(home.places.masterFile).mode & 0o777).toBe(0o600);
  });
});

describe("the end of a daemon", () => {
  it("removes its socket and its file", async () => {
    await using home = new FixtureHome(program);
    const daemon = await home.serve();
    daemon.child.kill("SIGTERM");
    expect((await daemon.ended).code).toBe(0);
    expect(readdirSync(home.places.runDir)).toEqual([]);
  });

  it("leaves the files of the next one alone, which started during a slow drain", async () => {
    await using home = new FixtureHome(program);
    const old = await home.serve({ env: { FIXTURE: "slow-drain" } });
    old.child.kill("SIGTERM");
    await old.says("draining");
    const next = await home.serve();
    old.child.stdin?.end("go\n");
    expect((await old.ended).code).toBe(0);
    expect(await answers(home.places.socketPath)).toBe(true);
    expect(JSON.parse(readFileSync(home.places.masterFile, "utf8"))).toMatchObject({ pid: next.child.pid });
  });

  it("leaves a socket alone that somebody else put in the place of its own", async () => {
    await using home = new FixtureHome(program);
    const opened = await openMasterSocket(home.places, ignore);
    if (!opened.ok) throw new Error(opened.message);
    rmSync(home.places.socketPath);
    const other = createServer().listen(home.places.socketPath);
    await once(other, "listening");
    await opened.socket[Symbol.asyncDispose]();
    expect(lstatSync(home.places.socketPath).isSocket()).toBe(true);
    other.close();
    await once(other, "close");
  });
});

describe("twenty daemons started at once", () => {
  it("are one", async () => {
    await using home = new FixtureHome(program);
    const daemons = Array.from({ length: 20 }, () => home.start(["serve"]));
    const outcomes = await Promise.allSettled(daemons.map((daemon) => daemon.says('"ready":true')));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(daemons.filter((daemon) => daemon.errors().startsWith("running: "))).toHaveLength(19);
    expect(home.births().filter(isAlive)).toHaveLength(1);
  });
});
