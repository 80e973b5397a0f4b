// The console's process: who starts it, how many there are, and how it lives through the end of its daemon.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ServerMessage } from "../../apps/acp-console/src/protocol.ts";
import { within } from "../harness/events.ts";
import { makeHome } from "../harness/home.ts";
import { type Master, startMaster } from "../harness/master.ts";
import { environmentOf, processGone, processesMarked } from "../harness/processes.ts";
import { masterProgram, runProgram } from "../harness/program.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { RunningConsole, tokenIn } from "./running-console.ts";

const asking = { defaultAgent: "fake", helper: { use: "ask" } };

/** Consoles of this home that run now. */
const consoles = (master: { marker: string }): number[] =>
  processesMarked(master.marker)
    .filter((one) => one.command.includes("acp-console.js"))
    .map((one) => one.pid);

const consoleFile = (home: { home: string }): string => join(home.home, "run", "console.json");

describe("a console", () => {
  it("is one for a daemon, however many ask for it at once; the command starts both", async () => {
    await using home = makeHome();
    const addresses = await Promise.all(Array.from({ length: 4 }, () => RunningConsole.address(home)));
    const running = await RunningConsole.start(home);
    expect(consoles(home)).toEqual([running.pid]);
    expect(new Set(addresses.map((address) => new URL(address).origin))).toEqual(new Set([running.origin]));
    expect(new Set(addresses).size).toBe(4);
    const mode = (name: string): number => statSync(join(home.home, "run", name)).mode & 0o777;
    expect([mode("console.json"), mode("web.sock")]).toEqual([0o600, 0o600]);
    // No secret lies in a file, in an argument or in the environment.
    const secrets = addresses.map(tokenIn);
    const open = [readFileSync(consoleFile(home), "utf8"), readFileSync(`/proc/${running.pid}/cmdline`, "utf8")];
    open.push(JSON.stringify(environmentOf(running.pid)));
    for (const secret of secrets) for (const text of open) expect(text).not.toContain(secret);
    const plain = await home.cli(["console"]);
    expect(plain.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/);
    expect((await home.cli(["stop"])).code).toBe(0);
    await processGone(running.pid);
    expect(existsSync(consoleFile(home))).toBe(false);
  });

  it("is not started by an editor", async () => {
    await using home = makeHome({ config: { defaultAgent: "demo" } });
    const editor = home.connect(["demo"]);
    await editor.initialize();
    await editor.newSession();
    expect(consoles(home)).toEqual([]);
    expect(existsSync(consoleFile(home))).toBe(false);
  });

  it("makes room for one of other settings, and says which setting is wrong", async () => {
    await using master = await startMaster();
    const first = await RunningConsole.start(master);
    master.configure({ config: { console: { readOnly: true } } });
    const second = await RunningConsole.start(master);
    expect(second.pid).not.toBe(first.pid);
    expect(consoles(master)).toEqual([second.pid]);
    const page = await second.page();
    expect(page.messages.all[0]).toMatchObject({ type: "hello", role: "observer" });
    master.configure({ config: { console: { host: "0.0.0.0" } } });
    const refused = await master.cli(["console"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/console\.host 0\.0\.0\.0 can be reached by others\. Give console\.tls/);
    // Its page is told to go, and not to come back by itself.
    expect(await page.closed).toBe(4010);
  });

  it("takes the place of one that was killed, and removes nothing that is none of its own", async () => {
    await using master = await startMaster();
    const killed = await RunningConsole.start(master);
    process.kill(killed.pid, "SIGKILL");
    await processGone(killed.pid);
    const next = await RunningConsole.start(master);
    expect(next.pid).not.toBe(killed.pid);
    await next[Symbol.asyncDispose]();
    const path = join(master.home, "run", "web.sock");
    writeFileSync(path, "mine");
    const refused = await master.cli(["console"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${path} is no socket`);
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  it("ends by itself beside a daemon of another version, and says how it is started", async () => {
    await using master = await startMaster();
    const settings = {
      version: "0.0.0-other",
      socketPath: master.socket,
      controlPath: join(master.folder, "other.sock"),
      runFile: join(master.folder, "other.json"),
      pageFolder: master.folder,
      host: "127.0.0.1",
      port: 0,
      origins: [],
      proxies: [],
      tls: null,
      readOnly: false,
    };
    const program = join(dirname(masterProgram), "acp-console.js");
    const other = await runProgram(process.execPath, [program, JSON.stringify(settings)], { env: master.env });
    expect(other).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(other.stdout)).toMatchObject({ ready: true });
    expect([existsSync(settings.controlPath), existsSync(settings.runFile)]).toEqual([false, false]);
    const alone = await runProgram(process.execPath, [program], { env: master.env });
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain("acp-master console");
  });

  it("opens a browser through a private file, and no argument names the token", async () => {
    await using home = makeHome();
    const opened = join(home.folder, "opened");
    mkdirSync(join(home.folder, "bin"));
    writeFileSync(join(home.folder, "bin", "xdg-open"), `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`, { mode: 0o755 });
    const running = await RunningConsole.start(home);
    const env = { PATH: `${join(home.folder, "bin")}:${process.env.PATH}` };
    const ran = await home.cli(["console", "--open"], { env });
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    const file = new URL(readFileSync(opened, "utf8"));
    expect(file.protocol).toBe("file:");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const token = /#token=([\w-]{43})"/.exec(readFileSync(file, "utf8"))?.[1] ?? "";
    expect((await running.login(token)).status).toBe(200);
  });
});

describe("the end of the daemon", () => {
  const ends: [string, (master: Master) => Promise<unknown>][] = [
    [
      "killed and started again",
      async (master) => {
        await master.kill9();
        await master.serve();
      },
    ],
    ["restarted by its command", async (master) => await master.cli(["restart"], { deadlineMs: 30_000 })],
  ];
  it.each(ends)("%s: an open card dies with it, and what comes after is the new daemon's", async (name, end) => {
    await using agent = fakeAgent({ auto: { "session/prompt": false } });
    await using master = await startMaster({ agents: { fake: agent }, config: asking });
    const running = await RunningConsole.start(master);
    const page = await running.page();
    const { sessionId } = await page.request("new", { agent: "fake", cwd: master.work });
    await page.request("attach", { sessionId });
    const turn = page.ask("prompt", { sessionId, content: [{ type: "text", text: "before" }] });
    const agentProcess = await agent.process();
    await agentProcess.received("session/prompt");
    void agentProcess.askPermission(sessionId).catch(() => {}); // the agent goes with its daemon
    const { approvalId } = await page.approval("call-1");
    await page.text(sessionId, "before");
    await end(master);
    const offline = await page.next("daemon", ({ state }) => state === "offline");
    expect(offline).toMatchObject({ generation: 1 });
    if (name.startsWith("restarted")) expect(offline.restarting).toBe(true);
    await turn.reply;
    const back = await page.next(
      "daemon",
      ({ state, generation }) => state === "connected" && generation === 2,
      30_000,
    );
    const isAfter = (message: ServerMessage): boolean =>
      page.messages.all.indexOf(message) > page.messages.all.indexOf(back);
    const rows = await page.next("sessions", isAfter);
    expect(rows.stale).toBe(false);
    expect(rows.sessions.map((row) => row.sessionId)).toContain(sessionId);
    expect(await page.next("approvals", isAfter)).toMatchObject({ approvals: [] });
    const { results } = await page.request("answer", { answers: [{ approvalId, optionId: "yes" }] });
    expect(results).toEqual([{ approvalId, status: "not_pending" }]);
    // The page shows it anew: the replay is the truth.
    const count = page.updates(sessionId).length;
    await page.request("attach", { sessionId });
    expect(page.updates(sessionId).slice(count)[0]).toMatchObject({ content: { text: "before" } });
    await master.cli(["stop"], { deadlineMs: 30_000 });
    expect(await page.closed).toBe(4010);
    await processGone(running.pid);
  });

  it("shows a page that comes in between what was last known, marked as such", async () => {
    await using master = await startMaster();
    const running = await RunningConsole.start(master);
    const credentials = await running.credentials();
    const page = await running.page(credentials);
    const { sessionId } = await page.request("new", { agent: "demo", cwd: master.work });
    await master.kill9();
    await page.next("daemon", ({ state }) => state === "offline");
    const late = await running.page(credentials);
    const [, daemon, sessions, approvals] = late.messages.all;
    expect(daemon).toMatchObject({ type: "daemon", state: "offline", problem: expect.stringContaining("daemon") });
    expect(sessions).toMatchObject({ type: "sessions", stale: true, sessions: [{ sessionId }] });
    expect(approvals).toMatchObject({ type: "approvals", approvals: [] });
    expect(await late.refusal("attach", { sessionId })).toBe("offline");
    expect(await late.refusal("agents", {})).toBe("offline");
    await master.serve();
    await late.next("daemon", ({ generation }) => generation === 2, 30_000);
    await within(late.request("agents", {}), "the daemon is reached again");
    expect(page.messages.ended).toBe(false);
  });
});
