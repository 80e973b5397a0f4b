// `acp-master cancel SESSION`: ends the running turn of a session. The session itself stays.
import type { Command } from "commander";
import { openMaster } from "../client/open-master.ts";
import { sessionRow } from "../client/session-rows.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { examples, finish } from "./finish.ts";

export function registerCancel(program: Command): void {
  program
    .command("cancel <session>")
    .description("end the running turn of a session; what waits for an answer is cancelled")
    .addHelpText("after", examples("acp-master cancel 3f0c"))
    .action(finish(cancel));
}

async function cancel(given: string): Promise<ExitCode> {
  await using master = await openMaster();
  const { sessionId, state } = await sessionRow((method, params) => master.request(method, params), given);
  await master.request("_acp-master/session/cancel", { sessionId });
  const shown = visibleLine(sessionId);
  const hadTurn = state === "running" || state === "waiting";
  process.stdout.write(hadTurn ? `Cancelled the turn of ${shown}.\n` : `${shown} had no turn to cancel.\n`);
  return exitCodes.done;
}
