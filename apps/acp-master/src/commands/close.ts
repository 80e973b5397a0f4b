// `acp-master close SESSION`: closes a session at its agent. It stays listed, and what was seen in it can be read and gone on
// with, until it expires.
import type { Command } from "commander";
import { openMaster } from "../client/open-master.ts";
import { sessionRow } from "../client/session-rows.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { examples, finish } from "./finish.ts";

export function registerClose(program: Command): void {
  program
    .command("close <session>")
    .description("close a session; a running turn is cancelled, the history is kept")
    .addHelpText("after", examples("acp-master close 3f0c"))
    .action(finish(close));
}

async function close(given: string): Promise<ExitCode> {
  await using master = await openMaster();
  const { sessionId } = await sessionRow((method, params) => master.request(method, params), given);
  await master.request("_acp-master/session/close", { sessionId });
  const id = visibleLine(sessionId);
  process.stdout.write(`Closed ${id}. What was seen is kept for now: acp-master tail ${id}\n`);
  return exitCodes.done;
}
