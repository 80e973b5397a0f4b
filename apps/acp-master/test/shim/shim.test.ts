import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import type { SpawnOptions } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundledProgram, FixtureHome, isAlive, type Running } from "../daemon/fixture-home.ts";

let folder: string;
let program: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "acpm-program-"));
  program = bundledProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

function request(id: unknown, method: string, params: object = {}): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

function messages(running: Running): Record<string, unknown>[] {
  // Every line has to be JSON-RPC, whatever went wrong.
  return running
    .output()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const message: Record<string, unknown> = JSON.parse(line);
      expect(message.jsonrpc).toBe("2.0");
      return message;
    });
}

/** Warnings and notices must not reach standard output either. */
const noisy: SpawnOptions = { env: { NODE_OPTIONS: "--trace-warnings --trace-deprecation" } };

describe("a shim with a daemon", () => {
  it("starts it, introduces the editor, relays, and exits 0 at the end of its input", async () => {
    await using home = new FixtureHome(program);
    const shim = home.start(["connect", "demo"], noisy);
    shim.child.stdin?.write(request(0, "initialize", { protocolVersion: 1 }));
    await shim.says('"id":0');
    shim.child.stdin?.end(request("x", "session/new"));
    expect(await shim.ended).toEqual({ code: 0, signal: null });
    expect(messages(shim)).toEqual([
      {
        jsonrpc: "2.0",
        id: 0,
        result: {
          method: "initialize",
          params: {
            protocolVersion: 1,
            _meta: { "acp-master": { agent: "demo", role: "controller", version: "0.1.0", positions: true } },
          },
        },
      },
      { jsonrpc: "2.0", id: "x", result: { method: "session/new", params: {} } },
    ]);
    expect(home.births()).toHaveLength(1);
    expect(shim.errors()).toBe("");
  });

  it("delivers the answers that are due after the end of its input", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdin?.end(request(7, "late"));
    expect((await shim.ended).code).toBe(0);
    expect(messages(shim)).toEqual([{ jsonrpc: "2.0", id: 7, result: "late" }]);
  });

  it("keeps the master's own notifications from an editor that did not ask for them", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const plain = home.start(["connect"]);
    plain.child.stdin?.end(request(1, "initialize") + request(2, "own"));
    await plain.ended;
    expect(messages(plain).map(({ id, method }) => id ?? method)).toEqual([1, "session/update", 2]);
    const asking = home.start(["connect"]);
    asking.child.stdin?.end(
      request(1, "initialize", { _meta: { "acp-master": { events: true } } }) + request(2, "own"),
    );
    await asking.ended;
    expect(messages(asking).map(({ id, method }) => id ?? method)).toEqual([
      1,
      "_acp-master/event",
      "session/update",
      2,
    ]);
  });

  it("hands on large and split messages whole", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    const text = "ü中\u2028".repeat(200_000);
    const frame = Buffer.from(request(1, "echo", { text }));
    for (let at = 0; at < frame.length; at += 99_991) shim.child.stdin?.write(frame.subarray(at, at + 99_991));
    shim.child.stdin?.end();
    expect((await shim.ended).code).toBe(0);
    expect(messages(shim)).toEqual([{ jsonrpc: "2.0", id: 1, result: { method: "echo", params: { text } } }]);
  });

  it("waits for an editor that reads slowly and loses nothing", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdout?.pause();
    shim.child.stdin?.end(request(1, "flood"));
    shim.child.stdout?.resume();
    expect((await shim.ended).code).toBe(0);
    expect(messages(shim)).toHaveLength(65);
  });
});

describe("twenty shims started at once without a daemon", () => {
  it("start one and are all served, five times over", { timeout: 120_000 }, async () => {
    for (let round = 0; round < 5; round++) {
      await using home = new FixtureHome(program);
      const shims = Array.from({ length: 20 }, () => home.start(["connect", "demo"]));
      for (const shim of shims) shim.child.stdin?.end(request(1, "initialize"));
      const ends = await Promise.all(shims.map(({ ended }) => ended));
      expect(ends.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => 0));
      for (const shim of shims) expect(messages(shim)).toHaveLength(1);
      expect(home.births()).toHaveLength(1);
      expect(home.births().filter(isAlive)).toHaveLength(1);
    }
  });

  it("all learn why it does not start", async () => {
    await using home = new FixtureHome(program);
    const shims = Array.from({ length: 5 }, () => home.start(["connect"], { env: { FIXTURE: "refuse" } }));
    for (const shim of shims) shim.child.stdin?.end(request("a", "initialize"));
    for (const shim of shims) {
      expect((await shim.ended).code).toBe(1);
      expect(shim.errors()).toContain("the configuration is wrong");
    }
  });
});

describe("a shim without a daemon", () => {
  const failures: readonly [string, readonly string[], Record<string, string>, number, RegExp][] = [
    ["that must not start one", ["--no-start"], {}, 3, /No daemon runs .*acp-master serve/],
    ["that breaks at its start", [], { FIXTURE: "crash" }, 1, /ended before it was ready.*the fixture breaks/],
    ["that says why it does not start", [], { FIXTURE: "refuse" }, 1, /did not start: the configuration is wrong/],
  ];
  it.each(failures)("%s answers the first request with an error and exits", async (_, args, env, code, text) => {
    await using home = new FixtureHome(program);
    const shim = home.start(["connect", ...args], { env: { ...noisy.env, ...env } });
    shim.child.stdin?.write(`{"jsonrpc":"2.0","method":"note"}\n${request("first", "initialize")}`);
    expect((await shim.ended).code).toBe(code);
    const [answer, ...more] = messages(shim);
    expect(answer).toMatchObject({
      id: "first",
      error: { code: -32_065, data: { reason: "no_daemon" }, message: expect.stringMatching(text) },
    });
    expect(more).toEqual([]);
    expect(shim.errors()).toMatch(text);
    expect(shim.errors().trim().split("\n")).toHaveLength(1);
  });

  it("that cannot use the folder or finds something else at its place says so and touches nothing", async () => {
    await using home = new FixtureHome(program);
    mkdirSync(home.places.runDir, { recursive: true, mode: 0o700 });
    writeFileSync(home.places.socketPath, "precious");
    const shim = home.start(["connect"]);
    shim.child.stdin?.end(request(1, "initialize"));
    expect((await shim.ended).code).toBe(1);
    expect(messages(shim)).toHaveLength(1);
    expect(shim.errors()).toContain("no socket");
    expect(readFileSync(home.places.socketPath, "utf8")).toBe("precious");
  });

  it("exits when the editor asks nothing and goes", async () => {
    await using home = new FixtureHome(program);
    const shim = home.start(["connect", "--no-start"]);
    shim.child.stdin?.end();
    expect((await shim.ended).code).toBe(3);
    expect(shim.output()).toBe("");
  });
});

describe("a shim whose daemon dies before it knows the editor", () => {
  it("answers what was handed on, each request once, and exits 1", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdin?.write(request(1, "echo"));
    await shim.says('"id":1');
    shim.child.stdin?.write(request(2, "hang") + request("2", "hang") + request(3, "die"));
    expect((await shim.ended).code).toBe(1);
    const lost = messages(shim).slice(1);
    expect(lost.map(({ id }) => id)).toEqual([2, "2", 3]);
    for (const message of lost) expect(message.error).toMatchObject({ data: { reason: "daemon_restarted" } });
    expect(shim.errors().trim().split("\n")).toHaveLength(1);
  });

  it("says when it was stopped", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdin?.write('{"jsonrpc":"2.0","method":"close"}\n');
    expect((await shim.ended).code).toBe(1);
    expect(shim.output()).toBe("");
    expect(shim.errors()).toContain("was stopped");
  });
});

describe("a shim whose editor goes", () => {
  it("ends when its output is closed", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdin?.write(request(1, "echo"));
    await shim.says('"id":1');
    shim.child.stdout?.destroy();
    shim.child.stdin?.write(request(2, "flood"));
    expect(await shim.ended).toEqual({ code: 0, signal: null });
  });

  it.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)("ends at %s", async (signal) => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdin?.write(request(1, "echo"));
    await shim.says('"id":1');
    shim.child.kill(signal);
    expect(await shim.ended).toEqual({ code: 130, signal: null });
  });

  it("ends at a signal also while the editor does not read", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const shim = home.start(["connect"]);
    shim.child.stdin?.write(request(1, "flood"));
    await shim.says("session/update");
    shim.child.stdout?.pause();
    shim.child.kill("SIGTERM");
    expect(await once(shim.child, "exit")).toEqual([130, null]);
    shim.child.stdout?.resume();
  });

  it("ends soon after its parent was killed, also when others hold its input open and an answer is due", async () => {
    await using home = new FixtureHome(program);
    await home.serve();
    const held = join(home.root, "input");
    const pidFile = join(home.root, "pid");
    // The parent is a shell; a sleeping process keeps the writing end of the shim's input.
    const script = `mkfifo "${held}"; sleep 60 >"${held}" & echo $! >"${pidFile}.sleep"; "$0" "$1" connect <"${held}" & echo $! >"${pidFile}"; echo up; wait`;
    const parent = home.run("sh", ["-c", script, process.execPath, program], {
      env: { ...process.env, ACP_MASTER_HOME: home.home },
    });
    await parent.says("up");
    const input = openSync(held, "w");
    writeFileSync(input, request(1, "echo") + request(2, "late"));
    await parent.says('"id":1');
    const [shim, sleep] = [pidFile, `${pidFile}.sleep`].map((file) => Number(readFileSync(file, "utf8")));
    const closed = once(parent.child.stdout!, "close");
    parent.child.kill("SIGKILL");
    try {
      const start = performance.now();
      while (isAlive(shim!) && performance.now() - start < 5000)
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(isAlive(shim!)).toBe(false);
      expect(performance.now() - start).toBeLessThan(2500);
    } finally {
      closeSync(input);
      process.kill(sleep!, "SIGKILL");
      if (isAlive(shim!)) process.kill(shim!, "SIGKILL");
      await closed;
    }
  });
});
