// Runs vitest and counts. Tests that fail are run once more, their file alone on a quiet machine: what passes then is named as
// unsteady, so that a busy machine does not stop a change and nobody overlooks a race. More than a handful is a failure.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { bin, root } from "./workspace.mjs";

const MOST_UNSTEADY = 3;

/** `{passed, failed, skipped}`: numbers of tests. Prints what it runs; a run without a report is one failure. */
export function runTests(args, env = process.env) {
  const first = vitest(args, env);
  const again = first.failedFiles;
  if (again.length === 0 || first.failed > MOST_UNSTEADY) return counts(first);
  console.log(`\nOnce more, alone: ${again.join(", ")}`);
  const second = vitest([...optionsOf(args), ...again, "--maxWorkers=1"], env);
  if (second.failed > 0) return counts(first);
  for (const name of first.failedTests) console.log(`UNSTEADY ${name} failed, and passed when its file ran alone`);
  return { ...counts(first), passed: first.passed + first.failed, failed: 0 };
}

const counts = ({ passed, failed, skipped }) => ({ passed, failed, skipped });

/** Options as vitest takes them; file names and `-t PATTERN` of the first run do not belong to the second. */
function optionsOf(args) {
  const config = args.indexOf("--config");
  return config === -1 ? [] : args.slice(config, config + 2);
}

function vitest(args, env) {
  const folder = mkdtempSync(join(tmpdir(), "acp-master-report-"));
  const file = join(folder, "report.json");
  const { status } = spawnSync(
    bin("vitest"),
    ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...args],
    { cwd: root, stdio: "inherit", shell: process.platform === "win32", env },
  );
  try {
    return readReport(JSON.parse(readFileSync(file, "utf8")), status);
  } catch (error) {
    console.error(`The test runner wrote no report: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0, failedFiles: [], failedTests: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(report, status) {
  const failedFiles = report.testResults.filter((one) => one.status !== "passed");
  const failedTests = failedFiles.flatMap((one) =>
    one.assertionResults.filter((test) => test.status === "failed").map((test) => test.fullName),
  );
  return {
    passed: report.numPassedTests,
    // A test file that cannot be loaded, and an error outside of every test, have no test to count.
    failed: Math.max(report.numFailedTests, failedFiles.length, status === 0 ? 0 : 1),
    // What was skipped has said why.
    skipped: report.numPendingTests + report.numTodoTests,
    failedFiles: failedFiles.map((one) => relative(root, one.name)),
    failedTests,
  };
}
