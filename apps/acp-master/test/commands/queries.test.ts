// status, sessions, approvals, agents: what they ask and print.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { sessionColumns } from "../../src/commands/sessions.ts";
import { table } from "../../src/display/table.ts";
import { bundledProgram, Installation } from "./command-line.ts";
import { FixtureDaemon, Refusal } from "./fixture-daemon.ts";

const row = {
  sessionId: "s1",
  agent: "demo",
  cwd: "/w",
  title: "a\u202eb\n",
  state: "waiting",
  preset: "ask",
  clients: [
    { clientId: "c1", name: "Zed", role: "controller" },
    { clientId: "c2", name: "tail", role: "observer" },
  ],
  approvals: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: 1_767_225_600_000,
};
const approval = {
  approvalId: "p1",
  sessionId: "s1",
  agent: "demo",
  toolCallId: "t1",
  options: [{ optionId: "ok", name: "Allow", kind: "allow_once" }],
  askedAt: "2026-01-01T00:00:00.000Z",
  expiresAt: null,
  params: { toolCall: { title: "ls\u200b", rawInput: { command: "rm -rf /\u001b" } } },
};
const status = {
  version: "0.1.0",
  pid: 42,
  socket: "/s",
  startedAt: Date.now() - 61_000,
  config: { file: "/c.json", problem: "bad\u202e key" },
  agents: [{ name: "demo", pid: 7, instance: "i", state: "ready", sessions: 1, clients: 2, startedAt: Date.now() }],
  exits: [{ agent: "demo", exitCode: null, signal: "SIGKILL", at: Date.now(), message: "it ended" }],
  sessions: 1,
  clients: 2,
  approvals: 1,
  helpers: [],
  counters: { dropped: 3, none: 0 },
};
const answers = {
  "_acp-master/status": () => status,
  "_acp-master/sessions": () => ({ sessions: [row] }),
  "_acp-master/approvals": () => ({ approvals: [approval] }),
  "_acp-master/agents": () => ({
    agents: [{ name: "far", source: "config", ready: false, how: "config", command: "x", why: "no x" }],
  }),
};
const hidden = /(?!\n|\t)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

test("on a terminal a state says what comes next, for programs it is the word alone", async () => {
  const said: Readonly<Record<string, RegExp>> = {
    lost: /lost, tried again at the next prompt/,
    closed: /closed, opens again when it is loaded/,
    running: /running /,
  };
  for (const [state, text] of Object.entries(said)) {
    const rows = [{ ...row, state, clients: [] }];
    const columns = sessionColumns(Date.now());
    expect(await table(columns, rows, { surface: { isTTY: true }, empty: "" })).toMatch(text);
    expect(await table(columns, rows, { surface: {}, empty: "" })).toContain(`\t${state}\t`);
  }
});

describe("with --json", () => {
  test.each([
    ["status", status],
    ["sessions", { sessions: [row] }],
    ["approvals", { approvals: [approval] }],
  ])("%s prints the daemon's answer, hidden characters escaped", async (command, wanted) => {
    await using place = new Installation();
    await using _daemon = await FixtureDaemon.start(place, answers);
    const { code, stdout, stderr } = await place.run([command, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(wanted)));
    expect(stdout).not.toMatch(hidden);
  });
});

describe("without a terminal", () => {
  test("sessions prints tab-separated lines", async () => {
    await using place = new Installation();
    await using _daemon = await FixtureDaemon.start(place, answers);
    const { stdout } = await place.run(["sessions"]);
    expect(stdout).toBe(
      "session\tagent\tstate\tpreset\tapprovals\tclients\tupdated\tcwd\ttitle\n" +
        "s1\tdemo\twaiting\task\t1\tZed, tail (observer)\t2026-01-01T00:00:00.000Z\t/w\ta\\u{202E}b\\u{A}\n",
    );
  });

  test("approvals shows the title and the real input, hidden characters visible", async () => {
    await using place = new Installation();
    await using _daemon = await FixtureDaemon.start(place, answers);
    const { stdout } = await place.run(["approvals"]);
    expect(stdout).toContain("ls\\u{200B}\t");
    expect(stdout).toContain("rm -rf /\\u001b");
    expect(stdout).not.toMatch(hidden);
  });

  test("status says that an older configuration is in force, and what ended", async () => {
    await using place = new Installation();
    await using _daemon = await FixtureDaemon.start(place, answers);
    const { stdout } = await place.run(["status"]);
    expect(stdout).toContain("0.1.0, pid 42, up 1 min");
    expect(stdout).toContain("bad\\u{202E} key");
    expect(stdout).toContain("dropped 3");
    expect(stdout).not.toContain("none 0");
    expect(stdout).toMatch(/demo\tSIGKILL\t.*\tit ended/);
  });
});

test("sessions passes an absolute folder as the filter", async () => {
  await using place = new Installation();
  await using daemon = await FixtureDaemon.start(place, answers);
  await place.run(["sessions", "--cwd", "sub/.."]);
  expect(daemon.heard.at(-1)).toEqual(["_acp-master/sessions", { cwd: place.work }]);
});

test("agents asks the running daemon, and looks for itself where none runs", async () => {
  await using place = new Installation();
  const local = JSON.parse((await place.run(["agents", "--json"])).stdout);
  expect(local.agents).toContainEqual(expect.objectContaining({ name: "demo", ready: true }));
  await using _daemon = await FixtureDaemon.start(place, answers);
  const { stdout } = await place.run(["agents"]);
  expect(stdout).toBe("agent\tready\tfrom\thow\tcommand\twhy_not\nfar\tno\tconfig\tconfig\tx\tno x\n");
});

test("a daemon of another version is named with both versions and the remedy", async () => {
  await using place = new Installation();
  await using _daemon = await FixtureDaemon.start(place, {
    initialize: () => {
      throw new Refusal(-32060, "The daemon has version 9.9.9", { reason: "version_mismatch" });
    },
  });
  const { code, stderr } = await place.run(["status"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/9\.9\.9.*0\.1\.0.*acp-master restart/);
});

// `script` makes a terminal; it is part of util-linux and of macOS, with other arguments there.
const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;
if (!hasScript) console.log("no terminal tests: the program `script` of util-linux is not here");

async function onTerminal(place: Installation, line: string, env: Record<string, string> = {}): Promise<string> {
  const command = `${process.execPath} ${await bundledProgram()} ${line}`;
  const call = place.startOther("script", ["-qec", command, "/dev/null"], { env: { TERM: "xterm", ...env } });
  return (await call.ended).stdout.replaceAll("\r\n", "\n");
}

describe.runIf(hasScript)("on a terminal", () => {
  test("approvals shows whole cards in colour, NO_COLOR takes the colour away", async () => {
    await using place = new Installation();
    await using _daemon = await FixtureDaemon.start(place, answers);
    expect(await onTerminal(place, "approvals")).toContain("\u001b[1mls\\u{200B}\u001b[22m");
    const plain = await onTerminal(place, "approvals", { NO_COLOR: "1" });
    expect(plain).toContain('  input: {"command":"rm -rf /\\u001b"}\n  1  Allow  (allow_once)\n');
    expect(plain).not.toMatch(hidden);
  });

  test("sessions is a table", async () => {
    await using place = new Installation();
    await using _daemon = await FixtureDaemon.start(place, answers);
    const text = await onTerminal(place, "sessions", { NO_COLOR: "1" });
    expect(text).toMatch(/^Session {2}Agent {2}State {4}Preset/);
    expect(text).not.toContain("\t");
  });
});
