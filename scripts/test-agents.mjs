// npm run test:agents [-- VITEST ARGUMENTS]: installs the agents and clients that test/agents needs and runs it.
import { join } from "node:path";
import { installAgents } from "./install-agents.mjs";
import { runTests } from "./run-tests.mjs";
import { ensureSetUp, root } from "./workspace.mjs";

ensureSetUp();
installAgents();
const config = join(root, "test", "agents", "vitest.config.ts");
const { passed, failed } = runTests(["--config", config, ...process.argv.slice(2)]);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
