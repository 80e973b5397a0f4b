// `acp-master stop`: ends the daemon after its turns were given time. When it returns nothing of the daemon runs any more.
import type { Command } from "commander";
import { resolvePlaces } from "../config/places.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { examples, finish } from "./finish.ts";
import { stopDaemon } from "./stop-daemon.ts";

export function registerStop(program: Command): void {
  program
    .command("stop")
    .description("end the daemon: no more prompts, running turns get `daemon.drainSeconds`, the rest is cancelled")
    .addHelpText("after", examples("acp-master stop"))
    .action(finish(stop));
}

async function stop(): Promise<ExitCode> {
  const pid = await stopDaemon(resolvePlaces(process.env), "stop");
  process.stdout.write(`The daemon${pid === undefined ? "" : ` (pid ${pid})`} has ended.\n`);
  return exitCodes.done;
}
