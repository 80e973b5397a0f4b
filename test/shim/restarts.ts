// What the tests of the shim share: an editor over `acp-master connect` in a session, and daemons that go.
import { join } from "node:path";
import { readdirSync, readFileSync } from "node:fs";
import { eventually } from "../harness/events.ts";
import type { Home } from "../harness/home.ts";
import { type Master, startMaster } from "../harness/master.ts";
import { processGone } from "../harness/processes.ts";
import type { RawClient } from "../harness/raw-client.ts";
import type { ScriptedAgent } from "../harness/scripted-agent.ts";
import type { ScriptedProcess } from "../harness/scripted-process.ts";

export const masterOf = (agent: ScriptedAgent): Promise<Master> =>
  startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" } });

/** An editor with one session, which is `a` where the agent gives that id first. */
export async function editorOf(home: Home, args: readonly string[] = []): Promise<RawClient> {
  const editor = home.connect(["fake", ...args]);
  await editor.initialize();
  await editor.newSession();
  return editor;
}

/** Kills the daemon that runs, whoever started it, as a crash would. */
export async function crash(home: Home): Promise<void> {
  const { pid } = await eventually(() => home.masterFile(), "a daemon runs");
  process.kill(pid, "SIGKILL");
  await processGone(pid);
}

/** Resolves when the shim has seen that its daemon is gone. */
export const knows = (editor: RawClient): Promise<unknown> =>
  eventually(() => editor.program!.stderr.includes("goes on with the next one"), "the shim knows");

/** Resolves when the shim has taken up the sessions with a next daemon so many times. */
export async function goesOn(editor: RawClient, times = 1): Promise<void> {
  const seen = () => countOf(editor, "the sessions go on") >= times;
  await eventually(seen, "the sessions go on", 20_000).catch((cause: unknown) => {
    throw new Error(`the shim said: ${editor.program!.stderr}`, { cause });
  });
}

/** How often a session was shown from its beginning again. */
export const startedOver = (editor: RawClient): number => countOf(editor, "from its beginning again");

const countOf = (editor: RawClient, text: string): number => editor.program!.stderr.split(text).length - 1;

/** One turn in which the agent says this; `process`: the one that gets it. */
export const turn = (editor: RawClient, process: ScriptedProcess, answer: string, sessionId = "a") =>
  turnIn(editor, process, { sessionId, agentId: sessionId }, answer);

/** As `turn`, where the agent knows the session under another id. */
export async function turnIn(
  editor: RawClient,
  process: ScriptedProcess,
  { sessionId, agentId }: { readonly sessionId: string; readonly agentId: string },
  answer: string,
) {
  const result = editor.prompt(sessionId, `say ${answer}`, 20_000);
  const prompt = await process.received("session/prompt");
  await process.say(agentId, answer);
  await process.answer(prompt, { stopReason: "end_turn" });
  return (await result).result;
}

/**
 * The daemon writes what clients saw once nothing more has come for a turn of its event loop. The answer to a question may come
 * within that turn, and each further one comes in another.
 */
export async function written(editor: RawClient): Promise<void> {
  for (let n = 0; n < 3; n++) await editor.call("_acp-master/status", {});
}

export function journalOf(home: Home): { readonly path: string; readonly lines: string[] } {
  const sessions = join(home.home, "state", "sessions");
  const path = join(sessions, readdirSync(sessions)[0]!, "journal.ndjson");
  return { path, lines: readFileSync(path, "utf8").split("\n").slice(0, -1) };
}
