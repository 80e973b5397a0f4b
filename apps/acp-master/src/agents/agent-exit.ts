// How an agent process ended, in facts and in a sentence for people. No output of the agent is put into the sentence.
import { existsSync } from "node:fs";
import type { AgentDefinition } from "./agent-definition.ts";
import { findExecutable, searchPath } from "./find-executable.ts";

export type ExitCause = "exited" | "failed_to_start" | "output_ended" | "input_closed" | "stopped" | "frame_too_long";

export interface AgentExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Cleaned, at most 64 lines and 16 KiB. */
  readonly stderrTail: string;
  readonly cause: ExitCause;
  readonly message: string;
}

export interface ExitFacts {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly cause: Exclude<ExitCause, "failed_to_start">;
  readonly environment: NodeJS.ProcessEnv;
  readonly maxFrameBytes: number;
}

const again = "The next prompt starts it again.";

const sentences: Readonly<Record<ExitFacts["cause"], (facts: ExitFacts, command: string) => string>> = {
  exited: (facts, command) => `ended by itself (${status(facts)}).${hint(facts, command)} ${again}`,
  stopped: (facts) => `was stopped (${status(facts)}).`,
  output_ended: () =>
    `closed its standard output while it was still running, so nothing more can come from it; it is being ended. ${again}`,
  input_closed: () =>
    `closed its standard input while it was still running, so nothing can be sent to it; it is being ended. ${again}`,
  frame_too_long: (facts) =>
    `sent a line longer than ${facts.maxFrameBytes} bytes and is being ended. Raise limits.frameBytes in the configuration if such lines are expected.`,
};

export function describeExit(definition: AgentDefinition, facts: ExitFacts): string {
  return `Agent "${definition.name}" ${sentences[facts.cause](facts, definition.command)}`;
}

export interface StartFailure {
  readonly code: string | undefined;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

export function describeStartFailure(definition: AgentDefinition, failure: StartFailure): string {
  const { code, cwd, environment } = failure;
  const start = `Agent "${definition.name}" could not be started: `;
  const setting = `agents.${definition.name}.command`;
  if (!existsSync(cwd)) return `${start}the folder ${cwd}, in which agents are started, does not exist. Create it.`;
  const file = findExecutable(definition.command, { environment });
  const path = `PATH was "${searchPath(environment)}"`;
  if (code === "ENOENT" && file !== undefined) {
    return `${start}${file} exists, but the interpreter that its first line names was not found (ENOENT). ${path}. Install the interpreter or set PATH in agents.${definition.name}.env.`;
  }
  if (code === "ENOENT") {
    return `${start}the command "${definition.command}" was not found (ENOENT). ${path}. Install it, or give its full path as ${setting} in the configuration.`;
  }
  if (code === "EACCES" || code === "EPERM") {
    return `${start}the command "${definition.command}" may not be run (${code}). ${path}. Make the file executable, or give another one as ${setting} in the configuration.`;
  }
  return `${start}the command "${definition.command}" failed (${code ?? "unknown error"}). ${path}. Check ${setting} and its args and env in the configuration.`;
}

function status({ exitCode, signal }: ExitFacts): string {
  if (signal !== null) return `signal ${signal}`;
  return exitCode === null ? "status unknown" : `exit code ${exitCode}`;
}

// What a shell or env answers when it does not find the program.
function hint(facts: ExitFacts, command: string): string {
  if (facts.exitCode !== 126 && facts.exitCode !== 127) return "";
  return ` This code usually means that "${command}" did not find a program that it needs; PATH was "${searchPath(facts.environment)}".`;
}
