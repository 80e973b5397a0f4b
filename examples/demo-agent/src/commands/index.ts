// The list of commands, and which one a prompt means.
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { askCommand } from "./ask.ts";
import type { Command } from "./command.ts";
import { dieCommand } from "./die.ts";
import { echo } from "./echo.ts";
import { elicitCommand } from "./elicit.ts";
import { failCommand } from "./fail.ts";
import { floodCommand } from "./flood.ts";
import { modeCommand } from "./mode.ts";
import { planCommand } from "./plan.ts";
import { readCommand } from "./read.ts";
import { runShellCommand } from "./run.ts";
import { slowCommand } from "./slow.ts";
import { streamCommand } from "./stream.ts";
import { thinkCommand } from "./think.ts";
import { together } from "./together.ts";
import { toolsCommand } from "./tools.ts";
import { writeCommand } from "./write.ts";

const helpCommand: Command = {
  name: "help",
  description: "Say what this agent can do",
  run: (turn) => turn.say(helpText()),
};

const commands: readonly Command[] = [
  helpCommand,
  streamCommand,
  readCommand,
  writeCommand,
  runShellCommand,
  askCommand,
  slowCommand,
  thinkCommand,
  planCommand,
  modeCommand,
  elicitCommand,
  toolsCommand,
  failCommand,
  dieCommand,
  floodCommand,
  together((text) => commandFor(text)),
];

function helpText(): string {
  const lines = commands.map(({ name, hint, description }) => `- /${name}${hint ? ` ${hint}` : ""}: ${description}`);
  return `I am the demo agent. I use no model; I do what these commands say:\n${lines.join("\n")}\n`;
}

export const availableCommands: AvailableCommand[] = commands.map(({ name, description, hint }) => ({
  name,
  description,
  ...(hint === undefined ? {} : { input: { hint } }),
}));

/** The command that the text names, or the echo for everything else. `rest` is the text behind the name. */
export function commandFor(text: string): { command: Pick<Command, "run">; rest: string } {
  const [, name, rest] = /^\s*\/(\S+)\s?([\s\S]*)$/.exec(text) ?? [];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return { command: echo(helpText), rest: text };
  return { command, rest: rest ?? "" };
}
