import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bundledProgram, Installation } from "./command-line.ts";
import { type Answer, FixtureDaemon, type Loose, type Peer, Refusal } from "./fixture-daemon.ts";

const options = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "ever", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];
const question = {
  sessionId: "s1",
  toolCall: { toolCallId: "t1", title: "ls\u202e", kind: "execute", rawInput: { command: "rm \u200b" } },
  options,
};
const says = (text: string) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const finished = { stopReason: "end_turn" };

function prompting(place: Installation, turn: Answer, more: Readonly<Record<string, Answer>> = {}) {
  return FixtureDaemon.start(place, {
    "session/new": () => ({ sessionId: "s1" }),
    "session/resume": () => ({}),
    "session/prompt": turn,
    ...more,
  });
}

const sent = (daemon: FixtureDaemon, method: string) => daemon.heard.find(([name]) => name === method)?.[1];

test("prints the answer exactly on stdout and everything else on stderr", async () => {
  await using place = new Installation();
  await using daemon = await prompting(place, (_params, peer) => {
    peer.update("s1", { ...says(""), content: { type: "text", text: "think" }, sessionUpdate: "agent_thought_chunk" });
    peer.update("s1", says("Grüße \u001b[1m"));
    peer.update("s1", { sessionUpdate: "tool_call", toolCallId: "t", title: "a\u202e", kind: "read" });
    peer.update("s1", { sessionUpdate: "a_later_kind", n: 1 });
    peer.update("s2", says("other"));
    peer.update("s1", says("done"));
    return finished;
  });
  const { code, stdout, stderr } = await place.run(["run", "demo", "hello"]);
  expect([code, stdout]).toEqual([0, "Grüße \u001b[1m\ndone\n"]);
  expect(stderr).toBe("session s1\nthink\n○ a\\u{202E} [read] pending\n");
  expect(sent(daemon, "initialize")).toMatchObject({
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
    _meta: { "acp-master": { agent: "demo", version: "0.1.0", role: "controller" } },
  });
  expect(sent(daemon, "session/new")).toEqual({ cwd: place.work, mcpServers: [] });
  expect(sent(daemon, "session/prompt")).toEqual({ sessionId: "s1", prompt: [{ type: "text", text: "hello" }] });
});

test("leaves the agent to the daemon, and takes the prompt from stdin", async () => {
  await using place = new Installation();
  await using daemon = await prompting(place, () => finished);
  expect((await place.run(["run", "-", "--cwd", ".."], { input: "from\nstdin" })).code).toBe(0);
  expect(sent(daemon, "initialize")._meta["acp-master"]).not.toHaveProperty("agent");
  expect(sent(daemon, "session/new").cwd).toBe(place.folder);
  expect(sent(daemon, "session/prompt").prompt[0].text).toBe("from\nstdin");
});

test("--json prints every update with its own bytes, then the result", async () => {
  await using place = new Installation();
  await using _daemon = await prompting(place, (_params, peer) => {
    const update = '{"sessionUpdate":"later","big":9007199254740993,"one":1.0,"hidden":"\u200b"}';
    peer.sendText(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":${update}}}\r\n`);
    return finished;
  });
  const { code, stdout } = await place.run(["run", "hello", "--json"]);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    '{"type":"session","sessionId":"s1"}',
    '{"type":"update","update":{"sessionUpdate":"later","big":9007199254740993,"one":1.0,"hidden":"\\u200b"}}',
    '{"type":"result","sessionId":"s1","stopReason":"end_turn","refusals":0,"exitCode":0}',
    "",
  ]);
});

async function refused(offered: object[]) {
  await using place = new Installation();
  let answer: unknown;
  await using _daemon = await prompting(place, async (_params, peer) => {
    answer = (await peer.request("session/request_permission", { ...question, options: offered })).result;
    return finished;
  });
  return { ...(await place.run(["run", "go"])), answer };
}

describe("without a terminal", () => {
  test("a permission is shown, refused with the reject option, and the exit code is 5", async () => {
    const { code, stdout, stderr, answer } = await refused(options);
    expect([code, stdout]).toEqual([5, ""]);
    expect(answer).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
    expect(stderr).toContain('ls\\u{202E}  [execute]\n  input: {"command":"rm \\u{200B}"}\n');
    expect(stderr).toContain("Refused (no): there is no terminal");
  });

  test("never allows where no reject is offered", async () => {
    const { code, answer } = await refused(options.slice(0, 2));
    expect([code, answer]).toEqual([5, { outcome: { outcome: "cancelled" } }]);
  });
});

test("serves files inside the folder of the run and nothing outside of it", async () => {
  await using place = new Installation();
  const answers: Loose[] = [];
  await using _daemon = await prompting(place, async (_params, peer) => {
    const ask = async (method: string, params: object) => answers.push(await peer.request(method, params));
    await ask("fs/write_text_file", { sessionId: "s1", path: join(place.work, "a/b"), content: "1\n2\n" });
    await ask("fs/read_text_file", { sessionId: "s1", path: join(place.work, "a/b"), line: 2 });
    await ask("fs/read_text_file", { sessionId: "s1", path: join(place.work, "none") });
    await ask("fs/write_text_file", { sessionId: "s1", path: join(place.folder, "out"), content: "x" });
    await ask("terminal/create", { sessionId: "s1", command: "true" });
    return finished;
  });
  expect((await place.run(["run", "go"])).code).toBe(0);
  expect(readFileSync(join(place.work, "a/b"), "utf8")).toBe("1\n2\n");
  expect(answers.map(({ result, error }) => result ?? error.code)).toEqual([
    {},
    { content: "2\n" },
    -32002,
    -32602,
    -32601,
  ]);
});

test("goes on with a session in its own folder, without its history", async () => {
  await using place = new Installation();
  const row = { sessionId: "s1", agent: "demo", cwd: place.folder, clients: [] };
  await using daemon = await prompting(place, () => finished, { "_acp-master/sessions": () => ({ sessions: [row] }) });
  expect((await place.run(["run", "--session", "s1", "go"])).code).toBe(0);
  expect(sent(daemon, "initialize")._meta["acp-master"].agent).toBeNull();
  expect(sent(daemon, "session/resume")).toEqual({ sessionId: "s1", cwd: place.folder, mcpServers: [] });
  expect((await place.run(["run", "--session", "s2", "go"])).code).toBe(4);
  expect((await place.run(["run", "--session", "s1", "other", "go"])).code).toBe(2);
});

test("switches the preset before the prompt, and sends no prompt when that fails", async () => {
  await using place = new Installation();
  await using daemon = await prompting(place, () => finished, {
    "_acp-master/session/preset": ({ confirm }) => {
      if (confirm !== true) throw new Refusal(-32602, "It needs a confirmation: acp-master preset s1 allow-all --yes");
    },
  });
  expect((await place.run(["run", "go", "--preset", "allow-all"])).code).toBe(1);
  expect(sent(daemon, "session/prompt")).toBeUndefined();
  expect((await place.run(["run", "go", "--preset", "allow-all", "--yes"])).code).toBe(0);
});

test.each([
  ["an unknown agent", "unknown_agent", 4],
  ["an agent that ended", "agent_exited", 1],
])("%s ends with its exit code and what to do", async (_what, reason, wanted) => {
  await using place = new Installation();
  await using _daemon = await prompting(place, () => {
    throw new Refusal(-32050, "it did not work", { reason });
  });
  const { code, stderr } = await place.run(["run", "go"]);
  expect(code).toBe(wanted);
  expect(stderr).toMatch(/acp-master: it did not work\. .*`acp-master \w+`/);
});

test("a turn that ended early is a failure, and a daemon that is gone too", async () => {
  await using place = new Installation();
  let turn = 0;
  await using _daemon = await prompting(place, (_params, peer) =>
    turn++ === 0 ? { stopReason: "max_tokens" } : peer.hangUp(),
  );
  const early = await place.run(["run", "go"]);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("max_tokens")]);
  const lost = await place.run(["run", "go"]);
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining("connection to the daemon ended")]);
});

describe("an interrupt", () => {
  test("cancels the turn and is exit code 130", async () => {
    await using place = new Installation();
    let cancel: ((result: object) => void) | undefined;
    await using daemon = await prompting(
      place,
      (_params, peer) => {
        peer.update("s1", says("working\n"));
        return new Promise((resolve) => (cancel = resolve));
      },
      { "session/cancel": () => cancel?.({ stopReason: "cancelled" }) },
    );
    const call = await place.start(["run", "go"]);
    await call.printed("stdout", /working/);
    call.child.kill("SIGINT");
    expect(await call.ended).toMatchObject({ code: 130, signal: null, stdout: "working\n" });
    expect(sent(daemon, "session/cancel")).toEqual({ sessionId: "s1" });
  });

  test("a second one ends at once", async () => {
    await using place = new Installation();
    let cancelled: (() => void) | undefined;
    const cancelSeen = new Promise<void>((resolve) => (cancelled = resolve));
    await using _daemon = await prompting(
      place,
      (_params, peer) => {
        peer.update("s1", says("working\n"));
        return new Promise(() => {});
      },
      { "session/cancel": () => cancelled?.() },
    );
    const call = await place.start(["run", "go"]);
    await call.printed("stdout", /working/);
    call.child.kill("SIGINT");
    await cancelSeen;
    call.child.kill("SIGINT");
    expect(await call.ended).toMatchObject({ code: 130 });
  });
});

// `script` makes a terminal; it is part of util-linux and of macOS, with other arguments there.
const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;
if (!hasScript) console.log("no terminal tests: the program `script` of util-linux is not here");

async function asked(keys: string, act: (peer: Peer, id: number) => void = () => {}) {
  const place = new Installation();
  let answer: Loose;
  const daemon = await prompting(
    place,
    async (_params, peer) => {
      const answered = peer.request("session/request_permission", question, 900);
      act(peer, 900);
      answer = (await answered).result ?? {};
      return finished;
    },
    { "session/cancel": () => {} },
  );
  const command = `${process.execPath} ${await bundledProgram()} run go`;
  const call = place.startOther("script", ["-qec", command, "/dev/null"], { env: { TERM: "xterm", NO_COLOR: "1" } });
  await call.printed("stdout", /Esc {2}refuse/);
  // Keys count from half a second after the question on; until then they belong to what was being typed.
  const typing = setInterval(() => call.child.stdin.write(keys), 200);
  const { code, stdout } = await call.ended.finally(() => clearInterval(typing));
  await daemon[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  return { code, stdout, answer };
}

describe.runIf(hasScript)("on a terminal", () => {
  test("a number key chooses the option in that place", async () => {
    const startedAt = performance.now();
    const { code, answer, stdout } = await asked("2");
    expect([code, answer]).toEqual([0, { outcome: { outcome: "selected", optionId: "ever" } }]);
    expect(performance.now() - startedAt).toBeGreaterThan(500);
    expect(stdout).toContain("  3  Reject  (reject_once)");
    expect(stdout).not.toContain("\u202e");
  });

  test("Escape refuses by closing the question", async () => {
    expect(await asked("\u001b")).toMatchObject({ code: 5, answer: { outcome: { outcome: "cancelled" } } });
  });

  test("a question that somebody else answered goes away", async () => {
    const { code, stdout } = await asked("9", (peer, requestId) => {
      setTimeout(() => peer.notify("$/cancel_request", { requestId }), 300);
    });
    expect(code).toBe(0);
    expect(stdout).toContain("(no longer asked)");
  });
});
