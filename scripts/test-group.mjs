// npm run test:load, test:terminal, test:console [-- VITEST ARGUMENTS]: the end-to-end tests of one folder that take long
// or need a program of the system. Each folder says in its vitest.config.ts how it runs.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { bin, ensureSetUp, root } from "./workspace.mjs";

const [group, ...rest] = process.argv.slice(2);
ensureSetUp();
const config = join(root, "test", group, "vitest.config.ts");
const { status } = spawnSync(bin("vitest"), ["run", "--config", config, ...rest], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
});
process.exit(status ?? 1);
