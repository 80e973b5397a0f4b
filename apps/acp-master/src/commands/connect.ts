// `acp-master connect [AGENT]`: the place of the shim on the command line. It loads nothing but the shim and prints nothing on stdout.
import type { Command } from "commander";
import { exitCodes } from "../display/errors.ts";
import { connectLine } from "../shim/connect-line.ts";
import { examples } from "./finish.ts";

export function registerConnect(program: Command): void {
  program
    .command("connect")
    .argument("[agent]", "the agent to use (the configured one when left out)")
    .description("ACP on stdin and stdout for an editor; starts the daemon if none runs")
    .option("--observer", "only watch: no prompts, no answers")
    .option("--no-start", "fail when no daemon runs")
    .addHelpText(
      "after",
      `
Put this where your editor wants the command of an agent. Closing the editor ends no turn.
${examples("acp-master connect claude", "acp-master connect --observer")}`,
    );
}

/** `args`: what stands behind `connect`. Help and wrong lines are commander's business, which is loaded only then. */
export async function connect(args: readonly string[]): Promise<number> {
  const line = connectLine(args);
  if (line === undefined) {
    const { runProgram } = await import("./program.ts");
    await runProgram(["connect", ...args]);
    return Number(process.exitCode ?? exitCodes.usage);
  }
  const { runShim } = await import("../shim/shim.ts");
  return runShim(line);
}
