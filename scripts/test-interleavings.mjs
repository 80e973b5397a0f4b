// npm run test:interleavings [COUNT]: random stories about permissions through the whole daemon, 2,000 unless a number says
// otherwise. SEED=… tells the stories of an earlier run again.
import { spawnSync } from "node:child_process";
import { bin, ensureSetUp, root } from "./workspace.mjs";

ensureSetUp();

const count = process.argv[2] ?? "2000";
if (!/^[1-9]\d{0,6}$/.test(count)) {
  console.error(`"${count}" is no number of stories. Run npm run test:interleavings 2000.`);
  process.exit(2);
}
const { status } = spawnSync(bin("vitest"), ["run", "test/permissions/interleavings.test.ts"], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, INTERLEAVINGS: count },
});
process.exit(status ?? 1);
