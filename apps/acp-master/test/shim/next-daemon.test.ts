import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundledProgram, FixtureHome } from "../daemon/fixture-home.ts";
import { nextDaemon, type NextDaemonOptions } from "../../src/shim/next-daemon.ts";

let folder: string;
let program: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acpm-program-"));
  program = bundledProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const patienceMs = 50;

/** Whether there is a next daemon, and how many were started for it. */
async function after(left: "crash" | "supervised crash" | "order", options: Omit<NextDaemonOptions, "patienceMs">) {
  await using home = new FixtureHome(program);
  mkdirSync(home.places.runDir, { recursive: true, mode: 0o700 });
  const supervisor = left === "supervised crash" ? { supervisor: "systemd" } : {};
  if (left !== "order") writeFileSync(home.places.masterFile, JSON.stringify({ pid: 1, ...supervisor }));
  const reached = await nextDaemon(home.places, { program, patienceMs, ...options });
  if (reached.ok) reached.connection.destroy();
  return { reached: reached.ok ? "daemon" : reached.reason, births: home.births().length };
}

describe("nextDaemon()", () => {
  it("starts one after a crash", async () => {
    expect(await after("crash", { announced: false })).toEqual({ reached: "daemon", births: 1 });
  });

  it("starts one where the restart that was announced does not come", async () => {
    expect(await after("order", { announced: true })).toEqual({ reached: "daemon", births: 1 });
  });

  it.each([
    ["after a daemon that ended in order and did not say why", "order", { announced: false }],
    ["after a crash when it must not", "crash", { announced: false, start: false }],
    ["where the announced restart does not come when it must not", "order", { announced: true, start: false }],
  ] as const)("starts none %s", async (_, left, options) => {
    expect(await after(left, options)).toEqual({ reached: "no_daemon", births: 0 });
  });

  it("leaves the start to the service manager for a while", async () => {
    await using home = new FixtureHome(program);
    // As systemd does: the variable names the process itself.
    const daemon = home.run("sh", ["-c", 'SYSTEMD_EXEC_PID=$$ exec "$0" "$1" serve', process.execPath, program], {
      env: { ...process.env, ACP_MASTER_HOME: home.home },
    });
    await daemon.says('"ready":true');
    daemon.child.kill("SIGKILL");
    await daemon.ended;
    const waiting = nextDaemon(home.places, { announced: false, program });
    const next = await home.serve();
    const reached = await waiting;
    expect(reached.ok && reached.connection.destroy()).toBeTruthy();
    expect(home.births()).toEqual([daemon.child.pid, next.child.pid]);
    expect(await after("supervised crash", { announced: false })).toEqual({ reached: "daemon", births: 1 });
  });

  it("takes the one that somebody else starts", async () => {
    await using home = new FixtureHome(program);
    const waiting = nextDaemon(home.places, { announced: false, program });
    await home.serve();
    const reached = await waiting;
    expect(reached.ok && reached.connection.destroy()).toBeTruthy();
    expect(home.births()).toHaveLength(1);
  });
});
