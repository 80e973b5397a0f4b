// Field faults of kind paths-env: which folder, which programs and which variables an agent gets.
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { makeHome } from "../harness/home.ts";
import { startMaster } from "../harness/master.ts";
import { cwdOf, descendantsOf, environmentOf } from "../harness/processes.ts";
import type { RawClient } from "../harness/raw-client.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";

describe("a cwd that is not absolute", () => {
  it("is refused by every way to a session, on the socket and through connect, and no agent sees it (FF-160)", async () => {
    await using agent = fakeAgent({ sessionIds: ["a"], capabilities: { sessionCapabilities: { fork: {} } } });
    await using master = await startMaster({ agents: { fake: agent } });
    const direct = await master.client();
    const shim = master.connect(["fake"], { cwd: master.work });
    for (const client of [direct, shim]) await client.initialize({ agent: "fake" });
    await direct.newSession();
    const odd = [
      ".",
      "",
      "./x",
      "x/y",
      "..",
      "~",
      "~/x",
      "C:\\x",
      "file:///tmp",
      " /tmp",
      null,
      7,
      ["/tmp"],
      undefined,
    ];
    for (const client of [direct, shim]) {
      for (const cwd of odd) {
        for (const [method, extra] of Object.entries({
          "session/new": {},
          "session/load": { sessionId: "unknown" },
          "session/resume": { sessionId: "unknown" },
          ...(client === direct ? { "session/fork": { sessionId: "a" } } : {}),
        })) {
          const { error } = await client.request(method, {
            ...extra,
            ...(cwd === undefined ? {} : { cwd }),
            mcpServers: [],
          });
          expect(error, `${method} ${JSON.stringify(cwd)}`).toMatchObject({
            code: -32602,
            data: { reason: "cwd_not_absolute" },
          });
          expect(error?.message).toContain("absolute");
        }
      }
    }
    const process = await agent.process();
    expect(process.count("session/new")).toBe(1);
    for (const method of ["session/load", "session/resume", "session/fork"]) expect(process.count(method)).toBe(0);
  });

  it("does not exist, or is no folder: the error names it (FF-160)", async () => {
    await using agent = fakeAgent();
    await using master = await startMaster({ agents: { fake: agent } });
    const client = await master.client();
    await client.initialize({ agent: "fake" });
    const file = join(master.work, "file");
    writeFileSync(file, "");
    for (const cwd of [join(master.work, "gone"), file, join(file, "below")]) {
      const { error } = await client.request("session/new", { cwd, mcpServers: [] });
      expect(error).toMatchObject({ code: -32602, data: { reason: "cwd_missing" } });
      expect(error?.message).toContain(cwd);
    }
    expect((await agent.process()).count("session/new")).toBe(0);
  });

  it("means the user's folder on the command line, never the daemon's (FF-160)", async () => {
    await using agent = fakeAgent();
    await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    mkdirSync(join(master.work, "sub"));
    expect(cwdOf(master.pid)).not.toBe(master.work);
    const expected: string[] = [];
    for (const [args, cwd] of [
      [[], "."],
      [["--cwd", "."], "."],
      [["--cwd", "sub"], "sub"],
      [["--cwd", "sub/.."], "."],
    ] as const) {
      expect((await master.cli(["run", ...args, "hello"], { cwd: master.work })).code).toBe(0);
      expected.push(join(master.work, cwd));
    }
    const process = await agent.process();
    const seen = process.lines.all.filter(({ message }) => message.method === "session/new");
    expect(seen.map(({ message }) => message.params.cwd)).toEqual(expected);
    const listed = await master.cli(["sessions", "--cwd", ".", "--json"], { cwd: join(master.work, "sub") });
    expect(JSON.parse(listed.stdout).sessions.map((row: { cwd: string }) => row.cwd)).toEqual([
      join(master.work, "sub"),
    ]);
  });
});

describe("one folder in two spellings", () => {
  it("is one folder in lists, in both directions, and the agent gets it as it was spelled (FF-161)", async () => {
    // An agent that lists by text, as agents do.
    await using agent = fakeAgent({
      auto: {
        "session/list": (
          params: { cwd?: string },
          process: { lines: { all: { message: { method?: string; params?: { cwd: string } } }[] } },
        ) => {
          const opened = process.lines.all.filter(({ message }) => message.method === "session/new");
          const rows = opened.map(({ message }, n) => ({ sessionId: `s-${n + 1}`, cwd: message.params!.cwd }));
          return { sessions: rows.filter(({ cwd }) => params.cwd === undefined || cwd === params.cwd) };
        },
      },
    });
    await using master = await startMaster({ agents: { fake: agent } });
    const real = join(master.work, "real");
    mkdirSync(join(real, "p"), { recursive: true });
    symlinkSync(real, join(master.work, "link"));
    const spellings = [join(real, "p"), join(master.work, "link", "p"), `${join(real, "p")}/`, `${real}/./p`];
    const client = await master.client();
    await client.initialize({ agent: "fake" });
    const ids: string[] = [];
    for (const cwd of spellings) ids.push((await client.newSession({ cwd })).sessionId);
    const other = (await client.newSession({ cwd: master.work })).sessionId;
    const process = await agent.process();
    const got = process.lines.all.filter(({ message }) => message.method === "session/new");
    expect(got.map(({ message }) => message.params.cwd)).toEqual([...spellings, master.work]);
    // Unfiltered first: what was seen then must not hide anything later.
    const all = (await client.call("session/list", {})).sessions.map((row: { sessionId: string }) => row.sessionId);
    expect(new Set(all)).toEqual(new Set([...ids, other]));
    expect(all).toHaveLength(ids.length + 1);
    for (const cwd of spellings.slice(0, 2)) {
      const same = await master.cli(["run", "--session", ids[0]!, "--cwd", cwd, "hello"]);
      expect(same, cwd).toMatchObject({ code: 0 });
    }
    for (const cwd of spellings) {
      const ours = await client.call("session/list", { cwd });
      expect(new Set(ours.sessions.map((row: { sessionId: string }) => row.sessionId)), cwd).toEqual(new Set(ids));
      const shown = JSON.parse((await master.cli(["sessions", "--cwd", cwd, "--json"])).stdout).sessions;
      expect(new Set(shown.map((row: { sessionId: string }) => row.sessionId)), cwd).toEqual(new Set(ids));
    }
  });

  it("is one folder for a preset: edits inside it are accepted by either spelling, outside by none (FF-161)", async () => {
    await using agent = fakeAgent();
    await using master = await startMaster({
      agents: { fake: agent },
      config: { approvals: { preset: "accept-edits" }, helper: { use: "presets", isolation: "shared" } },
    });
    const real = join(master.work, "real");
    mkdirSync(real);
    const outside = join(master.work, "outside");
    mkdirSync(outside);
    const link = join(master.work, "link");
    symlinkSync(real, link);
    symlinkSync(outside, join(real, "escape"));
    const client = await master.client();
    await client.initialize({ agent: "fake" });
    let asked = 0;
    client.answer("session/request_permission", () => {
      asked++;
      return { outcome: { outcome: "selected", optionId: "no" } };
    });
    for (const [cwd, path, accepted] of [
      [link, join(real, "f"), true],
      [real, join(link, "f"), true],
      [link, join(link, "f"), true],
      [link, join(outside, "f"), false],
      [link, join(link, "escape", "f"), false],
      [real, `${real}/../outside/f`, false],
    ] as const) {
      const { sessionId } = await client.newSession({ cwd });
      const process = await agent.process();
      const before = asked;
      const verdict = await process.askPermission(sessionId, {
        toolCall: {
          toolCallId: `edit-${sessionId}`,
          title: "Edit",
          kind: "edit",
          rawInput: { path },
          locations: [{ path }],
          content: [{ type: "diff", path, oldText: null, newText: "x" }],
        },
      });
      expect(verdict.result.outcome.optionId, `${path} in ${cwd}`).toBe(accepted ? "yes" : "no");
      expect(asked - before, `${path} in ${cwd}`).toBe(accepted ? 0 : 1);
    }
  });
});

describe("a short PATH", () => {
  it("is named with the command when an agent is not found, or not its interpreter; env of the agent cures both (FF-162)", async () => {
    await using agent = fakeAgent();
    await using home = makeHome();
    const tools = join(home.folder, "tools");
    mkdirSync(tools);
    symlinkSync(process.execPath, join(tools, "special-node"));
    const program = agent.definition.args![0]!;
    const text = readFileSync(program, "utf8");
    // An agent as package managers install it: a script whose first line looks for its interpreter on PATH.
    writeFileSync(join(tools, "special-agent.mjs"), `#!/usr/bin/env special-node\n${text}`, { mode: 0o755 });
    writeFileSync(join(tools, "special-wrapper"), '#!/bin/sh\nexec special-agent.mjs "$@"\n', { mode: 0o755 });
    const short = "/usr/bin:/bin";
    const env = agent.definition.env ?? {};
    const cured = { ...env, PATH: `${tools}:${short}` };
    const script = join(tools, "special-agent.mjs");
    await using master = await startMaster({
      env: { PATH: short },
      agents: {
        "by-name": { command: "special-agent.mjs", env },
        "by-path": { command: script, env },
        wrapped: { command: join(tools, "special-wrapper"), env },
        "by-name-cured": { command: "special-agent.mjs", env: cured },
        "by-path-cured": { command: script, env: cured },
        "wrapped-cured": { command: "special-wrapper", env: cured },
      },
    });
    for (const [name, command] of Object.entries({
      "by-name": "special-agent.mjs",
      "by-path": script,
      wrapped: join(tools, "special-wrapper"),
    })) {
      const client = await master.client();
      const { error } = await client.request("initialize", {
        protocolVersion: 1,
        _meta: { "acp-master": { agent: name } },
      });
      expect(error?.data.reason, name).toBe("agent_failed_to_start");
      expect(error?.message, name).toContain(command);
      expect(error?.message, name).toContain(`PATH was "${short}"`);
      await client.close();
      const cure = await master.client();
      await cure.initialize({ agent: `${name}-cured` });
      expect((await cure.newSession()).sessionId, name).toBeDefined();
    }
    const listed = JSON.parse((await master.cli(["agents", "--json"])).stdout).agents;
    const row = listed.find((one: { name: string }) => one.name === "by-name");
    expect(row.ready).toBe(false);
    expect(row.why).toContain("special-agent.mjs");
    expect(row.why).toContain(short);
  });
});

describe("the environment of whoever starts the daemon", () => {
  const marks = {
    GIT_AUTHOR_NAME: "mark-one",
    API_BASE: "mark-two",
    NODE_OPTIONS: "--max-http-header-size=9999",
    npm_config_registry: "mark-three",
    VIRTUAL_ENV: "mark-four",
    OPENAI_API_KEY: "mark-five",
    SSH_AUTH_SOCK: "mark-six",
    ELECTRON_RUN_AS_NODE: "mark-seven",
    HANDED_ON: "by-rule",
  };
  const allowed =
    /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TMPDIR|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|TERMINFO|TERMINFO_DIRS|LC_.*|XDG_.*|(HTTP|HTTPS|FTP|ALL|NO)_PROXY)$/i;
  /** What the daemon itself adds, and this test's agent. */
  const own =
    /^(FAKE_CONTROL|FAKE_OPTIONS|FIXTURE_RUN|ACP_MASTER_RUN|ACP_PROPOSE|ACP_PROPOSE_DIR|HANDED_ON|FROM_SETTINGS)$/;
  const ofHelpers = /^(ACP_MASTER_RUN|ACP_PROPOSE|ACP_MASTER_REVIEW_DIR)$/;

  it("reaches no agent, no child of one and no Helper, for the first client as for the second (FF-163)", async () => {
    await using agent = fakeAgent({
      definition: { passEnv: ["HANDED_ON"], env: { FROM_SETTINGS: "set", ACP_MASTER_HOME: "/told" }, share: "session" },
    });
    await using home = makeHome({ agents: { fake: agent }, config: { defaultAgent: "fake" } });
    const shell1 = join(home.folder, "project-1");
    mkdirSync(shell1);
    const first = home.connect([], { env: marks, cwd: shell1 });
    await first.initialize();
    await first.newSession();
    const second = home.connect([], { env: { GIT_AUTHOR_NAME: "other", HANDED_ON: "other" } });
    await second.initialize();
    const { sessionId } = await second.newSession();
    await second.prompt(sessionId, "hello");
    const daemon = await eventually(() => home.masterFile()?.pid, "the daemon runs");
    expect(cwdOf(daemon)).not.toBe(shell1);
    expect(agent.processes.length).toBeGreaterThanOrEqual(2);
    for (const process of agent.processes) {
      const child = await process.spawn();
      for (const env of [process.env, environmentOf(child)]) {
        expect(Object.keys(env).filter((name) => !allowed.test(name) && !own.test(name))).toEqual([]);
        expect(env).toMatchObject({ HANDED_ON: "by-rule", FROM_SETTINGS: "set" });
        expect(env.ACP_MASTER_HOME).toBeUndefined();
        expect(JSON.stringify(env)).not.toMatch(/mark-|other|9999/);
      }
      expect(process.cwd).not.toBe(shell1);
      expect(realpathSync(process.cwd)).toBe(realpathSync(join(home.folder, "home")));
    }
    const helpers = descendantsOf(daemon).filter(({ command }) => command.includes("helper-"));
    expect(helpers.length).toBeGreaterThan(0);
    for (const { pid } of helpers) {
      const env = environmentOf(pid);
      expect(Object.keys(env).filter((name) => !allowed.test(name) && !ofHelpers.test(name))).toEqual([]);
      expect(JSON.stringify(env)).not.toMatch(/mark-|by-rule|other|9999/);
    }
    await closeAll(first, second);
  });

  it("and the settings of an agent are taken anew: what was removed is gone for the next process (FF-163)", async () => {
    await using agent = fakeAgent({ definition: { env: { KEPT: "1", REMOVED: "1" } } });
    const { definition } = agent;
    await using master = await startMaster({ agents: { fake: agent } });
    const open = async () => {
      const client = await master.client();
      await client.initialize({ agent: "fake" });
      await client.newSession();
    };
    await open();
    expect((await agent.process(0)).env).toMatchObject({ KEPT: "1", REMOVED: "1" });
    const { REMOVED: _, ...env } = definition.env!;
    master.configure({ agents: { fake: { ...definition, env: { ...env, ADDED: "2" } } } });
    await eventually(async () => {
      await open();
      return agent.processes.length > 1;
    }, "a process of the new definition");
    const { KEPT, REMOVED, ADDED } = agent.processes.at(-1)!.env;
    expect({ KEPT, REMOVED, ADDED }).toEqual({ KEPT: "1", REMOVED: undefined, ADDED: "2" });
    expect(dirname(master.home)).toBe(master.folder);
  });
});

async function closeAll(...clients: RawClient[]): Promise<void> {
  for (const client of clients) await client.close();
}
