// npm run test:agents [-- VITEST ARGUMENTS]: installs the agents and clients of test/agents/packages.json, each in a
// folder of its own under .agents/, and runs test/agents. Nothing of them is committed, none of their scripts is run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTests } from "./run-tests.mjs";
import { ensureSetUp, root } from "./workspace.mjs";

const packages = JSON.parse(readFileSync(join(root, "test", "agents", "packages.json"), "utf8"));
const npmInstall = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--save-exact"];

/** Installs one package, unless this very version is there. Tells why when it cannot. */
function install({ name, version, what }) {
  const folder = join(root, ".agents", `${name.replace(/^@/, "").replace("/", "+")}@${version}`);
  // Written last: a broken install is done again.
  const done = join(folder, "installed");
  if (existsSync(done)) return console.log(`${name} ${version} (${what}): is there`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  console.log(`${name} ${version} (${what}): installing`);
  const npm = spawnSync("npm", [...npmInstall, `${name}@${version}`], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) {
    console.error(`npm could not install ${name}@${version}:\n${npm.error?.message ?? npm.stderr}`);
    console.error("Check that the npm registry can be reached, then run npm run test:agents again.");
    process.exit(1);
  }
  writeFileSync(done, "");
}

ensureSetUp();
for (const one of packages) install(one);
const config = join(root, "test", "agents", "vitest.config.ts");
const { passed, failed } = runTests(["--config", config, ...process.argv.slice(2)]);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
