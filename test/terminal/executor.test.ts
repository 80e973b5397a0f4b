// The tmux executor against a real tmux: what arrives in which pane, and what never does.
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Order } from "@acp-master/helper-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Tmux } from "../../apps/terminal-helper/src/tmux/tmux.ts";
import { type TerminalAction, TmuxExecutor } from "../../apps/terminal-helper/src/tmux/tmux-executor.ts";
import { eventually } from "../harness/events.ts";
import { makeHome } from "../harness/home.ts";
import { plainShell, TestTmux } from "./tmux.ts";

const home = makeHome();
const never = new AbortController().signal;
let tmux: TestTmux;
let executor: TmuxExecutor;
let first: string;

beforeAll(async () => {
  tmux = await TestTmux.start({ env: home.env });
  executor = new TmuxExecutor(new Tmux(tmux.server));
  [first = ""] = await tmux.run("list-panes", "-F", "#{pane_id}");
  await tmux.holds(first, "$");
});

afterAll(async () => {
  await tmux[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const turn = { sessionId: "s", turnId: "t", agent: "claude", cwd: home.work };

const order = (
  target: string | undefined,
  mode: "run" | "insert",
  ...actions: TerminalAction[]
): Order<TerminalAction> => ({
  sessionId: "s",
  proposalId: "p",
  cwd: home.work,
  origin: "terminal_agent",
  target,
  mode,
  actions,
});

const send = (input: string): TerminalAction => ({ type: "send", input });

/** A fresh pane with a shell, which is the active one, bound as a turn would bind it. */
async function bound(): Promise<{ pane: string; target: string }> {
  const [pane = ""] = await tmux.run("new-window", "-P", "-F", "#{pane_id}", plainShell);
  await tmux.holds(pane, "$");
  const target = await executor.bind(turn, never);
  expect(target).toContain(`${pane}@`);
  return { pane, target: target ?? "" };
}

const file = (name: string): string => join(home.work, name);
const made = (name: string): Promise<boolean> => eventually(() => existsSync(file(name)), `${name} is made`, 20_000);

const newest = async (): Promise<string> =>
  (await tmux.run("list-panes", "-a", "-F", "#{pane_id}"))
    .toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
    .at(-1) ?? "";
const about = async (pane: string, format: string): Promise<string> =>
  (await tmux.run("display-message", "-p", "-t", pane, format))[0] ?? "";

describe("send", () => {
  it("runs the text in the bound pane, though another one is active by then", async () => {
    const { pane, target } = await bound();
    const other = await tmux.split();
    const before = await tmux.content(other);
    expect(await executor.dispatch(order(target, "run", send(`touch ${file("run")}; echo do''ne`)), never)).toBe(true);
    await tmux.holds(pane, "\ndone");
    expect(existsSync(file("run"))).toBe(true);
    expect(await tmux.content(other)).toBe(before);
  });

  it("inserts the text and executes nothing before a person does", async () => {
    const { pane, target } = await bound();
    expect(await executor.dispatch(order(target, "insert", send(`touch ${file("inserted")}`)), never)).toBe(true);
    await tmux.holds(pane, `$ touch ${file("inserted")}`);
    expect(existsSync(file("inserted"))).toBe(false);
    await tmux.run("send-keys", "-t", pane, "Enter");
    await made("inserted");
  });

  it.each([
    ["names of keys", "Enter C-c Escape"],
    ["a semicolon at the end", "true;"],
    ["a backslash and a semicolon at the end", String.raw`echo a\;`],
    ["formats", "echo '#(touch /nowhere) #{pid} #S %H'"],
    ["a dash at the beginning", "-l -x"],
    ["quotes and dollars", `echo "it's" '$HOME' \`x\` \\`],
    ["other scripts", "echo é漢字 🙂 Ünïcödé"],
    ["blanks at both ends", "   echo x   "],
    ["a tilde and an exclamation mark", "~/x !! !$"],
  ])("types %s as they are", async (_what, text) => {
    const { pane, target } = await bound();
    await tmux.run("respawn-pane", "-k", "-c", home.work, "-t", pane, `exec sh -c '> got; echo ready; cat > got'`);
    await tmux.holds(pane, "ready");
    expect(await executor.dispatch(order(target, "run", send(text)), never)).toBe(true);
    await eventually(() => readFileSync(file("got"), "utf8") === `${text}\n`, "the text arrives", 20_000);
  });

  it("types several lines, each of which runs", async () => {
    const { target } = await bound();
    const text = `touch ${file("line-1")}\ntouch ${file("line-2")}`;
    expect(await executor.dispatch(order(target, "run", send(text)), never)).toBe(true);
    await made("line-1");
    await made("line-2");
  });

  it("types a line of any length at a prompt, and none that the terminal would cut", async () => {
    const { pane, target } = await bound();
    const input = `printf %s ${"x".repeat(7900)} | wc -c > ${file("length")}`;
    expect(await executor.dispatch(order(target, "run", send(input)), never)).toBe(true);
    await made("length");
    await eventually(() => readFileSync(file("length"), "utf8").trim() === "7900", "all of it was typed", 20_000);
    await tmux.run("respawn-pane", "-k", "-t", pane, `exec sh -c 'echo ready; exec cat'`);
    await tmux.holds(pane, "ready");
    expect(await executor.dispatch(order(target, "run", send(input)), never)).toBe(false);
    expect(await tmux.content(pane)).toBe("ready");
  });

  it("reaches the shell also while its pane is scrolled back", async () => {
    const { pane, target } = await bound();
    await tmux.run("copy-mode", "-t", pane);
    expect(await executor.dispatch(order(target, "insert", send("qqq gg")), never)).toBe(true);
    await tmux.holds(pane, "$ qqq gg");
  });
});

it("says what runs in the pane, and nothing of what stands there", async () => {
  const { pane, target } = await bound();
  await tmux.run("send-keys", "-t", pane, "-l", "a secret");
  await tmux.holds(pane, "a secret");
  expect(await executor.context(target, never)).toBe(
    `The terminal that send types into runs "bash" in "${realpathSync(tmpdir())}".`,
  );
});

describe("nothing is done", () => {
  it("when the pane has gone, also when its id could be a new server's", async () => {
    const { pane, target } = await bound();
    expect(await executor.isThere(target, never)).toBe(true);
    await tmux.run("kill-pane", "-t", pane);
    const before = await tmux.everything();
    expect(await executor.isThere(target, never)).toBe(false);
    expect(await executor.dispatch(order(target, "run", send("echo lost")), never)).toBe(false);
    const ofAnother = `${first}@${Number(target.split("@")[1]) + 1}`;
    expect(await executor.dispatch(order(ofAnother, "run", send("echo lost")), never)).toBe(false);
    expect(await tmux.everything()).toBe(before);
  });

  it("when the pane would pass the text on to others, takes none, or is dead", async () => {
    const { pane, target } = await bound();
    const other = await tmux.split();
    const before = await tmux.content(other);
    const refused = async () => {
      expect(await executor.isThere(target, never)).toBe(false);
      expect(await executor.dispatch(order(target, "run", send("echo shared")), never)).toBe(false);
    };
    await tmux.run("set-option", "-w", "-t", pane, "synchronize-panes", "on");
    await refused();
    expect(await tmux.content(other)).toBe(before);
    await tmux.run("set-option", "-w", "-t", pane, "synchronize-panes", "off");
    await tmux.run("select-pane", "-d", "-t", pane);
    await refused();
    await tmux.run("select-pane", "-e", "-t", pane);
    await tmux.run("set-option", "-w", "-t", pane, "remain-on-exit", "on");
    await tmux.run("respawn-pane", "-k", "-t", pane, "true");
    await eventually(
      async () => (await tmux.run("display-message", "-p", "-t", pane, "#{pane_dead}"))[0] === "1",
      "it is dead",
    );
    await refused();
  });

  it("in a pane in which somebody has begun to talk to agents", async () => {
    const { pane, target } = await bound();
    const other = await tmux.split();
    const program = join(home.work, "acp-master.js");
    writeFileSync(program, "process.stdout.write('which?'); setInterval(() => {}, 1000);");
    await tmux.run("respawn-pane", "-k", "-t", pane, `exec '${process.execPath}' '${program}' run demo hello`);
    await tmux.holds(pane, "which?");
    expect(await executor.isThere(target, never)).toBe(false);
    expect(await executor.dispatch(order(target, "run", send("1")), never)).toBe(false);
    expect(await tmux.content(pane)).toBe("which?");
    await tmux.run("select-pane", "-t", pane);
    expect(await executor.bind(turn, never)).toContain(`${other}@`);
  });

  it("when no tmux runs", async () => {
    const nowhere = new TmuxExecutor(new Tmux("acpm-there-is-none"));
    expect(await nowhere.bind(turn, never)).toBeUndefined();
    expect(await nowhere.isThere(undefined, never)).toBe(false);
    expect(await nowhere.dispatch(order("%0@1", "run", send("x")), never)).toBe(false);
    expect(await nowhere.dispatch(order(undefined, "run", { type: "open", target: "tab" }), never)).toBe(false);
  });

  it("when the folder of what would be opened is not one that can be entered", async () => {
    const { target } = await bound();
    const before = await tmux.everything();
    for (const cwd of [file("not-there"), "relative", "/etc/passwd"]) {
      expect(await executor.dispatch(order(target, "run", { type: "open", target: "panel", cwd }), never)).toBe(false);
    }
    expect(await tmux.everything()).toBe(before);
  });
});

describe("open", () => {
  it("opens a window of that name in that folder, whatever tmux would read into them", async () => {
    const { target } = await bound();
    const cwd = file("a#(touch pwned) #[x] %H;");
    mkdirSync(cwd);
    const title = "#(touch pwned) build;";
    expect(await executor.dispatch(order(target, "run", { type: "open", target: "tab", cwd, title }), never)).toBe(
      true,
    );
    const pane = await newest();
    expect(await about(pane, "#{window_name}")).toBe(title);
    expect(await about(pane, "#{pane_start_path}")).toBe(realpathSync(cwd));
    expect(existsSync(file("pwned"))).toBe(false);
  });

  it("splits beside the bound pane and names the split", async () => {
    const { pane, target } = await bound();
    const action: TerminalAction = { type: "open", target: "panel", direction: "down", title: "logs #S" };
    expect(await executor.dispatch(order(target, "run", action), never)).toBe(true);
    const opened = await newest();
    expect(await about(opened, "#{window_id}")).toBe(await about(pane, "#{window_id}"));
    expect(await about(opened, "#{pane_title}")).toBe("logs #S");
    expect(await about(opened, "#{pane_start_path}")).toBe(realpathSync(home.work));
  });

  it.each(["run", "insert"] as const)("opens a tab without a bound pane, and in mode %s its text", async (mode) => {
    const name = `opened-${mode}`;
    const action: TerminalAction = { type: "open_and_send", target: "tab", input: `touch ${name}`, delegate: false };
    expect(await executor.dispatch(order(undefined, mode, action), never)).toBe(true);
    const pane = await newest();
    await tmux.holds(pane, `$ touch ${name}`);
    if (mode === "insert") {
      expect(existsSync(file(name))).toBe(false);
      await tmux.run("send-keys", "-t", pane, "Enter");
    }
    await made(name);
  });

  it("waits with a long line until the new shell reads it", async () => {
    const input = `printf %s ${"y".repeat(6000)} | wc -c > ${file("length-2")}`;
    const action: TerminalAction = { type: "open_and_send", target: "tab", input, delegate: false };
    expect(await executor.dispatch(order(undefined, "run", action), never)).toBe(true);
    await made("length-2");
    await eventually(() => readFileSync(file("length-2"), "utf8").trim() === "6000", "all of it was typed", 20_000);
  });

  it("needs the bound pane for a split", async () => {
    const before = await tmux.everything();
    expect(await executor.dispatch(order(undefined, "run", { type: "open", target: "panel" }), never)).toBe(false);
    expect(await tmux.everything()).toBe(before);
  });

  it("does the actions in order and stops at the first that cannot be done", async () => {
    const { pane, target } = await bound();
    const lost: TerminalAction = { type: "open", target: "tab", cwd: file("not-there") };
    expect(await executor.dispatch(order(target, "run", send("echo on''e"), lost, send("echo two")), never)).toBe(true);
    await tmux.holds(pane, "\none");
    expect(await tmux.content(pane)).not.toContain("two");
  });
});
