// `acp-master run [AGENT] PROMPT`: one prompt from the shell. The answer goes to stdout, everything else to stderr.
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { examples, finish, type JsonOption } from "./finish.ts";

interface RunOptions extends JsonOption {
  readonly cwd?: string;
  readonly preset?: string;
  readonly session?: string;
  readonly yes?: boolean;
}

export function registerRun(program: Command): void {
  program
    .command("run")
    .usage("[options] [AGENT] PROMPT")
    .argument(
      "<words...>",
      "the agent (the configured one when left out) and the prompt; - reads the prompt from stdin",
    )
    .description("give an agent one prompt: its answer on stdout, tool calls and questions on stderr")
    .option("--cwd <dir>", "the folder the agent works in (default: this one)")
    .option("--preset <preset>", "the approvals preset of the session")
    .option("--yes", "confirm a preset that asks for a confirmation")
    .option("--session <id>", "go on with this session")
    .option("--json", "print each update and the result as a line of JSON")
    .addHelpText(
      "after",
      `
On a terminal a permission is asked with number keys, without one it is refused. After a refusal the exit code is 5.
Ctrl-C cancels the turn; a second one ends at once.
${examples(
  'acp-master run "explain this folder"',
  'acp-master run claude "fix the failing test" --preset accept-edits',
  "git diff | acp-master run codex - --json",
  'acp-master run --session 3f0c "and now the docs"',
)}`,
    )
    .action(finish(run));
}

async function run(words: readonly string[], options: RunOptions): Promise<ExitCode> {
  const { agent, prompt } = await whatToRun(words);
  const { runPrompt } = await import("./run-prompt.ts");
  return runPrompt({
    agent,
    prompt,
    cwd: options.cwd === undefined ? undefined : resolve(options.cwd),
    preset: options.preset,
    confirmPreset: options.yes === true,
    sessionId: options.session,
    json: options.json === true,
  });
}

/** One word that names an agent is no prompt for another one. */
async function isAgent(word: string): Promise<boolean> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(word)) return false;
  const { localAgentRows } = await import("./agent-rows.ts");
  return (await localAgentRows()).some((row) => row.name === word);
}

async function whatToRun(words: readonly string[]): Promise<{ agent: string | undefined; prompt: string }> {
  if (words.length > 2) {
    throw new CommandError(exitCodes.usage, "run takes an agent and one prompt", "Put the prompt in quotes.");
  }
  const [first = "", second] = words;
  const given = second ?? first;
  const prompt = given === "-" ? await readAll(process.stdin) : given;
  if (second === undefined && (await isAgent(first))) {
    throw new CommandError(
      exitCodes.usage,
      `${first} is an agent, and there is no prompt`,
      `Say what to do: acp-master run ${first} "…"`,
    );
  }
  if (prompt.trim() === "") throw new CommandError(exitCodes.usage, "the prompt is empty", "Say what to do.");
  return { agent: second === undefined ? undefined : first, prompt };
}
