// `acp-master preset SESSION PRESET`: changes what a session may do without asking. It knows no preset by name.
import type { Command } from "commander";
import { openMaster } from "../client/open-master.ts";
import { type Ask, sessionRow } from "../client/session-rows.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine } from "../display/untrusted-text.ts";
import { examples, finish } from "./finish.ts";

interface PresetOptions {
  readonly yes?: boolean;
}

export function registerPreset(program: Command): void {
  program
    .command("preset <session> <preset>")
    .description("switch the approvals of a session to another preset")
    .option("--yes", "confirm a preset that asks for a confirmation")
    .addHelpText("after", examples("acp-master preset 3f0c accept-edits", "acp-master preset 3f0c allow-all --yes"))
    .action(finish(preset));
}

async function preset(given: string, name: string, options: PresetOptions): Promise<ExitCode> {
  await using master = await openMaster();
  const ask: Ask = (method, params) => master.request(method, params);
  const { sessionId } = await sessionRow(ask, given);
  await switchPreset(ask, {
    sessionId,
    preset: name,
    confirm: options.yes === true,
  });
  process.stdout.write(`${visibleLine(sessionId)} now uses the preset ${visibleLine(name)}.\n`);
  return exitCodes.done;
}

/** Also used by `run --preset`. The daemon's refusal names the command that confirms. */
export async function switchPreset(
  ask: Ask,
  { sessionId, preset, confirm }: { sessionId: string; preset: string; confirm: boolean },
): Promise<void> {
  await ask("_acp-master/session/preset", { sessionId, preset, ...(confirm ? { confirm } : {}) });
}
