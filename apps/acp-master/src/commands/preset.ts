// `acp-master preset SESSION PRESET`: changes what a session may do without asking. It knows no preset by name.
import type { Command } from "commander";
import { ClientError } from "../client/client-error.ts";
import { openMaster } from "../client/open-master.ts";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
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
    .addHelpText("after", examples("acp-master preset 3f0c… accept-edits", "acp-master preset 3f0c… allow-all --yes"))
    .action(finish(preset));
}

async function preset(sessionId: string, name: string, options: PresetOptions): Promise<ExitCode> {
  await using master = await openMaster();
  await switchPreset((method, params) => master.request(method, params), {
    sessionId,
    preset: name,
    confirm: options.yes === true,
  });
  process.stdout.write(`${visibleLine(sessionId)} now uses the preset ${visibleLine(name)}.\n`);
  return exitCodes.done;
}

/** Also used by `run --preset`. A refused switch says how to confirm it. */
export async function switchPreset(
  ask: (method: string, params: object) => Promise<unknown>,
  wanted: { sessionId: string; preset: string; confirm: boolean },
): Promise<void> {
  const { confirm, ...target } = wanted;
  try {
    await ask("_acp-master/session/preset", confirm ? { ...target, confirm } : target);
  } catch (error) {
    if (!(error instanceof ClientError) || error.reason === "unknown_session" || error.code !== -32602) throw error;
    const next = confirm
      ? "Choose one that the session offers."
      : `Choose one that the session offers; one that needs a confirmation: acp-master preset ${target.sessionId} ${target.preset} --yes`;
    throw new CommandError(exitCodes.failed, error.message, next, error);
  }
}
