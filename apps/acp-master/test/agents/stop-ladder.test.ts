// The steps of ending an agent, with short times.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { ProcessGroup } from "../../src/agents/process-group.ts";
import { clearGroup, climbDown, ladderTimes } from "../../src/agents/stop-ladder.ts";
import { isAlive } from "./process-table.ts";

async function end(script: string) {
  const child = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const exit = once(child, "exit");
  const target = {
    group: new ProcessGroup(child.pid!),
    leaderExited: exit.then(() => {}),
    closeInput: () => child.stdin.end(),
  };
  const ended = await climbDown(target, { eofMs: 300, termMs: 300, killMs: 2000 });
  const [exitCode, signal]: unknown[] = await exit;
  return { ended, exitCode, signal, target };
}

it("the end of its input is enough for an agent that behaves", async () => {
  expect(await end("echo; cat >/dev/null; exit 5")).toMatchObject({ ended: true, exitCode: 5 });
});

it("an agent that ignores it gets TERM and may still finish", async () => {
  expect(await end("trap 'exit 6' TERM; echo; while :; do sleep 0.02; done")).toMatchObject({
    ended: true,
    exitCode: 6,
  });
});

it("an agent that ignores TERM as well gets KILL", async () => {
  expect(await end("trap '' TERM; echo; while :; do sleep 1000; done")).toMatchObject({
    ended: true,
    signal: "SIGKILL",
  });
});

it("what the leader left behind is cleared", async () => {
  const { target } = await end("sleep 1000 & echo; cat >/dev/null");
  expect(await target.group.gone(20)).toBe(false);
  expect(await clearGroup(target.group)).toBe(true);
  expect(isAlive(target.group.pgid)).toBe(false);
});

it("by default an agent has three seconds after EOF and two after TERM", () => {
  expect(ladderTimes).toMatchObject({ eofMs: 3000, termMs: 2000 });
});
