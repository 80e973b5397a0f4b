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
async function after(left: "crash" | "order", options: Omit<NextDaemonOptions, "patienceMs">) {
  await using home = new FixtureHome(program);
  mkdirSync(home.places.runDir, { recursive: true, mode: 0o700 });
  if (left === "crash") writeFileSync(home.places.masterFile, "{}");
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

  it("takes the one that somebody else starts", async () => {
    await using home = new FixtureHome(program);
    const waiting = nextDaemon(home.places, { announced: false, program });
    await home.serve();
    const reached = await waiting;
    expect(reached.ok && reached.connection.destroy()).toBeTruthy();
    expect(home.births()).toHaveLength(1);
  });
});
