// Field faults of kind secrets-logs: what must not be read in command lines, logs, records and command output, and how
// much is ever written.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import { makeHome, type Home } from "../harness/home.ts";
import { startMaster } from "../harness/master.ts";
import { allProcesses } from "../harness/processes.ts";
import { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";

/** ACP_MASTER_FULL_SIZE=1 runs the faults at the size in which they were met. */
const full = process.env.ACP_MASTER_FULL_SIZE === "1";
const plainAgent = fileURLToPath(new URL("./fixtures/plain-agent.mjs", import.meta.url));
const MiB = 1024 * 1024;

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

const sizeOf = (folder: string): number => filesBelow(folder).reduce((sum, path) => sum + statSync(path).size, 0);

/** What is kept for diagnosis and for the record; a session's own journal is its contents and not among it. */
const diagnostics = (home: Home): string[] => [
  ...filesBelow(join(home.home, "log")),
  ...filesBelow(join(home.home, "run")),
  ...filesBelow(join(home.home, "state")).filter((path) => !path.includes("/state/sessions/")),
];

const commands = [
  ["status"],
  ["status", "--json"],
  ["sessions"],
  ["sessions", "--json"],
  ["agents"],
  ["agents", "--json"],
  ["approvals"],
  ["doctor"],
  ["config", "check"],
  ["logs"],
  ["audit", "verify"],
];

const everyCommandLine = (): string =>
  allProcesses()
    .map(({ command }) => command)
    .join("\n");

describe("a secret", () => {
  it("of settings, environment and clients is in no command line, log, record or command output (FF-140, FF-141)", async () => {
    const secrets = {
      setting: "sk-test-setting-1f6a",
      handedOn: "ghp_handedOn77aa88bb99",
      mcpEnv: "sk-ant-mcp-env-55cc",
      header: "Bearer abc.header.0d9f",
      prompt: "AKIAPROMPT0123456789",
      stderr: "xoxb-stderr-4242-token",
      noise: "eyJhbGciOiJ.noise.token",
      update: "glpat-update-0b1c2d",
      title: "sk-live-title-9e8d",
      input: "hunter2-raw-input-3c4b",
      badLine: "sk-bad-line-6f5e",
      method: "sk-method-name-7a7a",
      error: "sk-agent-error-1a2b",
      daemon: "sk-only-the-daemons-3d3d",
    };
    await using agent = fakeAgent({
      auto: { "session/prompt": false },
      definition: { env: { API_KEY: secrets.setting }, passEnv: ["GITHUB_TOKEN"] },
    });
    await using master = await startMaster({
      agents: { fake: agent },
      config: { defaultAgent: "fake", log: { level: "trace" } },
      env: { GITHUB_TOKEN: secrets.handedOn, OTHER_TOKEN: secrets.daemon },
    });
    // The folder of a home has a fixed place in every command line; only the secrets' own texts are looked for.
    const shim = master.connect(["fake"]);
    await shim.initialize({ events: true, extra: { clientInfo: { name: "editor", version: "1" } } });
    const { sessionId } = await shim.newSession({
      mcpServers: [
        { name: "a", command: "x", args: [], env: [{ name: "API_KEY", value: secrets.mcpEnv }] },
        {
          type: "http",
          name: "b",
          url: "http://127.0.0.1:9/",
          headers: [{ name: "Authorization", value: secrets.header }],
        },
      ],
    });
    const process_ = await agent.process();
    expect(process_.env).toMatchObject({ API_KEY: secrets.setting, GITHUB_TOKEN: secrets.handedOn });
    expect(JSON.stringify(process_.lines.all.map(({ message }) => message))).toContain(secrets.mcpEnv);
    const turn = shim.prompt(sessionId, secrets.prompt);
    const prompt = await process_.received("session/prompt");
    const own: string = prompt.message.params.sessionId;
    await process_.stderr(`the key is ${secrets.stderr}\n`);
    await process_.sendRaw(`Using token ${secrets.noise}\n`);
    await process_.sendRaw(`{"token":"${secrets.noise}"}\n`);
    await process_.say(own, secrets.update);
    await process_.update(own, { sessionUpdate: secrets.update });
    shim.answer("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "yes" } }));
    await process_.askPermission(own, {
      toolCall: {
        toolCallId: "call-1",
        title: `curl -H ${secrets.title}`,
        kind: "execute",
        rawInput: { command: secrets.input },
      },
    });
    await shim.send(`not json ${secrets.badLine}`);
    await shim.send({ jsonrpc: "1.0", id: 77, method: secrets.badLine });
    await shim.request(`_x/${secrets.method}`, { token: secrets.badLine }, "x", 500).catch(() => {}); // the agent leaves it open
    await shim.request("session/new", { cwd: secrets.badLine, mcpServers: [{ env: secrets.mcpEnv }] });
    const lines = everyCommandLine();
    await process_.fail(prompt, { code: -32000, message: secrets.error, data: { key: secrets.error } });
    expect((await turn).error?.message).toBe(secrets.error);

    const outputs: string[] = [];
    const look = async (asked: readonly string[][]): Promise<void> => {
      for (const args of asked) {
        const { stdout, stderr } = await master.cli(args);
        outputs.push(`${args.join(" ")}\n${stdout}${stderr}`);
      }
    };
    await look(commands);
    // A crash, and a configuration that is wrong where the secret stands.
    await process_.exit(3);
    const wrong = { command: "x", env: { API_KEY: [secrets.setting] }, args: [7, secrets.setting], passEnv: [true] };
    writeFileSync(master.configFile, JSON.stringify({ agents: { fake: wrong } }));
    await eventually(async () => (await master.cli(["status"])).stdout.includes("agents.fake.env"), "status shows it");
    await look(commands.filter(([name]) => name === "status" || name === "config" || name === "doctor"));
    writeFileSync(master.configFile, `{ "agents": { "fake": { "env": { "API_KEY": "${secrets.setting}" ]`);
    await eventually(async () => (await master.cli(["status"])).stdout.includes("line 1"), "status shows the line");
    await look([["status"], ["config", "check"]]);
    const files = diagnostics(master).map((path) => [path, readFileSync(path, "latin1")] as const);
    expect(files.some(([path]) => path.endsWith("master.ndjson"))).toBe(true);
    expect(files.some(([path, text]) => path.endsWith("audit.ndjson") && text.includes("call-1"))).toBe(true);
    const places = [
      ["the command lines", lines],
      ...files,
      ...outputs.map((text) => [text.slice(0, 20), text] as const),
    ];
    for (const [name, secret] of Object.entries(secrets)) {
      // What an agent was asked to allow is shown to whoever may answer, while it is open; it is not open any more.
      for (const [place, text] of places) expect(text.includes(secret), `${name} in ${place}`).toBe(false);
    }
  }, 60_000);

  it("is in no command line of a daemon, Helper or watcher that a shim started (FF-140)", async () => {
    const secret = "sk-started-by-a-shim-2b2b";
    await using agent = fakeAgent({ definition: { env: { API_KEY: secret }, passEnv: ["MY_TOKEN"] } });
    await using home = makeHome({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const shim = home.connect([], { env: { MY_TOKEN: `${secret}-token` } });
    await shim.initialize();
    const { sessionId } = await shim.newSession();
    await shim.prompt(sessionId, "hello");
    expect((await agent.process()).env).toMatchObject({ API_KEY: secret, MY_TOKEN: `${secret}-token` });
    expect(everyCommandLine()).not.toContain(secret);
    for (const path of diagnostics(home)) expect(readFileSync(path, "latin1"), path).not.toContain(secret);
    await shim.close();
  });
});

describe("what the daemon writes", () => {
  it("stays below its bound under floods of stderr and noise, and thousands of connections (FF-142)", async () => {
    const mebibytes = full ? 200 : 48;
    const connections = full ? 10_000 : 800;
    await using agent = fakeAgent();
    await using home = makeHome();
    // As after a long life: each file of the log is full, so the next lines must rotate and drop.
    const logDir = join(home.home, "log");
    mkdirSync(logDir, { mode: 0o700 });
    const line = `${JSON.stringify({ level: "info", filler: "x".repeat(980) })}\n`;
    for (const name of ["master.ndjson", "master.1.ndjson", "master.2.ndjson", "master.3.ndjson", "master.4.ndjson"]) {
      writeFileSync(join(logDir, name), line.repeat(Math.floor((5 * MiB) / line.length)), { mode: 0o600 });
    }
    const oldest = "the oldest file of all";
    appendFileSync(join(logDir, "master.4.ndjson"), `${JSON.stringify({ level: "info", msg: oldest })}\n`);
    home.configure({
      agents: {
        noisy: { command: process.execPath, args: [plainAgent, "noise", String(mebibytes)] },
        fake: agent,
      },
      config: { log: { level: "trace" } },
    });
    const shim = home.connect(["noisy"]);
    await shim.initialize();
    const { sessionId } = await shim.newSession();
    expect((await shim.prompt(sessionId, "go", 120_000)).result.stopReason).toBe("end_turn");
    const { socket } = await eventually(() => home.masterFile(), "the daemon runs");

    const chatter = await RawClient.overSocket(socket);
    await chatter.initialize({ agent: "fake" });
    await chatter.newSession();
    const process_ = await agent.process();
    for (let n = 0; n < 20; n++) await process_.sendRaw("this is no message\n".repeat(500));
    await chatter.close();
    for (let n = 0; n < connections; n += 50) {
      const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.overSocket(socket)));
      await Promise.all(clients.map((client) => client.initialize({ agent: null })));
      await Promise.all(clients.map((client) => client.close()));
    }
    expect((await home.cli(["status", "--json"])).code).toBe(0);
    // 5 files of 5 MiB.
    expect(sizeOf(logDir)).toBeLessThanOrEqual(5 * 5 * MiB + 64 * 1024);
    expect(readdirSync(logDir).filter((name) => name.startsWith("master"))).toHaveLength(5);
    expect(filesBelow(logDir).filter((path) => readFileSync(path).includes(oldest))).toEqual([]);
    expect(sizeOf(join(home.home, "state")) + sizeOf(join(home.home, "run"))).toBeLessThan(MiB);
    await shim.close();
  }, 600_000);

  it("is a bounded number of files, however many shims and agents come and go (FF-143)", async () => {
    const rounds = full ? 500 : 12;
    const atOnce = 6;
    await using agent = fakeAgent({ definition: { share: "session" } });
    await using home = makeHome({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const one = async (): Promise<void> => {
      const shim = home.connect();
      await shim.initialize();
      const { sessionId } = await shim.newSession();
      await shim.call("session/close", { sessionId });
      shim.endInput();
      await within(shim.program!.exited, "the shim ends", 20_000);
    };
    await one();
    const before = diagnostics(home).length;
    for (let n = 0; n < rounds; n += atOnce) await Promise.all(Array.from({ length: atOnce }, one));
    for (const args of [["status"], ["stop"], ["run", "hello"], ["stop"]]) await home.cli(args);
    expect(agent.processes.length).toBeGreaterThanOrEqual(2);
    expect(diagnostics(home).length).toBeLessThanOrEqual(before + 2);
    // log/, state/audit.ndjson with its head, start-errors.txt; run/ is empty after a stop.
    expect(diagnostics(home).length).toBeLessThanOrEqual(10);
  }, 900_000);
});
