// Field faults of the kind "preset-policy": requests that look harmless, and presets that promise more than they do.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Home } from "../harness/home.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import type { InitializeOptions } from "../harness/raw-client.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import {
  answerOffer,
  askingAgent,
  auditRecords,
  converse,
  decisions,
  nextOffer,
  PERMISSION,
  selected,
  yesNo,
  type Conversation,
} from "../permissions/conversation.ts";

const kinds = {
  edits: { approvals: { preset: "accept-edits" } },
  ask: {},
  deny: { approvals: { preset: "deny-all" } },
  look: { approvals: { preset: "read-only" } },
  allow: { approvals: { preset: "allow-all" } },
  rules: { helper: { use: "policy-file" } },
} as const;
type Kind = keyof typeof kinds;
const shared = { helper: { isolation: "shared" } } as const;

let agents: Record<Kind, ScriptedAgent>;
let master: Master;

const make = (kind: Kind): ScriptedAgent => askingAgent({ definition: kinds[kind] });

beforeAll(async () => {
  agents = {
    edits: make("edits"),
    ask: make("ask"),
    deny: make("deny"),
    look: make("look"),
    allow: make("allow"),
    rules: make("rules"),
  };
  master = await startMaster({ agents, config: shared });
  // The rules that ship with the examples.
  const shipped = new URL("../../examples/helpers/policy.json", import.meta.url);
  writeFileSync(join(master.home, "policy.json"), readFileSync(shipped));
  // Around the session's folder: what looks like it, and ways out of it.
  const { work } = master;
  for (const name of ["docs", "outside"]) mkdirSync(join(work, name), { recursive: true });
  mkdirSync(`${work}-other`);
  mkdirSync(join(dirname(work), "elsewhere"));
  writeFileSync(join(dirname(work), "elsewhere", "key"), "secret");
  writeFileSync(join(work, "inside.txt"), "text");
  symlinkSync(join(dirname(work), "elsewhere", "key"), join(work, "notes.txt"));
  symlinkSync(join(dirname(work), "elsewhere"), join(work, "linked"));
  symlinkSync(join(dirname(work), "elsewhere", "not-there"), join(work, "dangling"));
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  for (const agent of Object.values(agents)) await agent[Symbol.asyncDispose]();
});

const writes = { capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true } };
const talk = (kind: Kind, options: InitializeOptions = {}) => converse(master, { ...options, agent: kind });

const editOf = (path: string, more: object = {}): Loose => ({
  kind: "edit",
  title: "Edit",
  rawInput: { path },
  locations: [{ path }],
  ...more,
});

let calls = 0;
/** "asked" (and then refused by a person), or the option that was taken without asking. */
async function outcome(talking: Conversation, toolCall: object): Promise<string> {
  const id = `call-${++calls}`;
  const answered = talking.ask(id, { toolCall });
  const result = await Promise.race([
    answered.then((answer) => answer.result.outcome.optionId ?? answer.result.outcome.outcome),
    nextOffer(talking.client, id),
  ]);
  if (typeof result === "string") return result;
  await answerOffer(talking.client, result, selected("no"));
  await answered;
  return "asked";
}

const byPreset = (preset: string): Loose =>
  decisions(master).findLast((line) => line.preset === preset && line.by.kind === "helper");

describe("accept-edits", () => {
  it("FF-71: follows links and compares parts: a link out, a linked folder, ../x and a sibling of the same prefix are asked", async () => {
    const talking = await talk("edits");
    const { work } = master;
    expect(await outcome(talking, editOf(join(work, "inside.txt")))).toBe("yes");
    expect(await outcome(talking, editOf(join(work, "new", "deep", "file.txt")))).toBe("yes");
    for (const path of [
      join(work, "notes.txt"),
      join(work, "linked", "file.txt"),
      join(work, "linked", "new", "file.txt"),
      join(work, "dangling"),
      `${work}/../x`,
      `${work}-other/file.txt`,
      `${work}/docs/../../elsewhere/key`,
    ]) {
      expect([path, await outcome(talking, editOf(path))]).toEqual([path, "asked"]);
    }
    // Every location counts, and the files of diffs as well.
    const inside = { path: join(work, "inside.txt") };
    const locations = [inside, { path: join(work, "notes.txt") }];
    expect(await outcome(talking, editOf(inside.path, { locations }))).toBe("asked");
    const content = [{ type: "diff", path: join(work, "notes.txt"), oldText: "a", newText: "b" }];
    expect(await outcome(talking, editOf(inside.path, { content }))).toBe("asked");
  });

  it("FF-72: resolves a relative path against the session's folder, not the daemon's", async () => {
    const talking = await talk("edits");
    // The daemon of these tests runs in the repository's root, where such a file exists.
    expect(await outcome(talking, editOf("inside.txt"))).toBe("yes");
    expect(await outcome(talking, editOf("./docs/new.md"))).toBe("yes");
    for (const path of ["notes.txt", "../x", "linked/a"]) {
      expect([path, await outcome(talking, editOf(path))]).toEqual([path, "asked"]);
    }
  });

  it("FF-74: asks for a file outside the session's folder, in the home folder too", async () => {
    const talking = await talk("edits");
    for (const path of [
      join(master.folder, "home", "file"),
      "/etc/hosts",
      "~/file",
      "$HOME/file",
      "file:///etc/hosts",
    ]) {
      expect([path, await outcome(talking, editOf(path))]).toEqual([path, "asked"]);
    }
  });

  it("FF-76: takes only kind edit with a known place and no command; titles count for nothing, no folder is trusted by itself", async () => {
    const talking = await talk("edits");
    const path = join(master.work, "inside.txt");
    const cases: Loose[] = [
      editOf(path, { kind: "execute", title: "Edit file" }),
      editOf(path, { kind: undefined, title: "Edit file" }),
      editOf(path, { kind: "other" }),
      editOf(path, { kind: "EDIT" }),
      editOf(path, { rawInput: { path, command: "true" } }),
      editOf(join(master.folder, "tmp", "file")),
      editOf("/tmp/file"),
      editOf(path, { locations: [] }),
      editOf(path, { locations: undefined }),
      editOf(path, { locations: [{ path: 7 }] }),
      editOf(path, { rawInput: undefined }),
      editOf(path, { rawInput: "text" }),
      // What an agent writes about itself is no policy input.
      editOf(path, { kind: "execute", _meta: { "acp-master": { toolsName: "local_fs", toolName: "edit_file" } } }),
    ];
    for (const toolCall of cases) {
      expect([JSON.stringify(toolCall), await outcome(talking, toolCall)]).toEqual([JSON.stringify(toolCall), "asked"]);
    }
  });

  it("FF-77: has its effect whatever the agent's own mode is, and the record names it", async () => {
    const talking = await talk("edits");
    await talking.client.call("session/set_mode", { sessionId: talking.sessionId, modeId: "plan" });
    expect(await outcome(talking, editOf(join(master.work, "inside.txt")))).toBe("yes");
    expect(byPreset("accept-edits")).toMatchObject({ outcome: { result: "selected", optionId: "yes" }, askedAt: null });
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
  });

  it("judges an edit without input by what was announced for its id", async () => {
    const talking = await talk("edits");
    const announce = (toolCallId: string, path: string) =>
      talking.process.update(talking.sessionId, {
        sessionUpdate: "tool_call",
        toolCallId,
        ...editOf(path),
        status: "pending",
      });
    await announce("known", join(master.work, "inside.txt"));
    await announce("leaves", join(master.work, "notes.txt"));
    const ask = (toolCallId: string) =>
      talking.process.request(PERMISSION, { sessionId: talking.sessionId, toolCall: { toolCallId }, options: yesNo });
    expect((await ask("known")).result).toEqual(selected("yes"));
    const asked = ask("leaves");
    await answerOffer(talking.client, await nextOffer(talking.client, "leaves"), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
  });
});

const write = (talking: Conversation) =>
  talking.process.request("fs/write_text_file", { sessionId: talking.sessionId, path: "/etc/x", content: "" });
const terminal = (talking: Conversation) =>
  talking.process.request("terminal/create", { sessionId: talking.sessionId, command: "sh", args: ["-c", "true"] });

describe("what a preset covers", () => {
  it("FF-75: a preset that refuses writes refuses them at the router; the others leave them to the client that executes them", async () => {
    for (const kind of ["deny", "look"] as const) {
      const talking = await talk(kind, writes);
      for (const refused of [await write(talking), await terminal(talking)]) {
        expect([kind, refused.error?.data.reason]).toEqual([kind, "refused_by_preset"]);
      }
      await talking.client.expectSilence(({ method }) => /^(fs|terminal)\//.test(method ?? ""), { from: 0 });
    }
    for (const kind of ["ask", "edits"] as const) {
      const talking = await talk(kind, writes);
      talking.client.answer("fs/write_text_file", () => ({}));
      talking.client.answer("terminal/create", () => ({ terminalId: "term" }));
      expect((await write(talking)).result).toEqual({});
      expect((await terminal(talking)).result).toEqual({ terminalId: "term" });
    }
  });

  it("FF-81: what no client announced is refused with -32601 and reaches none", async () => {
    const talking = await talk("ask");
    const { sessionId } = talking;
    for (const [method, more] of [
      ["fs/read_text_file", { path: "/etc/hosts" }],
      ["fs/write_text_file", { path: "/etc/hosts", content: "" }],
      ["terminal/create", { command: "true" }],
      ["terminal/output", { terminalId: "t" }],
      ["terminal/wait_for_exit", { terminalId: "t" }],
      ["terminal/kill", { terminalId: "t" }],
      ["terminal/release", { terminalId: "t" }],
    ] as const) {
      const refused = await talking.process.request(method, { sessionId, ...more });
      expect([method, refused.error?.code]).toEqual([method, -32601]);
    }
    await talking.client.expectSilence(({ method }) => /^(fs|terminal)\//.test(method ?? ""), { from: 0 });
  });

  it("FF-79: nothing is remembered: after an always answer every variant, and the same again, is asked again", async () => {
    const talking = await talk("ask");
    const options = [...yesNo, { optionId: "ever", name: "Always", kind: "allow_always" }];
    const commands = [
      "python3 -c 1",
      "python3 -c 1",
      "python3 -c evil",
      "jq .a; other",
      "jq .a && other",
      "ls | sh",
      "ls\nother",
    ];
    for (const command of commands) {
      const asked = talking.ask("t1", { toolCall: { rawInput: { command } }, options });
      await answerOffer(talking.client, await nextOffer(talking.client), selected("ever"));
      expect((await asked).result).toEqual(selected("ever"));
    }
    expect(talking.client.received(PERMISSION)).toHaveLength(commands.length);
  });

  it("no shipped preset but allow-all, and no shipped policy file, allows a plain python3 -V or a write in the temp or home folder", async () => {
    const risky: Loose[] = [
      { kind: "execute", title: "python3 -V", rawInput: { command: "python3 -V" } },
      { kind: "execute", rawInput: { command: "python3 -V" }, locations: [{ path: join(master.work, "inside.txt") }] },
      editOf(join(master.folder, "tmp", "file")),
      editOf("/tmp/file"),
      editOf(join(master.folder, "home", "file")),
    ];
    for (const kind of ["deny", "look", "ask", "edits", "rules"] as const) {
      const talking = await talk(kind);
      for (const toolCall of risky) {
        expect([kind, ["asked", "no"]]).toEqual([kind, expect.arrayContaining([await outcome(talking, toolCall)])]);
      }
    }
    const talking = await talk("allow");
    expect(await outcome(talking, risky[0])).toBe("yes");
    const rules = await talk("rules");
    expect(await outcome(rules, editOf(join(master.work, "docs", "page.md")))).toBe("yes");
  });
});

/** What the daemon keeps of its only session. */
function sessionFile(home: Home): string {
  const folder = join(home.home, "state", "sessions");
  const [only] = readdirSync(folder);
  return join(folder, only!, "session.json");
}

describe("the preset of a session", () => {
  it("FF-80: is not weakened by set_mode, which the record has", async () => {
    const talking = await talk("deny");
    await talking.client.call("session/set_mode", { sessionId: talking.sessionId, modeId: "bypassPermissions" });
    expect(await outcome(talking, editOf(join(master.work, "inside.txt")))).toBe("no");
    const modes = auditRecords(master).filter((line) => line.type === "mode" && line.sessionId === talking.sessionId);
    expect(modes).toMatchObject([{ agent: "deny", mode: "bypassPermissions" }]);
  });

  it("FF-82: survives the loss of its client and a load", async () => {
    const talking = await talk("ask");
    await talking.client.call("_acp-master/session/preset", { sessionId: talking.sessionId, preset: "deny-all" });
    await talking.client.close();
    const again = await talking.join();
    expect((await talking.ask("t1")).result).toEqual(selected("no"));
    await again.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
  });

  it("FF-82: survives a restart of the daemon, and one that cannot be read becomes the least", async () => {
    await using agent = askingAgent({ auto: { "session/load": {}, "session/resume": {} } });
    await using own = await startMaster({ agents: { fake: agent }, config: shared });
    const talking = await converse(own, { agent: "fake" });
    const { sessionId } = talking;
    await talking.client.call("_acp-master/session/preset", { sessionId, preset: "read-only" });
    await talking.endTurn();
    const presetAfterRestart = async (): Promise<string> => {
      await own.kill9();
      await own.serve();
      const client = await own.client();
      await client.initialize({ agent: "fake" });
      await client.call("session/load", { sessionId, cwd: own.work, mcpServers: [] }, 20_000);
      const done = client.prompt(sessionId, "go on", 20_000);
      const process = await agent.process(agent.processes.length - 1);
      const prompt = await process.received("session/prompt");
      const params = {
        sessionId,
        toolCall: { toolCallId: "t1", kind: "execute", rawInput: { command: "true" } },
        options: yesNo,
      };
      expect((await process.request(PERMISSION, params)).result).toEqual(selected("no"));
      // It was the preset that refused, not the lack of a Helper.
      expect(decisions(own).at(-1)).toMatchObject({ outcome: { result: "selected" }, by: { kind: "helper" } });
      await process.answer(prompt, { stopReason: "end_turn" });
      await done;
      const { sessions } = await client.call("_acp-master/sessions", {});
      return sessions.find((row: Loose) => row.sessionId === sessionId).preset;
    };
    expect(await presetAfterRestart()).toBe("read-only");
    const file = sessionFile(own);
    writeFileSync(file, readFileSync(file, "utf8").replace('"read-only"', '"allow-everything"'));
    expect(await presetAfterRestart()).toBe("deny-all");
  });

  it("FF-83: an allow that comes after the switch to deny-all is none, and the switch settles what is open", async () => {
    const talking = await talk("ask");
    const asked = talking.ask("t1");
    const offer = await nextOffer(talking.client);
    expect((await master.cli(["preset", talking.sessionId, "deny-all"])).code).toBe(0);
    await answerOffer(talking.client, offer, selected("yes"));
    expect((await asked).result).toEqual(selected("no"));
    expect(decisions(master, offer.approvalId)).toMatchObject([
      { outcome: { result: "refused" }, by: { kind: "preset" } },
    ]);
  });

  it("FF-84: without any configuration a question that nobody can answer is refused, recorded as no_client", async () => {
    await using agent = askingAgent();
    // Empty but for the agent and a short wait in place of ten minutes.
    await using own = await startMaster({ agents: { fake: agent }, config: { approvals: { noClientSeconds: 0.3 } } });
    const talking = await converse(own, { agent: "fake" });
    await talking.client.close();
    expect((await talking.ask("t1")).result).toEqual(selected("no"));
    expect(decisions(own)).toMatchObject([
      { outcome: { result: "expired" }, by: { kind: "no_client" }, preset: "ask", shownTo: [] },
    ]);
  });
});
