// Reaches the console of this home, and starts one where none runs: exactly one, whoever asks. One of other settings, or of
// another version, makes room for the new one.
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isRunning } from "../commands/stop-daemon.ts";
import type { Places } from "../config/places.ts";
import type { Config } from "../config/schema.ts";
import { ensurePrivateFolder } from "../daemon/private-folder.ts";
import { startLockWithin } from "../daemon/start-lock.ts";
import { CommandError, exitCodes } from "../display/errors.ts";
import { askConsole } from "./ask-console.ts";
import { consoleProgram, consoleSettings, controlPath } from "./console-settings.ts";
import { startConsole } from "./start-console.ts";

const waitMs = 45_000;

/** Throws a CommandError that says what to do. */
export async function ensureConsole(places: Places, config: Config["console"]): Promise<void> {
  const settings = consoleSettings(places, config);
  const path = controlPath(places);
  const folder = ensurePrivateFolder(dirname(path));
  if (!folder.ok) throw failed(folder.message, "Correct it and try again.");
  if (await isRight(path, settings)) return;
  const lock = await startLockWithin(places.runDir, "console", waitMs);
  if (lock === undefined) throw failed("another process starts the console and does not go on", "Try again.");
  try {
    if (await isRight(path, settings)) return;
    await stopConsole(path);
    const problem = await startConsole(places, consoleProgram(), settings);
    if (problem === "") return;
    throw failed(`the console did not start: ${problem}`, "Correct it, in the configuration if it is named there.");
  } finally {
    lock.release();
  }
}

async function isRight(path: string, settings: object): Promise<boolean> {
  const state = await askConsole(path, { ask: "state" });
  return state !== undefined && isDeepStrictEqual(state["settings"], settings);
}

/** Waits until its process is gone: its port must be free again. */
async function stopConsole(path: string): Promise<void> {
  const stopped = await askConsole(path, { ask: "stop" });
  const pid = stopped?.["pid"];
  if (typeof pid !== "number") return;
  while (isRunning(pid)) await pause(50);
}

const failed = (message: string, next: string): CommandError => new CommandError(exitCodes.failed, message, next);
