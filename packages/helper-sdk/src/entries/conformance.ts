// `acp-helper-conformance -- COMMAND…`: runs the conformance cases against any Helper. Exits 0 when all pass, 1 when one
// fails, 2 when it was called wrongly.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runCases, showResults } from "../conformance/run-cases.ts";

const args = process.argv.slice(2);
const isJson = args[0] === "--json";
const rest = isJson ? args.slice(1) : args;
const given = rest[0] === "--" ? rest.slice(1) : rest;
// A module, as `helper.use` names it, is run as the daemon runs it.
const isModule = given.length === 1 && /\.m?js$/.test(given[0] ?? "");
const runner = fileURLToPath(new URL("./helper-run.js", import.meta.url));
const command = isModule ? [process.execPath, runner, resolve(given[0] ?? "")] : given;

if (command.length === 0 || command[0] === "--help") {
  process.stderr.write(
    "Usage: acp-helper-conformance [--json] -- COMMAND… | MODULE.js\n\nStarts COMMAND (or the module, as the daemon would) afresh for each case and checks that it keeps the Helper protocol.\n",
  );
  process.exit(2);
}
const results = await runCases(command);
process.stdout.write(isJson ? `${JSON.stringify(results)}\n` : `${showResults(results)}\n`);
process.exitCode = results.some((result) => result.result === "fail") ? 1 : 0;
