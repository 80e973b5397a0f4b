// `acp-master deny ID`: refuses one waiting permission. It never picks an allowing option, whatever is offered.
import type { Command } from "commander";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { answerApproval, choosable } from "./answer-approval.ts";
import { examples, finish } from "./finish.ts";

export function registerDeny(program: Command): void {
  program
    .command("deny <id>")
    .description("refuse a waiting permission")
    .addHelpText("after", examples("acp-master deny 7d9e6c1a"))
    .action(finish(deny));
}

async function deny(approvalId: string): Promise<ExitCode> {
  const { refuse } = await import("@acp-master/permission-core");
  const choice = await answerApproval(approvalId, (offered) => refuse(choosable(offered)));
  const chosen = choice.outcome === "selected" ? `with ${visibleLine(choice.optionId)}` : "by closing the question";
  process.stdout.write(`Refused ${visibleLine(approvalId)} ${chosen}.\n`);
  return exitCodes.done;
}
