// What an agent of a real daemon has for its stdout: the daemon's own connection, and a pipe where there can be none.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startMaster } from "./harness/master.ts";
import { fakeAgent } from "./harness/scripted-agent.ts";

/** The name of the socket that is the process's stdout; empty: it has none. Linux only. */
function nameOfStdout(pid: number): string {
  const inode = /\d+/.exec(readlinkSync(`/proc/${pid}/fd/1`))?.[0];
  const rows = readFileSync("/proc/net/unix", "utf8").split("\n");
  const row = rows.map((each) => each.split(/\s+/)).find((each) => each[6] === inode);
  if (row === undefined) throw new Error(`the stdout of ${pid} is no unix socket`);
  return row[7] ?? "";
}

it.each([
  ["can be used", {}, /\/acp-output-\w+\/s$/],
  ["is not there", { TMPDIR: "/nonexistent" }, /^$/],
])("the folder for temporary files %s", async (_, env, name) => {
  await using agent = fakeAgent({ sessionIds: ["a"], auto: { "session/prompt": false } });
  await using master = await startMaster({ agents: { fake: agent }, config: { defaultAgent: "fake" }, env });
  const client = await master.client();
  await client.initialize();
  await client.newSession();
  const process = await agent.process(0);
  expect(nameOfStdout(process.pid)).toMatch(name);
  expect(readdirSync(join(master.folder, "tmp")).filter((each) => each.startsWith("acp-output"))).toEqual([]);
  const turn = client.prompt("a", "go");
  const prompt = await process.received("session/prompt");
  await process.say("a", "x".repeat(300_000));
  await process.say("a", "done");
  await process.answer(prompt, { stopReason: "end_turn" });
  expect((await turn).result).toEqual({ stopReason: "end_turn" });
  expect(client.text("a")).toBe(`${"x".repeat(300_000)}done`);
});
