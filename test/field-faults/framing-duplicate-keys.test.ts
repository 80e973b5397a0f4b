// Field faults of kind framing: two equal keys, of which one reader takes the first and another the last.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OneMaster } from "./one-master.ts";

let one: OneMaster;

beforeAll(async () => {
  one = await OneMaster.start(
    { plain: { auto: { "session/prompt": false } } },
    { helper: { use: "presets", isolation: "shared" }, approvals: { preset: "accept-edits" } },
  );
});

afterAll(() => one[Symbol.asyncDispose]());

const OPTIONS =
  '[{"optionId":"yes","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]';

interface Parts {
  readonly toolCall: string;
  readonly options?: string;
  readonly params?: string;
}

const permission = (id: string, sessionId: string, parts: Parts): string =>
  `{"jsonrpc":"2.0","id":"${id}","method":"session/request_permission","params":{"sessionId":"${sessionId}","toolCall":${parts.toolCall},"options":${parts.options ?? OPTIONS}${parts.params ?? ""}}}`;

/** An edit inside the workspace, with other text in the places that a test names. */
function edit(
  work: string,
  at: { kind?: string; location?: string; input?: string; content?: string; more?: string } = {},
): string {
  const path = JSON.stringify(`${work}/inside.txt`);
  return `{"toolCallId":"call","title":"Edit","kind":${at.kind ?? '"edit"'},"locations":[${at.location ?? `{"path":${path}}`}],"rawInput":${at.input ?? `{"path":${path}}`},"content":[${at.content ?? `{"type":"diff","path":${path},"newText":"x"}`}]${at.more ?? ""}}`;
}

const OUTSIDE = '"/etc/passwd"';

/** Each has a reading that the preset allows, and another one. */
const doubled: readonly (readonly [string, (work: string, path: string) => Parts])[] = [
  [
    "the kind of an option",
    (work) => ({ toolCall: edit(work), options: OPTIONS.replace('"allow_once"', '"reject_once","kind":"allow_once"') }),
  ],
  [
    "the id of an option",
    (work) => ({ toolCall: edit(work), options: OPTIONS.replace('"yes"', '"always","optionId":"yes"') }),
  ],
  ["the options", (work) => ({ toolCall: edit(work), params: `,"options":${OPTIONS}` })],
  ["the kind of the tool call", (work) => ({ toolCall: edit(work, { kind: '"execute","kind":"edit"' }) })],
  [
    "the kind of the tool call, the other way round",
    (work) => ({ toolCall: edit(work, { kind: '"edit","kind":"execute"' }) }),
  ],
  [
    "the kind of the tool call, once escaped",
    (work) => ({ toolCall: edit(work, { kind: '"execute","k\\u0069nd":"edit"' }) }),
  ],
  ["the tool call", (work) => ({ toolCall: `{"toolCallId":"call","kind":"execute"},"toolCall":${edit(work)}` })],
  ["the tool call's id", (work) => ({ toolCall: edit(work, { more: ',"toolCallId":"other"' }) })],
  [
    "the path of a location",
    (work, path) => ({ toolCall: edit(work, { location: `{"path":${OUTSIDE},"path":${path}}` }) }),
  ],
  [
    "the path of a location, once escaped",
    (work, path) => ({ toolCall: edit(work, { location: `{"p\\u0061th":${OUTSIDE},"path":${path}}` }) }),
  ],
  ["the locations", (work, path) => ({ toolCall: edit(work, { more: `,"locations":[{"path":${path}}]` }) })],
  [
    "the path of a diff",
    (work, path) => ({
      toolCall: edit(work, { content: `{"type":"diff","path":${OUTSIDE},"path":${path},"newText":"x"}` }),
    }),
  ],
  [
    "a member of the raw input",
    (work, path) => ({ toolCall: edit(work, { input: `{"path":${OUTSIDE},"path":${path}}` }) }),
  ],
  [
    "a member deep in the raw input",
    (work, path) => ({ toolCall: edit(work, { input: `{"files":[{"to":{"é":${OUTSIDE},"\\u00e9":${path}}}]}` }) }),
  ],
  ["the session", (work) => ({ toolCall: edit(work), params: ',"sessionId":"x"' })],
];

describe("two equal keys in a permission request", () => {
  it("are needed for the refusals below: with one reading the preset allows the edit (FF-15)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    await process.send(permission(`p-${sessionId}`, sessionId, { toolCall: edit(client.cwd) }));
    const answer = await process.received(({ id }) => id === `p-${sessionId}`);
    expect(answer.message.result?.outcome).toEqual({ outcome: "selected", optionId: "yes" });
  });

  it("are never judged by one reading and shown or run by the other (FF-15)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const path = JSON.stringify(`${client.cwd}/inside.txt`);
    for (const [index, [what, parts]] of doubled.entries()) {
      const id = `d-${sessionId}-${index}`;
      await process.send(permission(id, sessionId, parts(client.cwd, path)));
      const answer = await process.received((message) => message.id === id);
      expect([what, answer.message.result]).toEqual([what, { outcome: { outcome: "cancelled" } }]);
    }
    await client.call("session/set_mode", { sessionId, modeId: "m" });
    expect(client.received("session/request_permission")).toEqual([]);
    expect(process.lines.all.filter(({ message }) => String(message.id).startsWith(`d-${sessionId}`)).length).toBe(
      doubled.length,
    );
  });

  it("are no matter where keys only look alike (FF-15)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const path = JSON.stringify(`${client.cwd}/inside.txt`);
    const input = `{"path":${path},"a":{"path":${path}},"Path":1,"text":"\\"path\\":1,\\"path\\":2","\\u00e9":1,"e":2}`;
    await process.send(permission(`l-${sessionId}`, sessionId, { toolCall: edit(client.cwd, { input }) }));
    const answer = await process.received(({ id }) => id === `l-${sessionId}`);
    expect(answer.message.result?.outcome).toEqual({ outcome: "selected", optionId: "yes" });
  });
});

describe("two equal keys elsewhere", () => {
  it("in the announcement of a tool call are not what a later request is judged by (FF-15)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const path = JSON.stringify(`${client.cwd}/inside.txt`);
    const update = `{"sessionUpdate":"tool_call",${edit(client.cwd, { location: `{"path":${OUTSIDE},"path":${path}}` }).slice(1)}`;
    await process.send(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":${update}}}`,
    );
    const id = `u-${sessionId}`;
    await process.send(permission(id, sessionId, { toolCall: '{"toolCallId":"call"}' }));
    const offer = await client.next("session/request_permission");
    expect(client.updates(sessionId)).toEqual([]);
    await client.send({
      jsonrpc: "2.0",
      id: offer.message.id,
      result: { outcome: { outcome: "selected", optionId: "no" } },
    });
    expect((await process.received((message) => message.id === id)).message.result.outcome.optionId).toBe("no");
  });

  it("in the envelope of an update or an answer of an agent reach no client (FF-15)", async () => {
    await using talk = await one.talk("plain");
    const { client, sessionId, process } = talk;
    const turn = client.prompt(sessionId, "go");
    const { id } = (await process.received("session/prompt")).message;
    const chunk = '"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}';
    await process.send(
      `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","sessionId":"${sessionId}",${chunk}}}`,
    );
    await process.send(
      `{"jsonrpc":"2.0","method":"x","method":"session/update","params":{"sessionId":"${sessionId}",${chunk}}}`,
    );
    await process.send(
      `{"jsonrpc":"2.0","id":${id},"result":{"stopReason":"end_turn"},"result":{"stopReason":"refusal"}}`,
    );
    expect((await turn).error?.code).toBe(-32600);
    expect(client.updates(sessionId)).toEqual([]);
  });
});
