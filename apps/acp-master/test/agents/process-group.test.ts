// A group of real processes, watched and signalled as one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { ProcessGroup } from "../../src/agents/process-group.ts";
import { isAlive } from "./process-table.ts";

async function start(script: string) {
  const leader = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const [printed]: unknown[] = await once(leader.stdout, "data");
  return { leader, group: new ProcessGroup(leader.pid!), printed: Number(String(printed)) };
}

it("a signal reaches every member, and gone() sees when none is left", async () => {
  const { leader, group, printed } = await start("sleep 1000 & echo $!; wait");
  expect(await group.gone(30)).toBe(false);
  group.signal("SIGKILL");
  expect(await group.gone(2000)).toBe(true);
  expect([leader.pid!, printed].map(isAlive)).toEqual([false, false]);
});

it("a group without its leader is not gone while a member lives", async () => {
  const { leader, group, printed } = await start("sleep 1000 & echo $!");
  if (leader.exitCode === null) await once(leader, "exit");
  expect(await group.gone(30)).toBe(false);
  process.kill(printed, "SIGKILL");
  expect(await group.gone(2000)).toBe(true);
});

it("a zombie does not count as a member", async () => {
  // The shell does not collect its child before the sleep is over.
  const { group, printed } = await start("sh -c 'echo $$; exec sleep 0.01' & exec setsid sleep 2");
  await expect.poll(() => isAlive(printed)).toBe(false);
  expect(await group.gone(1000)).toBe(true);
});

it("once gone it is never signalled again", async () => {
  const { leader, group } = await start("echo 1");
  if (leader.exitCode === null) await once(leader, "exit");
  expect(await group.gone(2000)).toBe(true);
  expect(() => group.signal("SIGKILL")).not.toThrow();
});

it("refuses numbers that would mean other groups", () => {
  for (const number of [0, 1, -5, Number.NaN, 1.5]) expect(() => new ProcessGroup(number)).toThrow(RangeError);
});
