// `acp-master restart`: ends the daemon in order and starts a new one, by the service manager if that one ran it. Attached shims wait for it.
import { spawnSync } from "node:child_process";
import type { Command } from "commander";
import { ClientError } from "../client/client-error.ts";
import { resolvePlaces } from "../config/places.ts";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { examples, finish } from "./finish.ts";
import { serviceState } from "./service-state.ts";
import { startedDaemon } from "./started-daemon.ts";
import { daemonPid, stopDaemon } from "./stop-daemon.ts";

export function registerRestart(program: Command): void {
  program
    .command("restart")
    .description("end the daemon as `stop` does and start a new one; editors that are connected wait for it")
    .addHelpText("after", examples("acp-master restart"))
    .action(finish(restart));
}

async function restart(): Promise<ExitCode> {
  const places = resolvePlaces(process.env);
  const { loadConfig } = await import("../config/load-config.ts");
  const config = loadConfig(places.configFile);
  // The one that runs is better than none.
  if (!config.ok) {
    throw new CommandError(exitCodes.failed, config.message, "Correct it first; the running daemon was left alone.");
  }
  const byService = serviceRuns(daemonPid(places));
  try {
    await stopDaemon(places, "restart");
  } catch (error) {
    if (!(error instanceof ClientError) || error.kind !== "no_daemon") throw error;
    process.stdout.write("No daemon was running.\n");
  }
  if (byService) spawnSync("systemctl", ["--user", "start", "acp-master.service"], { stdio: "ignore" });
  await startedDaemon(places);
  process.stdout.write(`A new daemon runs (pid ${daemonPid(places) ?? "unknown"}).\n`);
  return exitCodes.done;
}

/** A daemon of the service manager is started by it again, so that it stays in its care. */
function serviceRuns(pid: number | undefined): boolean {
  return process.platform === "linux" && pid !== undefined && serviceState("linux").pid === pid;
}
