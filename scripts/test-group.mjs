// npm run test:load, test:terminal, test:console [-- VITEST ARGUMENTS]: the end-to-end tests of one folder that take long
// or need a program of the system. Each folder says in its vitest.config.ts how it runs.
import { join } from "node:path";
import { installAgents } from "./install-agents.mjs";
import { runTests } from "./run-tests.mjs";
import { ensureSetUp, root } from "./workspace.mjs";

/** Agents from the npm registry that a group works with, by their short names. */
const agents = { terminal: ["codex"], console: ["codex"] };

const [group, ...rest] = process.argv.slice(2);
ensureSetUp();
if (agents[group]) installAgents(agents[group]);
const config = join(root, "test", group, "vitest.config.ts");
const { passed, failed } = runTests(["--config", config, ...rest]);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
