// What an agent reads must be what the recogniser takes: each block is followed to the letter here.
import {
  type Shell,
  autofixPolicy,
  decideProposal,
  newChannel,
  newInstance,
  payloadOf,
  recognise,
  terminalActions,
  terminalAgentPolicy,
} from "@acp-master/proposal-channel";
import { describe, expect, test } from "vitest";
import { promptBlock } from "../../src/proposals/prompt-block.ts";

const channel = newChannel(newInstance());
const program = "/opt/acp/acp-propose.js";
const nothing = { delegate: false, profiles: [] };

const blockFor = (shell: Shell, more: { origin?: string; offered?: { delegate: boolean; profiles: string[] } } = {}) =>
  promptBlock({
    channel,
    shell,
    program,
    origin: more.origin ?? "terminal_agent",
    actionTypes: terminalActions,
    offered: more.offered ?? nothing,
  });

const lineWith = (block: string, text: string): string => {
  const lines = block.split("\n").filter((line) => line.includes(text));
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
};

const exampleOf = (block: string): string => lineWith(block, '{"schema_version"').trim();

describe.each(["terminal_agent", "autofix"])("the example for %s", (origin) => {
  test("passes the decision as it stands", () => {
    const read = payloadOf(exampleOf(blockFor("sh", { origin })));
    if (!read.ok) throw new Error(read.why);
    const decision = decideProposal(read.payload, {
      binding: { sessionId: "s", epoch: 0, turnId: "t", origin, target: "%1", trigger: undefined, arming: "required" },
      situation: { isCardUp: false, runningTurn: "t", trigger: undefined },
      abilities: {
        actionTypes: terminalActions,
        origins: [terminalAgentPolicy, autofixPolicy],
        hasDelegate: false,
        profiles: [],
        ownTarget: undefined,
      },
    });
    expect(decision.ok).toBe(true);
  });
});

describe("the command", () => {
  test("for sh, filled in as told, is recognised", () => {
    const block = blockFor("sh");
    const json = exampleOf(block).replace("What it does", "It's done");
    const command = lineWith(block, channel).replace("<json>", () => json.replaceAll("'", "'\\''"));
    expect(recognise("sh", command)).toMatchObject({ ok: true, invocation: { payload: Buffer.from(json) } });
  });

  test("for PowerShell carries base64url, which every version of it hands on whole", () => {
    const block = blockFor("powershell");
    const json = exampleOf(block);
    const encoded = Buffer.from(json).toString("base64url");
    const command = lineWith(block, channel).replace("<base64url of the json>", encoded);
    expect(recognise("powershell", command)).toMatchObject({ ok: true, invocation: { payload: Buffer.from(json) } });
    expect(block).not.toContain("'\\''");
  });

  test("for an agent without a shell is a list of arguments", () => {
    const block = blockFor("argv");
    const json = exampleOf(block);
    const words: string[] = JSON.parse(lineWith(block, channel));
    const command = words.map((word) => (word === "<json>" ? json : word));
    expect(recognise("argv", command, program)).toMatchObject({ ok: true, invocation: { channel } });
  });
});

test("delegates and profiles are named only where there are any", () => {
  expect(blockFor("sh")).not.toMatch(/delegate|profile/);
  const block = blockFor("sh", { offered: { delegate: true, profiles: ["build", "night"] } });
  expect(block).toContain('"delegate"?:BOOLEAN');
  expect(block).toContain('"profile"?:"build"|"night"');
});

test("it has one line per fact that must not be broken, and is short", () => {
  for (const shell of ["sh", "powershell", "argv"] as const) {
    expect(blockFor(shell).startsWith("[acp-master proposal]\n1. ")).toBe(true);
    expect(blockFor(shell).length).toBeLessThan(2_500);
  }
});
