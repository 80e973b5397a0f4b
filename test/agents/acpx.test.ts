// A client that other people wrote, acpx, with `acp-master connect demo` as its agent.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { makeHome, type Home } from "../harness/home.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster } from "../harness/master.ts";
import { processesMarked } from "../harness/processes.ts";
import { masterProgram, runProgram, type Finished } from "../harness/program.ts";
import { installed } from "./installed.ts";

const config = { helper: { use: "ask" } };
const agent = `${process.execPath} ${masterProgram} connect demo`;

/**
 * Runs acpx to its end. Its queue owner, which keeps the agent, goes one second after the last prompt; another
 * `--ttl` among the arguments wins.
 */
const acpx = (home: Home, ...args: string[]): Promise<Finished> =>
  runProgram(process.execPath, [installed("acpx", "dist/cli.js"), "--ttl", "1", "--agent", agent, ...args], {
    env: home.env,
    cwd: home.work,
    deadlineMs: 60_000,
  });

/** Waits until no process of acpx, and so no shim of it, runs any more. */
const acpxGone = (home: Home): Promise<true | undefined> =>
  eventually(
    () => processesMarked(home.marker).every((one) => !/acpx|connect demo/.test(one.command)) || undefined,
    "acpx lets its agent go",
    20_000,
  );

async function sessionRows(home: Home): Promise<Loose[]> {
  const { stdout } = await home.cli(["sessions", "--json"]);
  const parsed: Loose = JSON.parse(stdout);
  return Array.isArray(parsed) ? parsed : parsed.sessions;
}

async function agentPids(home: Home): Promise<number[]> {
  const { stdout } = await home.cli(["status", "--json"]);
  const { agents }: Loose = JSON.parse(stdout);
  return agents.map((one: Loose) => one.pid);
}

describe("acpx", () => {
  // acpx ends every descendant of its agent when it goes; a master that it started must not be one.
  it("exec gets its text, and starts a master that lives on", async () => {
    await using home = makeHome({ config });
    const run = await acpx(home, "exec", "/stream 3");
    expect(run.stdout).toContain("1 2 3 ");
    expect(run).toMatchObject({ code: 0 });
    await acpxGone(home);
    expect(processesMarked(home.marker).map((one) => one.pid)).toContain(home.masterFile()?.pid);
  });

  it("--approve-all runs what the agent asks for", async () => {
    await using master = await startMaster({ config });
    const run = await acpx(master, "--approve-all", "exec", "/run echo hi > made");
    expect(run.stdout).toContain("It ended with code 0.");
    expect(run.code).toBe(0);
    expect(existsSync(join(master.work, "made"))).toBe(true);
  });

  it("--approve-all writes a file through the client's own file access", async () => {
    await using master = await startMaster({ config });
    const run = await acpx(master, "--approve-all", "exec", "/write made.txt some words");
    expect(run.code).toBe(0);
    expect(existsSync(join(master.work, "made.txt"))).toBe(true);
  });

  it("--deny-all runs nothing and tells by its exit code", async () => {
    await using master = await startMaster({ config });
    const run = await acpx(master, "--deny-all", "exec", "/run echo hi > made");
    expect(run.stdout).toContain("I did not run it: it was rejected.");
    expect(run.code).toBe(5);
    expect(existsSync(join(master.work, "made"))).toBe(false);
  });

  it("makes a session, leaves it, prompts it again from other processes, closes it", async () => {
    await using master = await startMaster({ config });
    const made = await acpx(master, "sessions", "new", "--name", "one");
    expect(made.code).toBe(0);
    await acpxGone(master);
    const [row] = await sessionRows(master);
    const agents = await agentPids(master);
    expect(agents).toHaveLength(1);
    for (const count of [3, 2]) {
      const run = await acpx(master, "prompt", "-s", "one", `/stream ${count}`);
      expect(run.code).toBe(0);
      expect(run.stdout).toContain(count === 3 ? "1 2 3 " : "1 2 ");
      await acpxGone(master);
      // The end of a connection is not the end of a session: the same one lives on in the same process, and no other.
      expect(await sessionRows(master)).toMatchObject([{ sessionId: row.sessionId, state: "idle", clients: [] }]);
      expect(await agentPids(master)).toEqual(agents);
    }
    // One conversation, each part of it once.
    const { stdout } = await master.cli(["tail", row.sessionId, "--no-follow"]);
    expect(stdout.match(/\/stream \d|1 2 (3 )?/g)).toEqual(["/stream 3", "1 2 3 ", "/stream 2", "1 2 "]);
    // It sends session/close only while its queue owner holds the agent.
    expect((await acpx(master, "--ttl", "60", "prompt", "-s", "one", "/stream 1")).code).toBe(0);
    expect((await acpx(master, "sessions", "close", "one")).code).toBe(0);
    await acpxGone(master);
    expect(await sessionRows(master)).toMatchObject([{ sessionId: row.sessionId, state: "closed" }]);
    expect((await acpx(master, "prompt", "-s", "one", "/stream 1")).code).toBe(4);
  });
});
