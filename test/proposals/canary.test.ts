// A secret word in proposals goes to whom it concerns and is found nowhere else: not in the master's memory, not in what it
// has written, not in what it answers, not on a socket that it opened. Also with an agent whose first frame has no input
// yet, and with a Helper that hangs.
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import type { Loose } from "../harness/lines.ts";
import { startMaster } from "../harness/master.ts";
import { askingAgent, type Conversation, converse, selected, yesNo } from "../permissions/conversation.ts";
import { dumpsMemory, filesWith, nowhereInMemory, poll } from "./everything-of-the-master.ts";
import { blockOf, commandIn, linesOf, payload, ProposingHelper, reviewerOf, runInShell } from "./proposing.ts";

const secret = "marigold-7f3a91c4";

it("a secret in proposals is in nothing of the master", { timeout: 120_000 }, async () => {
  await using agent = askingAgent();
  using helper = new ProposingHelper();
  const memory = join(helper.folder, "memory");
  mkdirSync(memory);
  await using master = await startMaster({
    agents: { claude: agent },
    config: { defaultAgent: "claude", helper: { use: helper.use, decideSeconds: 1 } },
    env: dumpsMemory(memory),
  });
  await using polled = poll(master);
  const talk = await converse(master, { agent: "claude", events: true });
  const watcher = await talk.join();

  // The usual way, with the card open while the memory is looked at.
  await using reviewer = await reviewerOf(talk);
  const command = commandIn(blockOf(talk.turn.prompt.message), payload(`echo ${secret}`));
  const channel = /v1\.[0-9a-f.]{65}/.exec(command)?.[0] ?? "";
  await announce(talk, "seen", command);
  const answer = await askFor(talk, "seen", command);
  expect(answer.result).toEqual(selected("yes"));
  const program = runInShell(talk, command);
  const { proposalId } = await reviewer.card(talk.sessionId);
  await eventually(() => program.stdout.includes("\n"), "the validation line");
  expect(socketsOf(master.pid).filter((path) => path.startsWith(talk.process.env.ACP_PROPOSE_DIR ?? "none"))).toEqual(
    [],
  );
  const words = [secret, channel];
  await nowhereInMemory(master, memory, words);
  expect(await reviewer.client.decide({ proposalId, decision: "confirm", choice: 1, mode: "insert" })).toBe(
    "confirmed",
  );
  const { lines } = await linesOf(program);
  await finish(talk, "seen", lines);

  // A Helper that hangs: nobody can say what the call is, so it is reduced, and the question refused.
  const helperPid = await eventually(() => master.logLines().find(({ event }) => event === "helper.ready"), "a Helper");
  process.kill(helperPid.pid, "SIGSTOP");
  await announce(talk, "unseen", command);
  const refused = await askFor(talk, "unseen", command);
  process.kill(helperPid.pid, "SIGCONT");
  expect(refused.result).not.toEqual(selected("yes"));
  await finish(talk, "unseen", lines);
  await talk.endTurn();

  const rows = watcher
    .updates(talk.sessionId)
    .filter((row: Loose) => String(row.sessionUpdate).startsWith("tool_call"));
  const members = new Set(rows.slice(1).flatMap((row: Loose) => Object.keys(row)));
  expect(rows.length).toBeGreaterThan(3);
  expect([...members].filter((name) => !["sessionUpdate", "toolCallId", "status", ...first].includes(name))).toEqual(
    [],
  );
  await nowhereInMemory(master, memory, words);
  await polled[Symbol.asyncDispose]();
  for (const word of words) {
    for (const client of [talk.client, watcher, await talk.join()]) {
      for (const { text } of client.lines.all) expect(text).not.toContain(word);
    }
    expect(polled.answers.length).toBeGreaterThan(3);
    for (const text of polled.answers) expect(text).not.toContain(word);
    expect(filesWith(word, master.folder)).toEqual([]);
  }
  // It is found where it belongs, so it would have been found elsewhere.
  expect(helper.orders.join("\n")).toContain(secret);
});

/** What an agent tells of a call before its input is there. */
const first = ["title", "kind", "rawInput"];

async function announce(talk: Conversation, toolCallId: string, command: string): Promise<void> {
  const update = (more: Loose) => talk.process.update(talk.sessionId, { toolCallId, ...more });
  await update({ sessionUpdate: "tool_call", title: "Terminal", kind: "execute", status: "pending", rawInput: {} });
  await update({ sessionUpdate: "tool_call_update", title: command, rawInput: { command, description: secret } });
}

function askFor(talk: Conversation, toolCallId: string, command: string) {
  const toolCall = { rawInput: { command, description: secret }, title: command };
  return talk.ask(toolCallId, { toolCall, options: yesNo });
}

async function finish(talk: Conversation, toolCallId: string, lines: readonly Loose[]): Promise<void> {
  await talk.process.update(talk.sessionId, {
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "completed",
    rawOutput: { secret, lines },
  });
  await talk.settle();
}

/** The paths of the unix sockets that a process has a part in. */
function socketsOf(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  const table = readFileSync("/proc/net/unix", "utf8").split("\n").slice(1);
  return table.flatMap((line) => {
    const [, , , , , , inode = "", path = ""] = line.trim().split(/\s+/);
    return inodes.has(inode) && path !== "" ? [path] : [];
  });
}
