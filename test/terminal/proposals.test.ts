// Proposals in a real tmux: nothing changes before a key press, each key does one thing, and each end is the agent's to read.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/events.ts";
import { descendantsOf } from "../harness/processes.ts";
import type { Conversation } from "../permissions/conversation.ts";
import { payload } from "../proposals/proposing.ts";
import { keysCount, Stage } from "./stage.ts";

let stage: Stage;
let talk: Conversation | undefined;

beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});
afterEach(async () => {
  const before = talk;
  talk = undefined;
  await before?.client.close();
  await stage.tmux.closePopup();
  await stage.tmux.run("kill-pane", "-a", "-t", stage.pane);
  await stage.tmux.run("send-keys", "-t", stage.pane, "C-c");
  // What is typed before the shell has dealt with that may be lost.
  await eventually(async () => (await stage.tmux.content(stage.pane)).endsWith("^C\n$"), "the shell waits again");
  await stage.tmux.run("send-keys", "-t", stage.pane, "clear", "Enter");
  await eventually(async () => (await stage.tmux.content(stage.pane)) === "$", "the pane is clean");
});

const file = (name: string): string => join(stage.master.work, name);
const made = (name: string): Promise<boolean> => eventually(() => existsSync(file(name)), `${name} is made`, 20_000);

describe("a key", () => {
  it("runs what the card shows, in the pane of the turn, and not before", async () => {
    talk = await stage.talk();
    const other = await stage.tmux.split(); // the person moves on
    const before = await stage.tmux.everything();
    const proposing = await stage.card(talk, payload(`touch ${file("ran")}; echo do''ne`));
    const card = await stage.tmux.screen();
    expect(card).toContain(`> touch ${file("ran")}; echo do''ne`);
    expect(await stage.tmux.everything()).toBe(before);
    expect(existsSync(file("ran"))).toBe(false);
    await stage.tmux.press("r");
    await stage.tmux.holds(stage.pane, "\ndone");
    await made("ran");
    expect(await stage.tmux.content(other)).toBe("$");
    expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "confirmed"] });
    await stage.tmux.seesNoMore(keysCount);
  });

  it("inserts, and nothing is run before the person does", async () => {
    talk = await stage.talk();
    const proposing = await stage.card(talk, payload(`touch ${file("inserted")}`));
    await stage.tmux.press("i");
    expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "confirmed"] });
    await stage.tmux.seesNoMore(keysCount);
    expect(await stage.tmux.holds(stage.pane, "touch")).toBe(`$ touch ${file("inserted")}`);
    expect(existsSync(file("inserted"))).toBe(false);
    await stage.tmux.press("Enter");
    await made("inserted");
  });

  it("cancels, and nothing changes", async () => {
    talk = await stage.talk();
    const before = await stage.tmux.everything();
    const proposing = await stage.card(talk);
    await stage.tmux.press("c");
    expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "cancelled"] });
    await stage.tmux.seesNoMore(keysCount);
    expect(await stage.tmux.everything()).toBe(before);
  });

  it("looks at another choice, which is then what is run", async () => {
    talk = await stage.talk();
    const choices = [1, 2].map((choice) => ({
      choice,
      title: `Choice ${choice}`,
      actions: [{ type: "send", input: `touch ${file(`choice-${choice}`)}` }],
    }));
    const proposing = await stage.card(talk, payload("", { choices }));
    await stage.tmux.press("2");
    await stage.tmux.sees("choice-2");
    await stage.tmux.press("r");
    await made("choice-2");
    expect((await proposing.end()).statuses).toEqual(["accepted", "confirmed"]);
    expect(existsSync(file("choice-1"))).toBe(false);
  });

  it("reads on while not everything was on the screen", async () => {
    talk = await stage.talk();
    const lines = Array.from({ length: 60 }, (_, n) => `: line ${n}`);
    const input = [...lines, `touch ${file("last")}`].join("\n");
    const proposing = await stage.card(talk, payload(input));
    expect(await stage.tmux.screen()).not.toContain("i insert"); // several lines
    for (;;) {
      const screen = await stage.tmux.sees("Proposal");
      if (screen.includes(`touch ${file("last")}`)) break;
      expect(screen).toContain("read on");
      await stage.tmux.press("r");
      await eventually(async () => (await stage.tmux.screen()) !== screen, "the card is read on");
    }
    expect(await stage.tmux.content(stage.pane)).toBe("$");
    await stage.tmux.press("r");
    await made("last");
    expect((await proposing.end()).statuses).toEqual(["accepted", "confirmed"]);
  });

  it("that closes the card leaves it to `acp-master review`", async () => {
    talk = await stage.talk();
    const proposing = await stage.card(talk);
    await stage.tmux.press("q");
    await stage.tmux.seesNoMore(keysCount);
    const { stdout, code } = await stage.master.cli(["review", "--json"]);
    expect(code).toBe(0);
    const { cards } = JSON.parse(stdout);
    expect(cards).toMatchObject([{ sessionId: talk.sessionId, agent: "fake", choices: [{ title: "Say it" }] }]);
    const list = await stage.master.cli(["review"]);
    expect(list.stdout).toContain(`${cards[0].proposalId}\t${talk.sessionId}\t`);
    await talk.client.notify("session/cancel", { sessionId: talk.sessionId });
    expect((await proposing.end()).statuses).toEqual(["accepted", "cancelled"]);
  });
});

describe("what is opened", () => {
  it("is a window with the text in it, run by the key", async () => {
    talk = await stage.talk();
    const title = "#(touch pwned) logs";
    const actions = [{ type: "open_and_send", target: "tab", title, input: "touch in-tab" }];
    const proposing = await stage.card(talk, payload("", { actions }));
    expect(await stage.tmux.screen()).toContain(`open a tab named "${title}", and in it:`);
    await stage.tmux.press("r");
    expect((await proposing.end()).statuses).toEqual(["accepted", "confirmed"]);
    await made("in-tab");
    expect(await stage.tmux.run("list-windows", "-F", "#{window_name}")).toContain(title);
    expect(existsSync(file("pwned"))).toBe(false);
  });
});

/** A card is up, this happens, the card goes: how it ended for the agent, when no terminal has changed. */
const proposedAnd = async (happens: (talk: Conversation) => Promise<unknown>) => {
  const here = await stage.talk();
  talk = here;
  const before = await stage.tmux.everything();
  const proposing = await stage.card(here);
  await happens(here);
  const ended = await proposing.end();
  await stage.tmux.seesNoMore(keysCount);
  expect(await stage.tmux.everything()).toBe(before);
  return ended;
};

describe("the card goes and no terminal has changed", () => {
  it("when a newer prompt starts", async () => {
    const ended = await proposedAnd(async (here) => {
      await here.endTurn();
      await here.startTurn();
    });
    expect(ended).toEqual({ code: 0, statuses: ["accepted", "superseded"] });
  });

  it("but not when its turn ends: it may still be decided", async () => {
    const ended = await proposedAnd(async (here) => {
      await here.endTurn();
      await stage.tmux.sees(keysCount);
      await stage.tmux.press("c");
    });
    expect(ended).toEqual({ code: 0, statuses: ["accepted", "cancelled"] });
  });

  it("when the session is closed", async () => {
    const ended = await proposedAnd((here) => here.client.call("session/close", { sessionId: here.sessionId }));
    expect(ended).toEqual({ code: 0, statuses: ["accepted", "session_replaced"] });
  });

  it("when another client cancels the turn", async () => {
    const ended = await proposedAnd(async (here) => {
      const other = await here.join();
      await other.notify("session/cancel", { sessionId: here.sessionId });
    });
    expect(ended).toEqual({ code: 0, statuses: ["accepted", "cancelled"] });
  });

  it("when the Helper is killed: the agent sees that the second line is missing", async () => {
    const ended = await proposedAnd(async () => {
      for (const { pid } of helpers()) process.kill(pid, "SIGKILL");
    });
    expect(ended).toEqual({ code: 1, statuses: ["accepted"] });
  });

  it("when the agent is killed", async () => {
    const ended = await proposedAnd(async (here) => here.process.signal("SIGKILL"));
    expect(ended).toEqual({ code: 0, statuses: ["accepted", "unavailable"] });
  });

  it("when the pane has gone before the key: the person is told, the agent too", async () => {
    const pane = await stage.tmux.split();
    talk = await stage.talk();
    const proposing = await stage.card(talk);
    await stage.tmux.run("kill-pane", "-t", pane);
    const before = await stage.tmux.everything();
    await stage.tmux.press("r");
    await stage.tmux.sees("Nothing was done");
    expect(await proposing.end()).toEqual({ code: 0, statuses: ["accepted", "unavailable"] });
    expect(await stage.tmux.everything()).toBe(before);
    await stage.tmux.press("x");
    await stage.tmux.seesNoMore("Nothing was done");
  });
});

it("keys that were pressed while the card came up do nothing", async () => {
  // The popup's own program, in whose time the first half second goes on and on.
  const clock = file("clock.mjs");
  writeFileSync(clock, "performance.now = () => 0;");
  await stage.tmux.run("set-environment", "-g", "NODE_OPTIONS", `--import ${clock}`);
  talk = await stage.talk();
  const before = await stage.tmux.everything();
  const proposing = await stage.card(talk);
  await stage.tmux.run("set-environment", "-g", "-u", "NODE_OPTIONS");
  await stage.tmux.press("r", "i", "c", "1");
  await stage.tmux.press("C-c"); // leaves, and decides nothing
  await stage.tmux.seesNoMore(keysCount);
  expect(await stage.tmux.everything()).toBe(before);
  const { cards } = JSON.parse((await stage.master.cli(["review", "--json"])).stdout);
  expect(cards).toMatchObject([{ sessionId: talk.sessionId }]);
  await talk.client.notify("session/cancel", { sessionId: talk.sessionId });
  expect((await proposing.end()).statuses).toEqual(["accepted", "cancelled"]);
});

it("a card whose proposer is killed stays, is marked detached and can be decided", async () => {
  talk = await stage.talk();
  const proposing = await stage.card(talk, payload(`touch ${file("detached")}`));
  await proposing.kill();
  await stage.tmux.sees("Detached");
  expect(existsSync(file("detached"))).toBe(false);
  await stage.tmux.press("r");
  await made("detached");
});

it("a second card waits for the first one's popup and comes up then", async () => {
  const [one, two] = [await stage.talk(), await stage.talk()];
  const first = await stage.card(one, payload(`touch ${file("first")}`));
  const second = await stage.propose(two, payload(`touch ${file("second")}`));
  await stage.tmux.press("r");
  expect((await first.end()).statuses).toEqual(["accepted", "confirmed"]);
  await stage.tmux.sees(file("second"));
  await stage.tmux.sees(keysCount);
  await stage.tmux.press("r");
  expect((await second.end()).statuses).toEqual(["accepted", "confirmed"]);
  await made("second");
  await one.client.close();
  await two.client.close();
});

const helpers = () => descendantsOf(stage.master.pid).filter(({ command }) => command.includes("helper-terminal.js"));
