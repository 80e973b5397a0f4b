// Makes sure that a daemon runs, for the commands that may start one.
import type { Places } from "../config/places.ts";
import { CommandError, exitCodes } from "../display/errors.ts";

/** The socket of the running daemon; starts one when none runs. */
export async function startedDaemon(places: Places): Promise<string> {
  const { ensureDaemon } = await import("../shim/ensure-daemon.ts");
  const daemon = await ensureDaemon(places, {});
  if (daemon.ok) return daemon.socket;
  throw new CommandError(exitCodes.noDaemon, daemon.message, "Run `acp-master serve` to see why.");
}
