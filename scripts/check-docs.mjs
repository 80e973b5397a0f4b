// Checks what documentation can be wrong about: links and paths that lead nowhere, commands that do not exist, a list of
// errors that differs from the code. `--root DIR` looks at another tree.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root as ownRoot } from "./workspace.mjs";

const argument = process.argv.indexOf("--root");
const root = argument < 0 ? ownRoot : process.argv[argument + 1];
const problems = [];

function* pages(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (["node_modules", "dist", ".git", ".agents"].includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* pages(path);
    else if (entry.name.endsWith(".md")) yield path;
  }
}

/** The commands that the program really has, from its own help. */
function commands() {
  const program = join(ownRoot, "apps", "acp-master", "dist", "acp-master.js");
  const help = execFileSync(process.execPath, [program, "--help"], { encoding: "utf8" });
  return new Set([...help.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name]) => name));
}

const known = commands();

for (const page of pages(root)) {
  const text = readFileSync(page, "utf8");
  const where = relative(root, page);
  const prose = text.replace(/```[\s\S]*?```/g, "");
  for (const [, link] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:|^#/.test(link)) continue;
    if (!existsSync(join(dirname(page), link.split("#")[0]))) problems.push(`${where}: the link ${link} leads nowhere`);
  }
  for (const [, path] of prose.matchAll(/`((?:apps|packages|scripts|docs|examples|test|bench)\/[A-Za-z0-9_./-]+)`/g)) {
    if (!existsSync(join(root, path))) problems.push(`${where}: names ${path}, which is not there`);
  }
  for (const [, fence] of text.matchAll(/```(?:sh|jsonc?|text)?\n([\s\S]*?)```/g)) {
    for (const [, command] of fence.matchAll(/(?:^|npx (?:--prefix \S+ )?|\$ )acp-master ([a-z]+)\b/gm)) {
      if (!known.has(command)) problems.push(`${where}: acp-master has no command "${command}"`);
    }
  }
}

const reasons = readFileSync(join(root, "apps/acp-master/src/protocol/reasons.ts"), "utf8");
const inCode = [...reasons.matchAll(/^ {2}([a-z_]+): (-\d+),$/gm)].map(([, reason, code]) => `${reason} ${code}`);
const errorsPage = readFileSync(join(root, "docs/errors.md"), "utf8");
const inDocs = [...errorsPage.matchAll(/^\| `([a-z_]+)`\s*\| (?:−|-)(\d+)\s*\|/gm)].map(
  ([, reason, code]) => `${reason} -${code}`,
);
for (const each of inCode) if (!inDocs.includes(each)) problems.push(`docs/errors.md: lacks "${each}"`);
for (const each of inDocs) if (!inCode.includes(each)) problems.push(`docs/errors.md: "${each}" is not in the code`);

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log("docs: links, paths, commands and errors are right");
