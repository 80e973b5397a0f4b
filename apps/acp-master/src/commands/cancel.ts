// `acp-master cancel SESSION`: ends the running turn of a session. The session itself stays.
import type { Command } from "commander";
import { openMaster } from "../client/open-master.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { examples, finish } from "./finish.ts";

export function registerCancel(program: Command): void {
  program
    .command("cancel <session>")
    .description("end the running turn of a session; what waits for an answer is cancelled")
    .addHelpText("after", examples("acp-master cancel 3f0c…"))
    .action(finish(cancel));
}

async function cancel(sessionId: string): Promise<ExitCode> {
  await using master = await openMaster();
  await master.request("_acp-master/session/cancel", { sessionId });
  process.stdout.write(`Cancelled the turn of ${visibleLine(sessionId)}.\n`);
  return exitCodes.done;
}
