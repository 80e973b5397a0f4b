#!/usr/bin/env node
// Runs the built program. It is there before the first build, so that npx can link to it.
import { existsSync } from "node:fs";

const program = new URL("../apps/acp-master/dist/acp-propose.js", import.meta.url);
if (!existsSync(program)) {
  console.error("acp-propose is not built yet. Run npm start, or npm run setup, in this checkout first.");
  process.exit(1);
}
await import(program.href);
