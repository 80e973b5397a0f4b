#!/usr/bin/env node
// Runs the built program. It is there before the first build, so that npx can link to it. `connect`, which editors start
// again and again, is one file without a module to load.
"use strict";
const { existsSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const dist = path.join(__dirname, "..", "apps", "acp-master", "dist");
const program = path.join(dist, "acp-master.js");
if (!existsSync(program)) {
  console.error("acp-master is not built yet. Run npm start, or npm run setup, in this checkout first.");
  process.exit(1);
}

const [command, ...args] = process.argv.slice(2);
const shim = command === "connect" ? require(path.join(dist, "connect.cjs")) : undefined;
const line = shim?.connectLine(args);
// Help and wrong lines are the whole program's.
if (line === undefined) void import(pathToFileURL(program).href);
else void shim.runShim(line).then((code) => process.exit(code));
