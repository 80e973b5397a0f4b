// A machine without tmux, ps or stty: nothing is known, nothing is done, nothing throws.
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runningProcesses } from "../../src/tmux/agent-panes.ts";
import { takesLongLines } from "../../src/tmux/long-lines.ts";
import { Tmux } from "../../src/tmux/tmux.ts";
import { TmuxExecutor } from "../../src/tmux/tmux-executor.ts";

const { PATH } = process.env;
const never = new AbortController().signal;

beforeAll(() => {
  process.env["PATH"] = "/nowhere";
});
afterAll(() => {
  process.env["PATH"] = PATH;
});

test("each program that is missing is an answer, too", async () => {
  expect(await new Tmux("x").run([["list-clients"]])).toEqual({ ok: false });
  expect(await runningProcesses()).toBeUndefined();
  expect(await takesLongLines("/dev/null", 0, never)).toBe(false);
  const [error] = await once(new Tmux("x").start(["display-popup"]), "error").catch((cause: unknown) => [cause]);
  expect(error).toMatchObject({ code: "ENOENT" });
});

test("the executor has no place and can carry out nothing", async () => {
  const executor = new TmuxExecutor(new Tmux("x"));
  expect(await executor.bind(undefined, never)).toBeUndefined();
  expect(await executor.isThere(undefined, never)).toBe(false);
  expect(await executor.context("%0@1", never)).toBeUndefined();
});
