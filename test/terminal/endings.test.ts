// Ends of a proposal that take a daemon, a Helper's clock or a terminal of their own.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { repositoryRoot } from "../harness/program.ts";
import { payload } from "../proposals/proposing.ts";
import { keysCount, Stage } from "./stage.ts";

const helperProgram = join(repositoryRoot, "apps/acp-master/dist/helper-terminal.js");

it("the daemon is killed: the card goes and no terminal has changed", async () => {
  await using stage = await Stage.open();
  const talk = await stage.talk();
  const before = await stage.tmux.everything();
  const proposing = await stage.card(talk);
  await stage.master.kill9();
  await stage.tmux.seesNoMore(keysCount);
  expect(await stage.tmux.everything()).toBe(before);
  // What the agent started goes with the daemon; what it still reads is no yes.
  const { signal } = await proposing.program.exited;
  const lines = proposing.program.stdout.split("\n").filter((line) => line !== "");
  expect(lines.map((line) => JSON.parse(line).status)).not.toContain("confirmed");
  expect(signal === "SIGKILL" || lines.length <= 2).toBe(true);
});

it("the person does nothing for ten minutes: timed out", async () => {
  // The Helper's own program with a clock in which these ten minutes pass at once, as soon as the test says so.
  await using stage = await Stage.open({
    helper: (tmux, folder) => {
      const clock = join(folder, "clock.mjs");
      writeFileSync(
        clock,
        `import { existsSync } from "node:fs";
         const { setTimeout: real } = globalThis;
         globalThis.setTimeout = (call, ms, ...rest) => {
           if (ms !== 600_000) return real(call, ms, ...rest);
           const timer = setInterval(() => existsSync(${JSON.stringify(join(folder, "late"))}) && (clearInterval(timer), call(...rest)), 20);
           return timer;
         };`,
      );
      return [process.execPath, "--import", clock, helperProgram, "--tmux", tmux.server];
    },
  });
  const talk = await stage.talk();
  const before = await stage.tmux.everything();
  const proposing = await stage.card(talk);
  writeFileSync(join(stage.master.folder, "late"), "");
  expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "timed_out"] });
  await stage.tmux.seesNoMore(keysCount);
  expect(await stage.tmux.everything()).toBe(before);
});

it.each([40, 200])("a long command is read whole and typed exactly at %i columns", async (columns) => {
  await using stage = await Stage.open({ columns, rows: 24 });
  const talk = await stage.talk();
  const got = join(stage.master.work, "got");
  const text = Array.from({ length: 120 }, (_, n) => `word-${n}`).join(" ");
  const proposing = await stage.card(talk, payload(`printf %s '${text}' > ${got}`));
  const read = new Set<string>();
  for (;;) {
    const screen = await stage.tmux.screen();
    for (const row of screen.matchAll(/[>+] (.*?) *│/g)) read.add(row[1] ?? "");
    if (!screen.includes("read on")) break;
    await stage.tmux.press("j");
    await eventually(async () => (await stage.tmux.screen()) !== screen, "the card is read on");
  }
  expect([...read].join("").replaceAll(" ", "")).toContain(text.replaceAll(" ", ""));
  await stage.tmux.press("r");
  expect((await proposing.end()).statuses).toEqual(["accepted", "confirmed"]);
  await eventually(() => existsSync(got) && readFileSync(got, "utf8") === text, "it ran as it was shown", 20_000);
});
