// `acp-master config check|schema|path`: the configuration file without a daemon. It changes nothing.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { resolvePlaces } from "../config/places.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { visibleLine, visibleLines } from "../display/untrusted-text.ts";
import { examples, finish } from "./finish.ts";

export function registerConfig(program: Command): void {
  const config = program.command("config").description("check the configuration, print its JSON Schema or its path");
  config
    .command("check [file]")
    .description("check the configuration file; every wrong key is named with what is allowed")
    .addHelpText("after", examples("acp-master config check", "acp-master config check ./config.json"))
    .action(finish(check));
  config
    .command("schema")
    .description("print the JSON Schema of the configuration, for editors")
    .addHelpText("after", examples("acp-master config schema > acp-master.schema.json"))
    .action(finish(schema));
  config.command("path").description("print where the configuration file is").action(finish(path));
}

async function check(file?: string): Promise<ExitCode> {
  const { loadConfig } = await import("../config/load-config.ts");
  const configFile = file === undefined ? resolvePlaces(process.env).configFile : resolve(file);
  const present = existsSync(configFile);
  const loaded = loadConfig(configFile);
  if (!present && file !== undefined) {
    process.stderr.write(`acp-master: there is no file ${visibleLine(configFile)}. Name a file that exists.\n`);
    return exitCodes.failed;
  }
  if (loaded.ok) {
    process.stdout.write(`ok  ${visibleLine(configFile)}${present ? "" : " (not there: the defaults are used)"}\n`);
    return exitCodes.done;
  }
  process.stderr.write(
    `${visibleLines(loaded.message).trimEnd()}\nCorrect the file and run \`acp-master config check\` again.\n`,
  );
  return exitCodes.failed;
}

async function schema(): Promise<ExitCode> {
  const { configJsonSchema } = await import("../config/json-schema.ts");
  process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  return exitCodes.done;
}

function path(): ExitCode {
  process.stdout.write(`${resolvePlaces(process.env).configFile}\n`);
  return exitCodes.done;
}
