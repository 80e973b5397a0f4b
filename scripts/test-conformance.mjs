// npm run test:conformance: every conformance case against every Helper that is broken on purpose; npm test takes each Helper's own.
import { join } from "node:path";
import { runTests } from "./run-tests.mjs";
import { ensureSetUp } from "./workspace.mjs";

ensureSetUp();
const folder = join("packages", "helper-sdk", "test", "conformance");
const { passed, failed } = runTests([folder], { ...process.env, CONFORMANCE_FULL: "1" });
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
