// `acp-master logs`: the end of the daemon's own log, and with -f what it adds. It needs no daemon and changes no file.
import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { lastLogLines, LogFollower } from "../client/log-tail.ts";
import { resolvePlaces } from "../config/places.ts";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { logLine } from "../display/log-line.ts";
import { escapeJsonText } from "../display/untrusted-text.ts";
import { examples, finish, type JsonOption } from "./finish.ts";

interface LogsOptions extends JsonOption {
  readonly follow?: boolean;
  readonly lines: number;
}

export function registerLogs(program: Command): void {
  program
    .command("logs")
    .description("print the end of the daemon's log")
    .option("-f, --follow", "go on with what is added, until interrupted")
    .option("-n, --lines <count>", "how many lines from the end", wholeNumber, 200)
    .option("--json", "print the lines as they are in the file")
    .addHelpText("after", examples("acp-master logs", "acp-master logs -f -n 20"))
    .action(finish(logs));
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

async function logs(options: LogsOptions): Promise<ExitCode> {
  const places = resolvePlaces(process.env);
  const { logBounds, logFile } = await import("../daemon/logger.ts");
  const file = logFile(places);
  const older = Array.from({ length: logBounds.files - 1 }, (_, at) => file.replace(/\.ndjson$/, `.${at + 1}.ndjson`));
  if (!existsSync(places.logDir)) {
    throw new CommandError(
      exitCodes.failed,
      `there is no log in ${places.logDir}`,
      "A daemon makes it when it starts: `acp-master serve`.",
    );
  }
  const print = (line: string) => {
    const shown = options.json === true ? escapeJsonText(line) : logLine(line, process.stdout);
    process.stdout.write(`${shown}\n`);
  };
  if (options.follow !== true) {
    lastLogLines([file, ...older], options.lines).forEach(print);
    return exitCodes.done;
  }
  // Both in one tick: no line can come between the replay and the following.
  lastLogLines([file, ...older], options.lines).forEach(print);
  using _follower = new LogFollower(file, print);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  return exitCodes.interrupted;
}
