// The words that tmux gets. What tmux makes of them is tested with a real one (test/terminal).
import type { OpenAction } from "@acp-master/proposal-channel";
import { expect, test } from "vitest";
import { openPanel, openTab } from "../../src/tmux/opening.ts";
import { ownTarget, readTarget, targetName } from "../../src/tmux/target.ts";
import { commandWords, withoutFormats } from "../../src/tmux/tmux.ts";
import { typing } from "../../src/tmux/typing.ts";

const beside = {
  pane: "%4",
  window: "@2",
  session: "$1",
  sessionActivity: 1,
  pid: 9,
  tty: "/dev/pts/0",
  isInFront: true,
  isActive: true,
  isLast: false,
  takesInput: true,
  width: 80,
  height: 24,
};

test("a semicolon at the end of a word does not end the command", () => {
  expect(
    commandWords([
      ["send-keys", "a;"],
      ["b", ";", "\\;"],
    ]),
  ).toEqual(["send-keys", "a\\;", ";", "b", "\\;", "\\\\;"]);
});

test("run is the text and a return; insert is the text", () => {
  expect(typing("%4", "ls", "insert").at(-1)).toEqual(["send-keys", "-t", "%4", "-l", "--", "ls"]);
  expect(typing("%4", "ls", "run").slice(-2)).toEqual([
    ["send-keys", "-t", "%4", "-l", "--", "ls"],
    ["send-keys", "-t", "%4", "Enter"],
  ]);
});

test("a title cannot run a program", () => {
  expect(openTab({ type: "open", target: "tab", title: "#(id) #S" }, { beside })).toContain("##(id) ##S");
  expect(withoutFormats("a##b")).toBe("a####b");
});

test("a tab comes next to the bound pane's window, else at the end of the session in front", () => {
  expect(openTab({ type: "open", target: "tab" }, { beside }).slice(0, 4)).toEqual(["new-window", "-a", "-t", "@2"]);
  expect(openTab({ type: "open", target: "tab" }, { session: "$1" }).slice(0, 3)).toEqual(["new-window", "-t", "$1:"]);
});

const split = (direction?: OpenAction["direction"], size = {}) =>
  openPanel({ type: "open", target: "panel", ...(direction && { direction }) }, { ...beside, ...size }).slice(3, -3);

test("each direction has its split; without one the longer side is cut", () => {
  expect(split("right")).toEqual(["-h"]);
  expect(split("left")).toEqual(["-h", "-b"]);
  expect(split("down")).toEqual(["-v"]);
  expect(split("up")).toEqual(["-v", "-b"]);
  for (const each of ["auto", "automatic", undefined] as const) {
    expect(split(each)).toEqual(["-h"]);
    expect(split(each, { width: 40, height: 24 })).toEqual(["-v"]);
  }
});

test("a target is a pane of one server", () => {
  expect(readTarget(targetName({ pane: "%3", serverPid: 12 }))).toEqual({ pane: "%3", serverPid: 12 });
  for (const wrong of ["%3", "3@12", "%3@", "%3@12 ", "work:0.1@12"]) expect(readTarget(wrong)).toBeUndefined();
});

test("a program in tmux knows its own pane", () => {
  expect(ownTarget({ TMUX: "/tmp/tmux-0/a,b,4242,3", TMUX_PANE: "%9" })).toBe("%9@4242");
  expect(ownTarget({ TMUX_PANE: "%9" })).toBeUndefined();
  expect(ownTarget({ TMUX: "/tmp/tmux-0/default,4242,3" })).toBeUndefined();
});
