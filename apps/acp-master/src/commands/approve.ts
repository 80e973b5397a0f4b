// `acp-master approve ID`: allows one waiting permission, once unless an option is named. It never picks an "always" by itself.
import type { Command } from "commander";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { answerApproval, choosable, optionList } from "./answer-approval.ts";
import { examples, finish } from "./finish.ts";

interface ApproveOptions {
  readonly option?: string;
}

export function registerApprove(program: Command): void {
  program
    .command("approve <id>")
    .description("allow a waiting permission (once, unless --option names another option)")
    .option("--option <option>", "the id of the option to choose; `acp-master approvals` shows them")
    .addHelpText("after", examples("acp-master approve 7d9e6c1a", "acp-master approve 7d9e6c1a --option allow_always"))
    .action(finish(approve));
}

async function approve(approvalId: string, { option }: ApproveOptions): Promise<ExitCode> {
  const { allowOption } = await import("@acp-master/permission-core");
  const choice = await answerApproval(approvalId, (offered) => {
    if (option === undefined) {
      const optionId = allowOption(choosable(offered));
      if (optionId !== undefined) return { outcome: "selected", optionId };
      throw new CommandError(
        exitCodes.usage,
        "this permission does not offer exactly one option of kind allow_once",
        `Choose with --option: ${optionList(offered)}`,
      );
    }
    if (offered.some(({ optionId }) => optionId === option)) return { outcome: "selected", optionId: option };
    throw new CommandError(
      exitCodes.usage,
      `this permission does not offer the option ${option}`,
      `Choose one of: ${optionList(offered)}`,
    );
  });
  const chosen = choice.outcome === "selected" ? choice.optionId : choice.outcome;
  process.stdout.write(`Answered ${visibleLine(approvalId)} with ${visibleLine(chosen)}.\n`);
  return exitCodes.done;
}
