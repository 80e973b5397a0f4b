// `acp-helper-conformance -- COMMAND…`: runs the conformance cases against any Helper. Exits 0 when all pass, 1 when one
// fails, 2 when it was called wrongly.
import { runCases, showResults } from "../conformance/run-cases.ts";

const args = process.argv.slice(2);
const isJson = args[0] === "--json";
const rest = isJson ? args.slice(1) : args;
const command = rest[0] === "--" ? rest.slice(1) : rest;

if (command.length === 0 || command[0] === "--help") {
  process.stderr.write(
    "Usage: acp-helper-conformance [--json] -- COMMAND…\n\nStarts COMMAND afresh for each case and checks that it keeps the Helper protocol.\n",
  );
  process.exit(2);
}
const results = await runCases(command);
process.stdout.write(isJson ? `${JSON.stringify(results)}\n` : `${showResults(results)}\n`);
process.exitCode = results.some((result) => result.result === "fail") ? 1 : 0;
