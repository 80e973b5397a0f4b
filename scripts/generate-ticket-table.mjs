// Writes docs/ticket-states.md from the built permission-core; with --check it only says whether the page is up to date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./workspace.mjs";

const page = join(root, "docs", "ticket-states.md");
const built = join(root, "packages", "permission-core", "dist", "index.js");

if (!existsSync(built)) {
  console.error(`${built} is missing. Run npm run build first.`);
  process.exit(1);
}
const { ticketTable } = await import(pathToFileURL(built).href);
const wanted = ticketTable();

if (!process.argv.includes("--check")) {
  writeFileSync(page, wanted);
} else if (!existsSync(page) || readFileSync(page, "utf8") !== wanted) {
  console.error("docs/ticket-states.md does not match the code. Run node scripts/generate-ticket-table.mjs.");
  process.exit(1);
}
