import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { wait } from "../src/wait.ts";

test("calls once, not before its time, and not when it was ended", async () => {
  const began = performance.now();
  let calls = 0;
  const end = wait(20, () => calls++);
  const never = wait(20, () => (calls += 100));
  never();
  await new Promise<void>((resolve) => void wait(60, resolve));
  expect(calls).toBe(1);
  expect(performance.now() - began).toBeGreaterThanOrEqual(59);
  end();
});

test("reads what has arrived before it gives up on it", async () => {
  const child = spawn("echo", ["answered"], { stdio: ["ignore", "pipe", "ignore"] });
  const answered = new Promise<string>((resolve) => void child.stdout.once("data", () => resolve("answered")));
  const late = new Promise<string>((resolve) => void wait(500, () => resolve("late")));
  // Nothing is heard until long after both: which of them comes first is the question.
  const until = performance.now() + 1000;
  while (performance.now() < until);
  expect(await Promise.race([answered, late])).toBe("answered");
});
