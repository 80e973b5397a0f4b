// `acp-master console`: the web console's address with a token that works once. Starts the console, and the daemon, where none runs.
import type { Command } from "commander";
import { resolvePlaces } from "../config/places.ts";
import { CommandError, exitCodes, type ExitCode } from "../display/errors.ts";
import { asText } from "../protocol/json-value.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";
import { startedDaemon } from "./started-daemon.ts";

interface ConsoleOptions extends JsonOption {
  readonly open?: boolean;
  readonly readOnly?: boolean;
}

export function registerConsole(program: Command): void {
  program
    .command("console")
    .description("the web console: starts it if it does not run, prints its address; the address logs in once")
    .option("--open", "open it in the browser instead of printing it")
    .option("--read-only", "an address that only looks on")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master console", "acp-master console --open", "acp-master console --read-only"))
    .action(finish(openConsole));
}

async function openConsole(options: ConsoleOptions): Promise<ExitCode> {
  const places = resolvePlaces(process.env);
  const [{ loadConfig }, { ensureConsole }, { askConsole }, { controlPath }] = await Promise.all([
    import("../config/load-config.ts"),
    import("../console/ensure-console.ts"),
    import("../console/ask-console.ts"),
    import("../console/console-settings.ts"),
  ]);
  const loaded = loadConfig(places.configFile);
  if (!loaded.ok) {
    throw new CommandError(exitCodes.failed, loaded.message, "Correct it and run `acp-master config check`.");
  }
  await startedDaemon(places);
  await ensureConsole(places, loaded.config.console);
  const role = options.readOnly === true ? "observer" : "controller";
  const answer = await askConsole(controlPath(places), { ask: "address", role });
  const address = asText(answer?.["address"]);
  if (address === "") {
    throw new CommandError(exitCodes.failed, "the console ended at once", "Run `acp-master status`, then try again.");
  }
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    return exitCodes.done;
  }
  if (options.open === true) {
    const { openBrowser } = await import("../console/open-browser.ts");
    if (await openBrowser(places, address)) return exitCodes.done;
    process.stderr.write("No browser could be opened here. Open this address yourself:\n");
  }
  process.stdout.write(`${address}\n`);
  if (process.stderr.isTTY) {
    process.stderr.write(`It logs in one browser, within ${String(answer?.["minutes"])} minutes.\n`);
  }
  return exitCodes.done;
}
