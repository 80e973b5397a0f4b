// Installs the agents and clients of test/agents/packages.json, each in a folder of its own under .agents/. Nothing of
// them is committed, none of their scripts is run.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./workspace.mjs";

const packages = JSON.parse(readFileSync(join(root, "test", "agents", "packages.json"), "utf8"));
const npmInstall = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--save-exact"];

/** All of them, or those with these short names. Ends this process when one cannot be installed. */
export function installAgents(wanted) {
  for (const one of packages) if (wanted?.includes(one.what) ?? true) install(one);
}

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
    console.error("Check that the npm registry can be reached, then run the same command again.");
    process.exit(1);
  }
  writeFileSync(done, "");
}
