// The same script through the master and without it: what client and agent see is the same, message by message and byte by
// byte, but for a closed list of differences. With the official SDK on both sides, on one, and on none.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AGENT_METHODS, CLIENT_METHODS, PROTOCOL_METHODS } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Loose, Message } from "../harness/lines.ts";
import { startMaster, type Master } from "../harness/master.ts";
import { judge, type View } from "./allowed.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import { compare, show } from "./compare.ts";
import type { Direction, Recorded } from "./recording.ts";
import { agentEntry, buildAgents, run, type Pair, type Transcripts } from "./run.ts";

const pairs: readonly Pair[] = [
  { name: "new-new", clientAge: "new", agentAge: "new" },
  { name: "old-old", clientAge: "old", agentAge: "old" },
  { name: "old-new", clientAge: "old", agentAge: "new" },
  { name: "new-old", clientAge: "new", agentAge: "old" },
];
/** Two runs of a long script; on a loaded machine that takes its time. */
const timeout = 90_000;
const views = ["client", "agent"] as const satisfies readonly View[];
const sdk = { new: "@agentclientprotocol/sdk", old: "@zed-industries/agent-client-protocol" };

let folder: string;
let master: Master;
const runs = new Map<string, Promise<{ direct: Transcripts; through: Transcripts }>>();

/** Both runs of a pair, made once. */
function transcriptsOf(pair: Pair): Promise<{ direct: Transcripts; through: Transcripts }> {
  const known = runs.get(pair.name);
  if (known) return known;
  const made = (async () => ({
    direct: await run(master, folder, pair, "direct"),
    through: await run(master, folder, pair, "through"),
  }))();
  runs.set(pair.name, made);
  return made;
}

beforeAll(async () => {
  // Both SDKs print what they refuse, which the script has them do.
  vi.spyOn(console, "error").mockImplementation(() => {});
  folder = mkdtempSync(join(realpathSync(tmpdir()), "acpm-transcripts-"));
  await buildAgents(folder);
  const agents = pairs.map((pair) => [pair.name, agentEntry(folder, pair, "through")] as const);
  // One Helper for all sessions: what is shown here does not need a start for each.
  const helper = { use: "presets", isolation: "shared" };
  master = await startMaster({ agents: Object.fromEntries(agents), config: { helper } });
});

afterAll(async () => {
  await master[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
});

describe("transparency", () => {
  for (const pair of pairs) {
    it(
      `a client on ${sdk[pair.clientAge]} and an agent on ${sdk[pair.agentAge]} see through the master what they see without it`,
      { timeout },
      async () => {
        const { direct, through } = await transcriptsOf(pair);
        for (const view of views) {
          const verdict = judge(compare(direct[view], through[view]), { view, pair: pair.name }, allowedDifferences);
          expect(verdict.unlisted.map(show), `differences that the ${view} sees and the list does not allow`).toEqual(
            [],
          );
          expect(verdict.ambiguous.map(show), "differences that two entries claim").toEqual([]);
          expect(verdict.stale, `entries that never occurred to the ${view}`).toEqual([]);
        }
      },
    );
  }

  it("every entry of the list gives its reason and has a name of its own", () => {
    expect(new Set(allowedDifferences.map((each) => each.name)).size).toBe(allowedDifferences.length);
    expect(allowedDifferences.filter((each) => each.reason.length < 20)).toEqual([]);
  });
});

const messagesOf = (all: readonly Recorded[], direction: Direction): Message[] =>
  all.filter((each) => each.direction === direction).map((each) => JSON.parse(each.text));

/** It is the first step of every script, so it must succeed. */
const neverFails = AGENT_METHODS.initialize;

describe("the script", () => {
  it("has every stable method of the protocol succeed and fail", async () => {
    const { through } = await transcriptsOf(pairs[0]!);
    for (const [direction, back, methods] of [
      ["to agent", "to client", AGENT_METHODS],
      ["to client", "to agent", CLIENT_METHODS],
    ] as const) {
      const sent = messagesOf(through.client, direction);
      const answers = messagesOf(through.client, back).filter((each) => each.method === undefined);
      for (const method of Object.values(methods)) {
        const ids = new Set(sent.filter((each) => each.method === method).map((each) => each.id));
        expect(ids.size, `${method} is sent`).toBeGreaterThan(0);
        if (ids.has(undefined)) continue;
        const mine = answers.filter((each) => ids.has(each.id));
        expect(
          mine.some((each) => "result" in each),
          `${method} succeeds`,
        ).toBe(true);
        const fails = mine.some((each) => "error" in each);
        expect(fails, `${method} fails`).toBe(method !== neverFails);
      }
    }
    for (const direction of ["to agent", "to client"] as const) {
      const methods = messagesOf(through.client, direction).map((each) => each.method);
      expect(methods).toContain(PROTOCOL_METHODS.cancel_request);
      expect(methods).toContain(direction === "to agent" ? "_test/poke" : "_test/note");
    }
  });

  it("has the agent send every stable kind of update", async () => {
    const { through } = await transcriptsOf(pairs[0]!);
    const kinds = messagesOf(through.client, "to client").map((each) => each.params?.update?.sessionUpdate);
    expect(kinds).toEqual(expect.arrayContaining(stableKinds()));
  });

  it("has elicitations of both modes, of both scopes, and their ends", async () => {
    const { through } = await transcriptsOf(pairs[0]!);
    const sent = messagesOf(through.client, "to client");
    const asked = sent.filter((each) => each.method === "elicitation/create").map((each) => each.params);
    expect(new Set(asked.map((each) => each.mode))).toEqual(new Set(["form", "url"]));
    expect(asked.some((each) => each.requestId !== undefined && each.sessionId === undefined)).toBe(true);
    const completed = sent.filter((each) => each.method === "elicitation/complete").map((each) => each.params);
    expect(new Set(completed.map((each) => each.elicitationId))).toEqual(
      new Set(["sign-in-accept", "e-accept", "e-decline", "e-cancel", "e-error"]),
    );
  });
});

describe("the comparison", () => {
  it("finds a change in any kind of message, whatever the list allows there", async () => {
    const [pair] = pairs;
    const { direct, through } = await transcriptsOf(pair!);
    for (const view of views) {
      const marks = markedOfEach(through[view]);
      const tampered = through[view].map((recorded, index) => withMark(recorded, marks.get(index)));
      const verdict = judge(compare(direct[view], tampered), { view, pair: pair!.name }, allowedDifferences);
      const found = JSON.stringify(verdict.unlisted.map((each) => each.through));
      const unnoticed = [...marks.values()].filter((mark) => !found.includes(JSON.stringify(mark)));
      expect(marks.size).toBeGreaterThan(50);
      expect(unnoticed, `changes in what the ${view} sees`).toEqual([]);
    }
  });
});

/** The values of `sessionUpdate` that the SDK's own stable schema lists. */
function stableKinds(): string[] {
  const require = createRequire(import.meta.url);
  const packageFolder = join(dirname(require.resolve("@agentclientprotocol/sdk")), "../../..");
  const schema: Loose = JSON.parse(readFileSync(join(packageFolder, "schema/v1/schema.json"), "utf8"));
  const kinds: string[] = schema.$defs.SessionUpdate.oneOf.map((each: Loose) => each.properties.sessionUpdate.const);
  expect(kinds).toHaveLength(14);
  return kinds;
}

/** A mark for the last message of every direction, method and update kind; of answers, one with a result and one with an error. */
function markedOfEach(all: readonly Recorded[]): Map<number, string> {
  const last = new Map<string, number>();
  const asked = new Map<string, string>();
  for (const [index, { direction, text }] of all.entries()) {
    const { id, method, params, error }: Message = JSON.parse(text);
    if (method !== undefined && id !== undefined) asked.set(`${direction} ${JSON.stringify(id)}`, method);
    const back = direction === "to agent" ? "to client" : "to agent";
    const answered = asked.get(`${back} ${JSON.stringify(id)}`);
    const what = method ?? `${error === undefined ? "result" : "error"} of ${answered}`;
    last.set(`${direction}: ${what} ${params?.update?.sessionUpdate ?? ""}`, index);
  }
  return new Map([...last].map(([mark, index]) => [index, mark]));
}

function withMark(recorded: Recorded, mark: string | undefined): Recorded {
  if (mark === undefined) return recorded;
  const message: Loose = JSON.parse(recorded.text);
  (message.params ?? message.error ?? message.result).tampered = mark;
  return { ...recorded, text: JSON.stringify(message) };
}
