// The one place that knows how this workspace is installed and built. It runs before anything is installed,
// so it uses nothing but Node itself.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const stampFile = join(root, "node_modules", ".acp-master-setup");

/** Runs a command in the workspace; ends this process with the command's code when it fails. */
export function run(command, args, options = {}) {
  const child = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
    ...options,
  });
  if (child.error) {
    console.error(`Cannot run ${command}: ${child.error.message}`);
    process.exit(1);
  }
  if (child.status !== 0) process.exit(child.status ?? 1);
}

/** A program that the workspace installed. */
export const bin = (name) => join(root, "node_modules", ".bin", name);

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (["node_modules", "dist", ".git"].includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.(m?[jt]sx?|json|yaml|html|css|svg)$/.test(entry.name)) yield path;
  }
}

function digest(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    const stat = statSync(path);
    hash.update(`${relative(root, path)}\0${stat.mtimeMs}\0${stat.size}\n`);
  }
  return hash.digest("hex");
}

const manifests = () =>
  [...files(root)]
    .filter((path) => /(package\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml)$/.test(path))
    .toSorted((a, b) => (a < b ? -1 : 1));
const sources = () =>
  ["packages", "apps", "examples", "scripts"].flatMap((folder) => [...files(join(root, folder))]).toSorted(byText);

function readStamp() {
  if (!existsSync(stampFile)) return {};
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {}; // a torn stamp only means that the set-up runs again
  }
}

/** Installs what the lock file names, when it is not installed yet. */
export function ensureInstalled() {
  const wanted = digest(manifests());
  if (readStamp().manifests === wanted && existsSync(bin("tsc"))) return;
  const pnpm = manifest.packageManager;
  // CI=true keeps pnpm from asking questions where there is no terminal.
  run("npx", ["-y", pnpm, "install", "--frozen-lockfile"], { env: { ...process.env, CI: "true" } });
  writeStamp({ manifests: wanted });
}

/** Type checks and bundles, when a source file changed since the last build. */
export function ensureBuilt() {
  const wanted = digest(sources());
  if (readStamp().sources === wanted) return;
  run(process.execPath, [join(root, "scripts", "build.mjs")]);
  writeStamp({ ...readStamp(), sources: wanted });
}

function writeStamp(stamp) {
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, JSON.stringify(stamp));
}

/** Everything a fresh checkout needs before a program of it can run. */
export function ensureSetUp() {
  ensureInstalled();
  ensureBuilt();
}
