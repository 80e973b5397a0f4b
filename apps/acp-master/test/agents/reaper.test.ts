// The Reaper with real processes: what dies with the daemon, what lives on, and that the Reaper itself is hard to lose.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { reaperScript } from "../../src/agents/reaper-script.ts";
import { Reaper } from "../../src/agents/reaper.ts";
import { bundled } from "../bundled.ts";
import { carriersOf, descriptorsOf, groupOf, ignoredSignals, isAlive, until } from "./process-table.ts";

const fixture = (name: string) => new URL(`fixtures/${name}`, import.meta.url).pathname;
const newMarker = () => randomBytes(16).toString("hex");

const folder = mkdtempSync(join(tmpdir(), "reaper-"));
let daemonFile = "";
const bystanders: ChildProcess[] = [];

beforeAll(() => {
  daemonFile = bundled(import.meta.url, "daemon", folder);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  for (const child of bystanders.splice(0)) await end(child);
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** A process in a group of its own that nobody told the Reaper about, unless the test does. */
function sleeper(environment: Record<string, string> = {}) {
  const child = spawn("sleep", ["1000"], {
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"], ...environment },
  });
  bystanders.push(child);
  return { child, pid: child.pid! };
}

describe("when the daemon is killed", () => {
  const stubborn = ["/bin/sh", "-c", `trap '' TERM; echo '{}'; while :; do sleep 1000; done`];
  const leaver = [process.execPath, fixture("leaves-group.mjs")];
  const normal = ["/bin/sh", "-c", "echo '{}'; exec cat"];

  function startDaemon(runMarker: string, mode: string) {
    const second = mode === "live" ? leaver : normal;
    const commands = [stubborn, second, normal].map((command) => JSON.stringify(command));
    const daemon = spawn(process.execPath, [daemonFile, runMarker, mode, ...commands], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    bystanders.push(daemon);
    return daemon;
  }

  it("no agent, no child of one and no Reaper is left within two seconds, and others live on", async () => {
    const runMarker = newMarker();
    const unrelated = sleeper({ ACP_MASTER_RUN: newMarker() });
    const daemon = startDaemon(runMarker, "live");
    const [printed]: unknown[] = await once(daemon.stdout, "data");
    const {
      reaper,
      agents,
      first,
    }: {
      reaper: number;
      agents: number[];
      first: string[];
    } = JSON.parse(String(printed));
    const left = first.map(childIn).find((pid) => pid !== undefined)!;
    expect([reaper, left, ...agents].map(isAlive)).toEqual([true, true, true, true, true]);
    expect(groupOf(left)).toBe(left);
    expect(carriersOf(runMarker)).toContain(left);

    // The whole group of the daemon, as a terminal or a service manager would.
    process.kill(-daemon.pid!, "SIGKILL");
    await until(() => carriersOf(runMarker).length === 0 && !isAlive(reaper), 2000, "all are gone");
    expect([reaper, left, ...agents].map(isAlive)).toEqual([false, false, false, false, false]);
    expect(isAlive(unrelated.pid)).toBe(true);
  });

  it("in the tick in which it spawned them, the agents die too, though they carry no marker", async () => {
    const runMarker = newMarker();
    const daemon = startDaemon(runMarker, "die-at-once");
    const [[printed]] = await Promise.all([once(daemon.stdout, "data"), once(daemon, "exit")]);
    const agents: number[] = JSON.parse(String(printed));
    expect(daemon.signalCode).toBe("SIGKILL");
    expect(agents).toHaveLength(3);
    await until(() => !agents.some(isAlive), 2000, "all are gone");
  });
});

describe("the Reaper", () => {
  it("has a session of its own, not the marker, and no descriptor but its input", async () => {
    const runMarker = newMarker();
    await using reaper = Reaper.start({ runMarker });
    const pid = reaper.pid!;
    expect(groupOf(pid)).toBe(pid);
    expect(carriersOf(runMarker)).toEqual([]);
    // What whoever started this test left open for everybody is not the Reaper's.
    const ours = descriptorsOf(process.pid);
    expect(descriptorsOf(pid).filter((target) => !ours.includes(target))).toHaveLength(1);
  });

  it("ignores TERM, INT and HUP", async () => {
    const listed = sleeper();
    const reaper = Reaper.start({ runMarker: newMarker() });
    const pid = reaper.pid!;
    reaper.add(listed.pid);
    await until(() => ignoresSignals(pid), 2000, "the traps are set");
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.kill(pid, signal);
    await reaper[Symbol.asyncDispose]();
    expect(listed.child.signalCode ?? (await once(listed.child, "exit"))[1]).toBe("SIGKILL");
  });

  it("kills listed groups and carriers of the marker when it is disposed, and spares what was removed", async () => {
    const runMarker = newMarker();
    const [listed, removed] = [sleeper(), sleeper()];
    const stray = sleeper({ ACP_MASTER_RUN: runMarker });
    const reaper = Reaper.start({ runMarker });
    reaper.add(removed.pid);
    reaper.add(listed.pid);
    reaper.remove(removed.pid);
    await reaper[Symbol.asyncDispose]();
    await reaper[Symbol.asyncDispose]();
    await until(() => !isAlive(listed.pid) && !isAlive(stray.pid), 1000, "both are gone");
    expect(isAlive(removed.pid)).toBe(true);
    expect(reaper.pid).toBeUndefined();
  });

  it("is replaced when it is killed, and the successor knows the groups", async () => {
    const listed = sleeper();
    const lost: string[] = [];
    const reaper = Reaper.start({ runMarker: newMarker(), log: { error: (_, message) => lost.push(message) } });
    reaper.add(listed.pid);
    const first = reaper.pid!;
    process.kill(first, "SIGKILL");
    await until(() => reaper.pid !== undefined && reaper.pid !== first, 3000, "there is another Reaper");
    expect(isAlive(first)).toBe(false);
    expect(isAlive(listed.pid)).toBe(true);
    expect(lost).toHaveLength(1);
    await reaper[Symbol.asyncDispose]();
    await until(() => !isAlive(listed.pid), 1000, "the listed group is gone");
  });

  it("refuses a marker that could match by accident", () => {
    expect(() => Reaper.start({ runMarker: "1" })).toThrow(RangeError);
  });
});

describe("the Reaper's program", () => {
  it("does not believe lines that are no group numbers, nor one that was cut off", async () => {
    const spared = sleeper();
    const listed = sleeper();
    const cut = `+${listed.pid}\n-x\n+\n+1\n+0\n+-1\n* \n+ ${spared.pid}\n${spared.pid}\n+${spared.pid}`;
    await runProgram(cut, newMarker());
    await until(() => !isAlive(listed.pid), 1000, "the listed group is gone");
    expect(isAlive(spared.pid)).toBe(true);
  });

  it("finds the carriers without grep too", async () => {
    const runMarker = newMarker();
    const stray = sleeper({ LATER: "x", ACP_MASTER_RUN: runMarker });
    const unrelated = sleeper({ ACP_MASTER_RUN: newMarker() });
    await runProgram("", runMarker, "/nowhere");
    await until(() => !isAlive(stray.pid), 1000, "the carrier is gone");
    expect(isAlive(unrelated.pid)).toBe(true);
  });
});

function ignoresSignals(pid: number): boolean {
  const mask = ignoredSignals(pid);
  return [1, 2, 15].every((signal) => (mask & (1n << BigInt(signal - 1))) !== 0n);
}

function childIn(line: string): number | undefined {
  const { child }: { child?: number } = JSON.parse(line);
  return child;
}

/** The Reaper's program with all of its input at once, to its end. */
async function runProgram(input: string, runMarker: string, path = "/usr/bin:/bin"): Promise<void> {
  const child = spawn("/bin/sh", ["-c", reaperScript, "acp-master-reaper", runMarker], {
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: path },
  });
  child.stdin.end(input);
  await once(child, "exit");
}
