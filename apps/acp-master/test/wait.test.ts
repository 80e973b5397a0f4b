import { spawn, spawnSync } from "node:child_process";
import { build } from "esbuild";
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

test("is over in time where nothing else happens, and keeps no process alive", async () => {
  const contents = `
    import { wait } from "./wait.ts";
    const began = performance.now();
    const keepsAlive = setTimeout(() => {}, 10_000);
    wait(50, () => { console.log(Math.round(performance.now() - began)); clearTimeout(keepsAlive); });
    wait(5_000, () => console.log("kept alive"));
  `;
  const stdin = { contents, resolveDir: new URL("../src", import.meta.url).pathname, loader: "ts" as const };
  const { outputFiles } = await build({ stdin, bundle: true, platform: "node", format: "esm", write: false });
  const program = outputFiles[0]?.text ?? "";
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^\d+\n$/);
  expect(Number(stdout)).toBeLessThan(2000);
});
