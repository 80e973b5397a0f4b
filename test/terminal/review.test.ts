// `acp-master review`: the cards of all sessions in any terminal, decided with the same keys as in a popup.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { eventually, within } from "../harness/events.ts";
import { masterProgram } from "../harness/program.ts";
import { payload } from "../proposals/proposing.ts";
import { keysCount, Stage, type StageOptions } from "./stage.ts";
import { TestTmux } from "./tmux.ts";

const owned: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of owned.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

async function open(options?: StageOptions): Promise<Stage> {
  const stage = await Stage.open(options);
  owned.push(stage);
  return stage;
}

/** Another terminal, in which the command runs; what it says at its end stays readable. */
async function reviewing(stage: Stage): Promise<{ terminal: TestTmux; pane: string }> {
  const command = `'${process.execPath}' '${masterProgram}' review; echo "exit $?"; exec cat`;
  const terminal = await TestTmux.start({ env: stage.master.env, command });
  owned.push(terminal);
  const [pane = ""] = await terminal.run("list-panes", "-F", "#{pane_id}");
  return { terminal, pane };
}

const made = (path: string): Promise<boolean> => eventually(() => existsSync(path), `${path} is made`, 20_000);

describe("in a terminal of its own", () => {
  it("shows a card when it comes and runs it, with nobody in front of tmux", async () => {
    const stage = await open({ attached: false });
    const { terminal, pane } = await reviewing(stage);
    await terminal.holds(pane, "No session takes proposals now.");
    const talk = await stage.talk();
    await terminal.holds(pane, "No proposal waits.");
    const ran = join(stage.master.work, "ran");
    const proposing = await stage.propose(talk, payload(`touch ${ran}`));
    expect(await terminal.holds(pane, keysCount)).toContain(`> touch ${ran}`);
    expect(await stage.tmux.content(stage.pane)).toBe("$");
    await terminal.run("send-keys", "-t", pane, "r");
    expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "confirmed"] });
    await made(ran);
    await terminal.holds(pane, "Handed over");
    await terminal.run("send-keys", "-t", pane, "q");
    await terminal.holds(pane, "exit 0");
  });

  it("follows the size of the terminal; what was read at another size is to be read again", async () => {
    const stage = await open({ attached: false });
    const talk = await stage.talk();
    const { terminal, pane } = await reviewing(stage);
    await terminal.holds(pane, "No proposal waits.");
    const proposing = await stage.propose(talk, payload(`: ${"x".repeat(700)}`));
    await terminal.holds(pane, keysCount);
    expect(await terminal.content(pane)).not.toContain("read on");
    await terminal.run("resize-window", "-t", pane, "-x", "40", "-y", "12");
    await terminal.holds(pane, "read on");
    await terminal.run("send-keys", "-t", pane, "c");
    expect((await proposing.end()).statuses).toEqual(["accepted", "cancelled"]);
  });

  it("lists what waits in several sessions; the one that is chosen is decided", async () => {
    const stage = await open({ attached: false });
    const talks = [await stage.talk(), await stage.talk()];
    const { terminal, pane } = await reviewing(stage);
    await terminal.holds(pane, "No proposal waits.");
    const choice = (name: string) => [
      {
        choice: 1,
        title: `Make ${name}`,
        actions: [{ type: "send", input: `touch ${join(stage.master.work, name)}` }],
      },
    ];
    const first = await stage.propose(talks[0]!, payload("", { choices: choice("one") }));
    await terminal.holds(pane, keysCount);
    const second = await stage.propose(talks[1]!, payload("", { choices: choice("two") }));
    await terminal.holds(pane, "Proposal, 1 more");
    await terminal.run("send-keys", "-t", pane, "q");
    await terminal.holds(pane, "2 waiting");
    await first.kill(); // a card that changes in the list stays in the list
    await terminal.holds(pane, "detached");
    await terminal.run("send-keys", "-t", pane, "j");
    await terminal.holds(pane, "> Make two");
    await terminal.run("send-keys", "-t", pane, "Enter");
    await terminal.holds(pane, keysCount);
    await terminal.run("send-keys", "-t", pane, "r");
    expect((await second.end()).statuses).toEqual(["accepted", "confirmed"]);
    await made(join(stage.master.work, "two"));
    await terminal.holds(pane, "1 waiting");
    await terminal.run("send-keys", "-t", pane, "Enter");
    await terminal.holds(pane, keysCount);
    await terminal.run("send-keys", "-t", pane, "c");
    await terminal.holds(pane, "Cancelled.");
    expect(existsSync(join(stage.master.work, "one"))).toBe(false);
  });

  it("and a popup show the same card: the first key decides, the other closes", async () => {
    const stage = await open();
    const talk = await stage.talk();
    const { terminal, pane } = await reviewing(stage);
    await terminal.holds(pane, "No proposal waits.");
    const proposing = await stage.card(talk);
    await terminal.holds(pane, keysCount);
    await stage.tmux.press("c");
    expect((await proposing.end()).statuses).toEqual(["accepted", "cancelled"]);
    await terminal.holds(pane, "Decided by tmux popup (cancelled)");
  });

  it("says that nothing was done when tmux is gone by then, and so does the agent's command", async () => {
    const stage = await open({ attached: false });
    const { terminal, pane } = await reviewing(stage);
    const talk = await stage.talk();
    await terminal.holds(pane, "No proposal waits.");
    const proposing = await stage.propose(talk);
    await terminal.holds(pane, keysCount);
    await stage.tmux.run("kill-server");
    await terminal.run("send-keys", "-t", pane, "r");
    await terminal.holds(pane, "Nothing was done");
    expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "unavailable"] });
  });

  it("ends with the daemon, and says so", async () => {
    const stage = await open({ attached: false });
    const { terminal, pane } = await reviewing(stage);
    await terminal.holds(pane, "No session takes proposals now.");
    await stage.master.stop();
    await terminal.holds(pane, "exit 1");
    expect(await terminal.content(pane)).toContain("the connection to the daemon ended");
    const { code, stderr } = await stage.master.cli(["review"]);
    expect(code).toBe(3);
    expect(stderr).toContain("acp-master serve");
  });
});

it("in a pane of the same tmux is never typed into: the turn is bound to the pane beside it", async () => {
  const stage = await open();
  const command = `exec '${process.execPath}' '${masterProgram}' review`;
  const here = await stage.tmux.split(command);
  await stage.tmux.holds(here, "No session takes proposals now.");
  const talk = await stage.talk();
  const ran = join(stage.master.work, "beside");
  const proposing = await stage.propose(talk, payload(`touch ${ran}`));
  await stage.tmux.holds(here, keysCount);
  await stage.tmux.run("send-keys", "-t", here, "r");
  expect((await proposing.end()).statuses).toEqual(["accepted", "confirmed"]);
  await made(ran);
  expect(await stage.tmux.content(stage.pane)).toContain(`touch ${ran}`);
});

it("is the only way to see a card while nobody is in front of tmux: else the agent is told that nobody is there", async () => {
  const stage = await open({ attached: false });
  const talk = await stage.talk();
  const before = await stage.tmux.everything();
  const proposing = await stage.propose(talk);
  await within(proposing.program.exited, "acp-propose ends", 40_000);
  expect(await proposing.end()).toEqual({ code: 0, statuses: ["unavailable"] });
  expect(await stage.tmux.everything()).toBe(before);
  const { stdout } = await stage.master.cli(["review", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ cards: [], notices: [] });
});
