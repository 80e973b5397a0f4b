import { lstatSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundledProgram, FixtureHome, isAlive } from "../daemon/fixture-home.ts";
import { probeSocket } from "../../src/daemon/probe-socket.ts";
import { ensureDaemon, reachDaemon } from "../../src/shim/ensure-daemon.ts";
import { daemonEnvironment } from "../../src/shim/start-daemon.ts";

let folder: string;
let program: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acpm-program-"));
  program = bundledProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const statOf = (of: number | "self") => readFileSync(`/proc/${of}/stat`, "utf8").split(") ")[1]!.split(" ");

describe("ensureDaemon()", () => {
  it("starts one daemon for many calls in one process, and takes it when it runs", async () => {
    await using home = new FixtureHome(program);
    const calls = await Promise.all(Array.from({ length: 10 }, () => ensureDaemon(home.places, { program })));
    expect(calls).toEqual(Array.from({ length: 10 }, () => ({ ok: true, socket: home.places.socketPath })));
    expect(await ensureDaemon(home.places, { program })).toMatchObject({ ok: true });
    expect(home.births()).toHaveLength(1);
  });

  it("starts it apart from the caller: nobody's child, own group, home folder, no pipe left open, a private error file", async () => {
    await using home = new FixtureHome(program);
    await ensureDaemon(home.places, { program });
    const pid = home.births()[0]!;
    // An editor that ends all descendants of its command does not find it.
    const [, parent, group] = statOf(pid);
    const [, , ownGroup] = statOf("self");
    expect(Number(parent)).not.toBe(process.pid);
    expect(group).not.toBe(ownGroup);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(realpathSync(homedir()));
    for (const descriptor of [0, 1]) expect(readlinkSync(`/proc/${pid}/fd/${descriptor}`)).toBe("/dev/null");
    const errors = join(home.places.logDir, "start-errors.txt");
    expect(readlinkSync(`/proc/${pid}/fd/2`)).toBe(errors);
    expect(lstatSync(errors).mode & 0o777).toBe(0o600);
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")).toEqual([process.execPath, program, "serve", ""]);
  });

  it("replaces a daemon that was killed", async () => {
    await using home = new FixtureHome(program);
    const first = await home.serve();
    first.child.kill("SIGKILL");
    await first.ended;
    expect(await ensureDaemon(home.places, { program })).toMatchObject({ ok: true });
    expect(home.births()).toHaveLength(2);
  });

  it("takes one that is killed in the moment in which it is found for one that runs no more, or for one that is lost", async () => {
    await using home = new FixtureHome(program);
    const daemon = await home.serve();
    daemon.child.kill("SIGSTOP");
    // The connection is made; before anybody looks at it, the other side is gone.
    const probing = probeSocket(home.places.socketPath);
    daemon.child.kill("SIGKILL");
    while (isAlive(daemon.child.pid!));
    const found = await probing;
    if (found.state === "running") found.connection.on("error", () => {}).destroy();
    else expect(found).toEqual({ state: "stale" });
  });

  it("takes a stopped daemon as running", async () => {
    await using home = new FixtureHome(program);
    const daemon = await home.serve();
    daemon.child.kill("SIGSTOP");
    expect(await ensureDaemon(home.places, { program })).toMatchObject({ ok: true });
    expect(home.births()).toHaveLength(1);
  });

  it("gives up on a daemon that never gets ready, and ends it", async () => {
    await using home = new FixtureHome(program);
    const pidFile = join(home.root, "pid");
    const stuck = join(home.root, "stuck.mjs");
    writeFileSync(
      stuck,
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    const outcome = await ensureDaemon(home.places, { program: stuck, timeoutMs: 1500 });
    expect(outcome).toMatchObject({ ok: false, message: expect.stringContaining("not ready after 1.5 s") });
    const pid = Number(readFileSync(pidFile, "utf8"));
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
  });
});

describe("reachDaemon()", () => {
  it("starts none when told so", async () => {
    await using home = new FixtureHome(program);
    expect(await reachDaemon(home.places, { program, start: false })).toMatchObject({ ok: false, reason: "no_daemon" });
    expect(home.births()).toEqual([]);
  });
});

describe("daemonEnvironment()", () => {
  it("keeps what passEnv may name and leaves out what was meant for the caller alone", async () => {
    await using home = new FixtureHome(program);
    const env = daemonEnvironment(
      { PATH: "/bin", MY_API_KEY: "k", NODE_OPTIONS: "--inspect", NODE_CHANNEL_FD: "5", npm_config_x: "1", PWD: "/x" },
      home.places,
    );
    expect(env).toEqual({
      PATH: "/bin",
      MY_API_KEY: "k",
      PWD: realpathSync(homedir()),
      ACP_MASTER_HOME: home.home,
      ACP_MASTER_REPORT_FD: "3",
    });
  });
});
