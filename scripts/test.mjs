// npm test: everything a change must pass, in the order in which failures are cheapest to read. Ends with one line
// `N passed, N failed`, where each check and each test counts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, ensureSetUp, root } from "./workspace.mjs";

ensureSetUp();

const checks = [
  ["format", bin("prettier"), ["--check", "--log-level", "warn", "."]],
  ["lint", bin("oxlint"), ["--type-aware", "--quiet"]],
  ["types", bin("tsc"), ["-b"]],
  ["boundaries", process.execPath, [join("scripts", "check-boundaries.mjs"), "--check"]],
  ["ticket table", process.execPath, [join("scripts", "generate-ticket-table.mjs"), "--check"]],
  ["docs", process.execPath, [join("scripts", "check-docs.mjs")]],
];

let passed = 0;
let failed = 0;
let skipped = 0;

function check(name, command, args) {
  const child = spawnSync(command, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  const ok = child.status === 0;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (ok) passed++;
  else failed++;
}

for (const [name, command, args] of checks) check(name, command, args);

const folder = mkdtempSync(join(tmpdir(), "acp-master-report-"));
const report = join(folder, "report.json");
const vitest = spawnSync(
  bin("vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { cwd: root, stdio: "inherit", shell: process.platform === "win32" },
);
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, success } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  passed += numPassedTests;
  // A test file that cannot be loaded has no tests to count. What was skipped has said why.
  failed += Math.max(numFailedTests, success ? 0 : 1);
  skipped = numPendingTests + numTodoTests;
} catch (error) {
  console.error(`The test runner wrote no report: ${error.message}`);
  failed++;
}
rmSync(folder, { recursive: true, force: true });
if (vitest.status !== 0 && failed === 0) failed++;

console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed === 0 ? 0 : 1);
