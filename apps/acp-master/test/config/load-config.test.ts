import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkConfig, loadConfig } from "../../src/config/load-config.ts";

let root: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acpm-"));
  file = join(root, "config.json");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function problems(text: string) {
  const checked = checkConfig(file, text);
  return checked.ok ? [] : checked.problems.map(({ path, found, allowed }) => ({ path, found, allowed }));
}

function config(text: string) {
  const checked = checkConfig(file, text);
  if (!checked.ok) throw new Error(checked.message);
  return checked.config;
}

describe("loadConfig()", () => {
  it("takes a missing file as the defaults", () => {
    expect(loadConfig(file)).toEqual({
      ok: true,
      config: {
        agents: {},
        defaultAgent: "claude",
        helper: { use: "presets", isolation: "session", decideSeconds: 30, idleSeconds: 60, tmux: "default" },
        approvals: { preset: "ask", timeoutSeconds: 0, noClientSeconds: 600 },
        sessions: { idleMinutes: 30, keepDays: 30, cancelSeconds: 30 },
        limits: {
          frameBytes: 33_554_432,
          promptQueue: 16,
          helpers: 256,
          clientSeconds: 60,
          stalledSeconds: 600,
          agentIdleSeconds: 60,
        },
        daemon: { idleExitMinutes: 0, drainSeconds: 10 },
        console: { port: 0, host: "127.0.0.1", origins: [], proxies: [], tls: {}, readOnly: false },
        audit: { sync: "batched" },
        log: { level: "info" },
      },
    });
  });

  it.each(["{}", "// nothing\n{ /* at all */ }", '\uFEFF{"agents":{},}'])("reads JSON with comments: %j", (text) => {
    writeFileSync(file, text);
    expect(loadConfig(file).ok).toBe(true);
  });

  it("reports a folder, bytes that are not UTF-8, an empty file and a huge one", () => {
    mkdirSync(file);
    expect(loadConfig(file)).toMatchObject({ problems: [{ found: "no regular file" }] });
    rmSync(file, { recursive: true });
    writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(loadConfig(file)).toMatchObject({ problems: [{ found: "bytes that are not UTF-8" }] });
    writeFileSync(file, " \n");
    expect(loadConfig(file)).toMatchObject({ problems: [{ found: "an empty file" }] });
    writeFileSync(file, " ".repeat(1024 * 1024 + 1));
    expect(loadConfig(file)).toMatchObject({ ok: false, problems: [{ allowed: "1048576 bytes" }] });
  });
});

describe("a configured agent", () => {
  it("gets every default", () => {
    expect(config('{"agents":{"mine":{"command":"/opt/agent"}}}').agents.mine).toEqual({
      command: "/opt/agent",
      args: [],
      env: {},
      passEnv: [],
      share: "pool",
      shell: "sh",
      arming: "required",
      approvalsOption: "auto",
    });
  });

  it("takes the rest of its own helper and approvals from the general ones", () => {
    const { agents } = config(`{
      "agents": { "mine": { "helper": { "use": "deny-all" }, "approvals": { "preset": "read-only" } } },
      "helper": { "isolation": "shared", "decideSeconds": 5 },
      "approvals": { "timeoutSeconds": 60 }
    }`);
    expect(agents.mine?.helper).toEqual({
      use: "deny-all",
      isolation: "shared",
      decideSeconds: 5,
      idleSeconds: 60,
      tmux: "default",
    });
    expect(agents.mine?.approvals).toEqual({ preset: "read-only", timeoutSeconds: 60, noClientSeconds: 600 });
  });

  it("and its Helper are looked for from the file's folder, bare names on PATH", () => {
    const { agents, helper } = config(`{
      "agents": {
        "near": { "command": "./agent", "helper": { "use": { "module": "h.js" } } },
        "bare": { "command": "agent", "helper": { "use": { "command": ["../h", "./x"] } } },
        "plain": { "command": "/opt/agent", "helper": { "decideSeconds": 1 } }
      },
      "helper": { "use": { "module": "./my-helper.js" } }
    }`);
    expect(agents.near?.command).toBe(join(root, "agent"));
    expect(agents.near?.helper?.use).toEqual({ module: join(root, "h.js") });
    expect(agents.bare?.command).toBe("agent");
    expect(agents.bare?.helper?.use).toEqual({ command: [join(root, "../h"), "./x"] });
    expect(agents.plain?.helper?.use).toEqual({ module: join(root, "my-helper.js") });
    expect(helper.use).toEqual({ module: join(root, "my-helper.js") });
  });
});

describe("an agent that is not configured", () => {
  it.each(["constructor", "toString", "__proto__"])("is not there, not even by the name %s", (name) => {
    expect(config("{}").agents[name]).toBeUndefined();
  });
});

describe("a problem", () => {
  const cases: readonly [string, string, string | RegExp, string | RegExp][] = [
    ['{"limits":{"promptQueue":0}}', "limits.promptQueue", "0", "a whole number from 1 to 1024"],
    ['{"limits":{"helpers":1.5}}', "limits.helpers", "1.5", "a whole number from 1 to 4096"],
    ['{"limits":{"frameBytes":"33 MB"}}', "limits.frameBytes", '"33 MB"', /^a whole number/],
    ['{"log":{"level":"loud"}}', "log.level", '"loud"', "trace | debug | info | warn | error | fatal | silent"],
    ['{"helper":{"use":"nobody"}}', "helper.use", '"nobody"', /presets \| ask \| deny-all .*"module"/],
    ['{"helper":{"use":{"modul":"x"}}}', "helper.use", "an object", /"module"/],
    ['{"helper":{"use":{"command":[]}}}', "helper.use.command", "a list", /^at least the program/],
    ['{"approvals":{"timeoutSeconds":-1}}', "approvals.timeoutSeconds", "-1", /0: no limit/],
    ['{"sessions":{"idleMinutes":0}}', "sessions.idleMinutes", "0", /above 0/],
    ['{"daemon":null}', "daemon", "null", "an object { … }"],
    ['{"agents":[]}', "agents", "a list", /an object/],
    ["[]", "", "a list", "an object { … }"],
    ['{"agents":{"a b":{}}}', "agents", 'the name "a b"', /letters, digits/],
    ['{"agents":{"a":{"args":["x",7]}}}', "agents.a.args[1]", "a number", "a string without NUL"],
    ['{"agents":{"a":{"passEnv":["A=B"]}}}', "agents.a.passEnv[0]", '"A=B"', /environment variable/],
    ['{"agents":{"a":{"shell":"bash"}}}', "agents.a.shell", '"bash"', "sh | powershell | argv"],
    ['{"agents":{"a":{"command":"x\\u0000"}}}', "agents.a.command", /^"x.+"$/, "the program to start"],
    ['{"console":{"port":70000}}', "console.port", "70000", "a whole number from 0 to 65535"],
    ['{"console":{"tls":{"cert":"c.pem"}}}', "console.tls", "an object", "both cert and key"],
    ['{"console":{"proxies":"10.0.0.1"}}', "console.proxies", '"10.0.0.1"', "a list of IP addresses"],
  ];
  it.each(cases)("of %s names the key, what was found and what is allowed", (text, path, found, allowed) => {
    const [problem, ...more] = problems(text);
    expect(more).toEqual([]);
    expect(problem?.path).toBe(path);
    if (found instanceof RegExp) expect(problem?.found).toMatch(found);
    else expect(problem?.found).toBe(found);
    if (allowed instanceof RegExp) expect(problem?.allowed).toMatch(allowed);
    else expect(problem?.allowed).toBe(allowed);
  });

  it("with an unknown key lists the known ones and the one that was meant", () => {
    const found = problems('{"helpr":{},"limits":{"promtQueue":3,"zzz":1},"agents":{"a":{"cmd":"x"}}}');
    expect(found).toHaveLength(4);
    expect(found).toEqual(
      expect.arrayContaining([
        { path: "helpr", found: "an unknown key", allowed: expect.stringMatching(/agents, .*did you mean "helper"\?/) },
        {
          path: "limits.promtQueue",
          found: "an unknown key",
          allowed:
            'frameBytes, promptQueue, helpers, clientSeconds, stalledSeconds, agentIdleSeconds (did you mean "promptQueue"?)',
        },
        {
          path: "limits.zzz",
          found: "an unknown key",
          allowed: "frameBytes, promptQueue, helpers, clientSeconds, stalledSeconds, agentIdleSeconds",
        },
        { path: "agents.a.cmd", found: "an unknown key", allowed: expect.stringContaining("command, args, env") },
      ]),
    );
  });

  it("never shows a value that may be a secret, nor what a terminal would obey", () => {
    const text =
      '{"agents":{"a":{"env":{"KEY":31337},"args":[{"t":"sk-9"}]}},"defaultAgent":"\\u001b[2J\\u202e' +
      "x".repeat(500) +
      '"}';
    const checked = checkConfig(file, text);
    const message = checked.ok ? "" : checked.message;
    expect(message).toContain("agents.a.env.KEY: found a number");
    for (const hidden of ["31337", "sk-9", "\u001B", "\u202E"]) expect(message).not.toContain(hidden);
    expect(message.length).toBeLessThan(1500);
  });

  it.each([
    ['{\n  "agents": {\n', "line 3, column 1"],
    ['{\n  "log": { "level": }\n}', "line 2, column 21"],
    ["not json", "line 1, column 1"],
  ])("of syntax in %j names line and column", (text, path) => {
    expect(problems(text)[0]).toMatchObject({ path, allowed: expect.stringMatching(/^JSON/) });
  });

  it("is a key that stands there twice: the second would silently win", () => {
    expect(problems('{"log":{"level":"info","level":"debug"},"log":{}}').map(({ path }) => path)).toEqual([
      "log.level",
      "log",
    ]);
  });

  it("never leaves half a configuration", () => {
    writeFileSync(file, '{"log":{"level":"debug"},"audit":{"sync":"never"}}');
    const loaded = loadConfig(file);
    expect(loaded.ok).toBe(false);
    expect(loaded.ok ? "" : loaded.message).toBe(`${file}: audit.sync: found "never"; allowed: batched | always`);
  });
});
