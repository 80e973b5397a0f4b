// Another Helper on a running daemon: the one in ten lines from the examples, and one whose presets have names of its own.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Loose } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { repositoryRoot } from "../harness/program.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import { scriptedHelper } from "../harness/scripted-helper.ts";
import {
  askingAgent,
  answerOffer,
  converse,
  decisions,
  logLine,
  nextOffer,
  PERMISSION,
  selected,
} from "./conversation.ts";

const OPTION = "acp-master.approvals";
const own = { id: "verbosity", name: "Verbosity", type: "select", currentValue: "low", options: [] };

const ownNames = `
import { ask, defineHelper, reject } from "@acp-master/helper-sdk";

export default defineHelper({
  name: "own-names",
  presets: [
    { value: "evening", name: "Evening", width: 3 },
    { value: "library", name: "Library", width: 1, refuseWrites: true },
    { value: "party", name: "Party", width: 9, confirm: true },
    { value: "siesta", name: "Siesta", width: 2, refuseAll: true },
  ],
  permission: (request, session) => (session.preset === "library" ? reject(request) : ask()),
});
`;

let agent: ScriptedAgent;
let master: Master;

const agents = () => ({ fake: agent });
const swapTo = (use: Loose) => master.configure({ agents: agents(), config: { helper: { use } } });
const swapped = (kind: string) => logLine(master, "helper.swap").then((line) => expect(line.kind).toBe(kind));

beforeAll(async () => {
  agent = askingAgent({ session: { configOptions: [own] } });
  master = await startMaster({ agents: agents() });
  for (const name of ["docs", "src"]) mkdirSync(join(master.work, name));
  copyFileSync(join(repositoryRoot, "examples/helpers/docs-only.js"), join(master.home, "docs-only.js"));
  writeFileSync(join(master.home, "own-names.js"), ownNames);
});
afterAll(async () => {
  await master[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
});

const writes = { capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true } };
const edit = (path: string) => ({
  toolCall: { kind: "edit", title: "Edit", rawInput: { path }, locations: [{ path }] },
});

describe("a Helper that is configured on a running daemon", () => {
  it("is the one in ten lines: it takes the next ticket, is asked about the open ones again, and needs no presets", async () => {
    const talking = await converse(master, { agent: "fake", ...writes });
    talking.client.answer("fs/write_text_file", () => ({}));
    const docs = edit(join(master.work, "docs", "a.md"));
    const source = edit(join(master.work, "src", "a.ts"));
    const [inDocs, inSource] = [talking.ask("t1", docs), talking.ask("t2", source)];
    const offers = [await nextOffer(talking.client, "t1"), await nextOffer(talking.client, "t2")];
    swapTo({ module: "./docs-only.js" });
    // The new one allows what it allows; the question that it leaves to people stays open under its id.
    expect((await inDocs).result).toEqual(selected("yes"));
    await swapped("module");
    expect(decisions(master, offers[0]!.approvalId)).toMatchObject([{ by: { kind: "helper" } }]);
    expect((await talking.ask("t3", docs)).result).toEqual(selected("yes"));
    const asked = talking.ask("t4", source);
    await answerOffer(talking.client, await nextOffer(talking.client, "t4"), selected("no"));
    expect((await asked).result).toEqual(selected("no"));
    await answerOffer(talking.client, offers[1]!, selected("yes"));
    expect((await inSource).result).toEqual(selected("yes"));
    expect(talking.client.received(PERMISSION)).toHaveLength(3);
    // It declares no presets: the option goes, a switch says so, and nothing is refused by a preset of the former one.
    const update = await talking.client.waitFor(
      ({ params }) => params?.update?.sessionUpdate === "config_option_update",
    );
    expect(update.message.params.update.configOptions).toEqual([own]);
    const switched = await master.cli(["preset", talking.sessionId, "deny-all"]);
    expect([switched.code, switched.stderr]).toEqual([1, expect.stringContaining("no presets")]);
    const write = { sessionId: talking.sessionId, path: "/x", content: "" };
    expect((await talking.process.request("fs/write_text_file", write)).result).toEqual({});
  });

  it("may have presets of any name: what they declare is enforced, a value it lacks becomes the least, all clients see them", async () => {
    swapTo("presets");
    const talking = await converse(master, { agent: "fake", ...writes });
    const other = await talking.join();
    talking.client.answer("fs/write_text_file", () => ({}));
    talking.client.answer("terminal/create", () => ({ terminalId: "term" }));
    const write = () =>
      talking.process.request("fs/write_text_file", { sessionId: talking.sessionId, path: "/x", content: "" });
    const terminal = () =>
      talking.process.request("terminal/create", { sessionId: talking.sessionId, command: "true" });
    expect((await write()).result).toEqual({});
    swapTo({ module: "./own-names.js" });
    for (const client of [talking.client, other]) {
      const update = await client.waitFor(
        ({ params }) =>
          params?.update?.sessionUpdate === "config_option_update" &&
          params.update.configOptions.some((option: Loose) => option.currentValue === "library"),
      );
      const option = update.message.params.update.configOptions.find((each: Loose) => each.id === OPTION);
      expect(option.options.map((each: Loose) => each.value)).toEqual(["evening", "library", "party", "siesta"]);
    }
    for (const refused of [await write(), await terminal()]) {
      expect(refused.error?.data.reason).toBe("refused_by_preset");
    }
    expect((await talking.ask("t1")).result).toEqual(selected("no"));
    const preset = (name: string, ...more: string[]) => master.cli(["preset", talking.sessionId, name, ...more]);
    expect((await preset("accept-edits")).code).toBe(1);
    expect((await preset("evening")).code).toBe(0);
    expect((await write()).result).toEqual({});
    expect((await preset("party")).stderr).toContain("--yes");
    expect((await preset("party", "--yes")).code).toBe(0);
    const asked = talking.ask("t2");
    await nextOffer(talking.client, "t2");
    expect((await preset("siesta")).code).toBe(0);
    expect((await asked).result).toEqual(selected("no"));
    expect(decisions(master).at(-1)).toMatchObject({ outcome: { result: "refused" }, by: { kind: "preset" } });
    expect((await write()).result).toEqual({});
  });

  it("gets the question that the former one has not answered; what that one still says is nobody's", async () => {
    await using slow = scriptedHelper({ auto: { [PERMISSION]: false } });
    await using quick = scriptedHelper({ auto: { [PERMISSION]: selected("no") } });
    await using one = askingAgent();
    const only = { fake: one };
    await using own2 = await startMaster({ agents: only, config: { helper: { use: slow.use } } });
    const talking = await converse(own2, { agent: "fake" });
    const asked = talking.ask("t1", { id: "q1" });
    const former = await slow.process();
    const question = await former.received(PERMISSION);
    own2.configure({ agents: only, config: { helper: { use: quick.use } } });
    const next = await quick.process();
    const again = await next.received(PERMISSION);
    expect(again.params).toEqual(question.params);
    former.answer(question, selected("yes"));
    expect((await asked).result).toEqual(selected("no"));
    await former.gone;
    await talking.settle();
    expect(talking.answersTo("q1")).toHaveLength(1);
    await talking.client.expectSilence(({ method }) => method === PERMISSION, { from: 0 });
  });
});
