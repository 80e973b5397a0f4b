// The official SDK as an editor over `acp-master connect`, and the package under its old name, through a daemon that dies
// under a turn with an open question.
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import * as old from "acp-legacy";
import { expect, it } from "vitest";
import { Deferred, eventually, within } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import type { Program } from "../harness/program.ts";
import { fakeAgent } from "../harness/scripted-agent.ts";
import { crash, masterOf } from "./restarts.ts";

interface Editor {
  readonly texts: string[];
  /** Questions, each with the way to answer it. */
  readonly questions: Deferred<Loose>[];
}

interface Asks {
  (method: "initialize" | "session/new" | "session/prompt", params: Loose): Promise<Loose>;
}

const said = (editor: Editor, params: Loose): void => {
  if (params.update.sessionUpdate === "agent_message_chunk") editor.texts.push(params.update.content.text);
};

function asked(editor: Editor): Promise<Loose> {
  const answer = new Deferred<Loose>();
  editor.questions.push(answer);
  return answer.promise;
}

type Start = (editor: Editor, output: WritableStream<Uint8Array>, input: ReadableStream<Uint8Array>) => Asks;

const present: Start = (editor, output, input) => {
  const app = client({ name: "editor" });
  app.onRequest("session/request_permission", () => asked(editor));
  app.onNotification("session/update", ({ params }) => said(editor, params));
  const { agent } = app.connect(ndJsonStream(output, input));
  return (method, params) => agent.request<Loose>(method, params);
};

const former: Start = (editor, output, input) => {
  const connection = new old.ClientSideConnection(
    () => ({
      requestPermission: () => asked(editor),
      sessionUpdate: async (params) => said(editor, params),
      extNotification: async () => {},
    }),
    old.ndJsonStream(output, input),
  );
  return (method, params) => {
    if (method === "initialize") return connection.initialize(params);
    return method === "session/new" ? connection.newSession(params) : connection.prompt(params);
  };
};

function streamsOf({ child }: Program): [WritableStream<Uint8Array>, ReadableStream<Uint8Array>] {
  return [Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)];
}

it.each([
  ["the official SDK", present],
  ["the package under its old name", former],
])("%s goes on in its session", async (_, start) => {
  await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
  await using master = await masterOf(agent);
  const shim = master.program(["connect", "fake"]);
  const editor: Editor = { texts: [], questions: [] };
  const ask = start(editor, ...streamsOf(shim));
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await ask("session/new", { cwd: master.work, mcpServers: [] });
  const prompt = (text: string) => ask("session/prompt", { sessionId: "a", prompt: [{ type: "text", text }] });
  const lost = prompt("one").catch((error: unknown) => error);
  const first = await agent.process(0);
  await first.received("session/prompt");
  await first.say("a", "half");
  void first.askPermission("a").catch(() => {});
  await eventually(() => editor.questions.length === 1, "the editor is asked");
  await crash(master);
  expect(await within(lost, "the prompt fails")).toMatchObject({ code: -32062 });
  editor.questions[0]!.resolve({ outcome: { outcome: "selected", optionId: "yes" } });

  const next = prompt("two");
  const second = await agent.process(1);
  const again = await second.received("session/prompt");
  expect(again.message.params.prompt[0].text).toBe("two");
  const question = second.askPermission("a");
  await eventually(() => editor.questions.length === 2, "the editor is asked again");
  editor.questions[1]!.resolve({ outcome: { outcome: "selected", optionId: "no" } });
  expect((await question).result.outcome.optionId).toBe("no");
  await second.say("a", " and whole");
  await second.answer(again, { stopReason: "end_turn" });
  expect((await next).stopReason).toBe("end_turn");
  expect(editor.texts.join("")).toBe("half and whole");
  shim.child.stdin.end();
  expect(await within(shim.exited, "the shim ends")).toEqual({ code: 0, signal: null });
});
