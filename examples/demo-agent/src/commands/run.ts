// Runs a shell command after asking: in the client's terminal where it offers one, else as the agent's own child.
import { runCommand, type CommandEnd } from "../running-command.ts";
import type { Turn } from "../turn.ts";
import type { Command } from "./command.ts";

const shownCharacters = 16_000;

const textContent = (text: string) => ({ type: "content" as const, content: { type: "text" as const, text } });

async function inTerminal(turn: Turn, toolCallId: string, command: string): Promise<CommandEnd & { output: string }> {
  await using terminal = await turn.client.createTerminal({
    sessionId: turn.sessionId,
    command: "sh",
    args: ["-c", command],
    cwd: turn.cwd,
    outputByteLimit: shownCharacters,
  });
  await turn.progress({ toolCallId, status: "in_progress", content: [{ type: "terminal", terminalId: terminal.id }] });
  // A kill that fails means that the command has ended, or the client has gone; the wait below tells.
  const kill = (): void => void terminal.kill().catch(() => {});
  turn.signal.addEventListener("abort", kill, { once: true });
  if (turn.signal.aborted) kill();
  try {
    const { exitCode = null, signal = null } = await terminal.waitForExit();
    return { exitCode, signal, output: (await terminal.currentOutput()).output };
  } finally {
    turn.signal.removeEventListener("abort", kill);
  }
}

async function asChild(turn: Turn, toolCallId: string, command: string): Promise<CommandEnd & { output: string }> {
  await turn.progress({ toolCallId, status: "in_progress" });
  let output = "";
  let shown = Promise.resolve();
  const end = await runCommand(command, {
    cwd: turn.cwd,
    signal: turn.signal,
    output: (text) => {
      output = (output + text).slice(-shownCharacters);
      const content = [textContent(output)];
      shown = shown.then(() => turn.progress({ toolCallId, content }));
    },
  });
  await shown;
  return { ...end, output };
}

export const runShellCommand: Command = {
  name: "run",
  hint: "COMMAND…",
  description: "Run a shell command, after asking",
  async run(turn, rest) {
    const command = rest.trim();
    if (command === "") return turn.say("Say what to run: /run COMMAND…\n");
    const call = turn.describe({ toolsName: "local_shell", toolName: "run", args: { command, cwd: turn.cwd } });
    const { toolCallId } = call;
    await turn.announce(call);
    const answer = await turn.mayI(call);
    if (!answer.allowed) {
      await turn.progress({ toolCallId, status: "failed" });
      return turn.say(`I did not run it: ${answer.why}.\n`);
    }
    try {
      const run = turn.capabilities.terminal ? inTerminal : asChild;
      const { exitCode, signal, output } = await run(turn, toolCallId, command);
      const ok = exitCode === 0;
      await turn.progress({ toolCallId, status: ok ? "completed" : "failed", rawOutput: { exitCode, signal } });
      return await turn.say(`${output}\nIt ended with ${signal === null ? `code ${exitCode}` : `signal ${signal}`}.\n`);
    } catch (error) {
      await turn.progress({ toolCallId, status: "failed" });
      return turn.say(`I cannot run it: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  },
};
