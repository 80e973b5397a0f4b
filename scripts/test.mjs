// npm test: everything a change must pass, in the order in which failures are cheapest to read. Ends with one line
// `N passed, N failed`, where each check and each test counts.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { runTests } from "./run-tests.mjs";
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

function check(name, command, args) {
  const child = spawnSync(command, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  const ok = child.status === 0;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (ok) passed++;
  else failed++;
}

for (const [name, command, args] of checks) check(name, command, args);

const tests = runTests(process.argv.slice(2));
passed += tests.passed;
failed += tests.failed;
const { skipped } = tests;

console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failed === 0 ? 0 : 1);
