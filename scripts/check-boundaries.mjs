// Proves which package may import which. Reads every import of every source file, compares it with the table below, and
// writes the real graph into docs/architecture.md (`--check`: only compares). `--root DIR` looks at another tree.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { byText, root as ownRoot } from "./workspace.mjs";

/** What each part of the workspace may import of the workspace. Who is not here may not exist. */
const allowed = {
  "packages/wire": [],
  "packages/permission-core": [],
  "packages/proposal-channel": ["packages/permission-core", "packages/wire"],
  "packages/helper-sdk": ["packages/proposal-channel", "packages/permission-core", "packages/wire"],
  "apps/acp-master": ["packages/wire", "packages/permission-core"],
  "apps/acp-propose": ["packages/proposal-channel"],
  "apps/acp-console": ["packages/permission-core", "packages/helper-sdk"],
  "apps/terminal-helper": ["packages/helper-sdk", "packages/proposal-channel"],
  "examples/demo-agent": ["packages/permission-core"],
  "examples/helpers": ["packages/helper-sdk"],
};

/** Libraries that a part may not load, and why. */
const forbiddenLibraries = {
  "packages/wire": { pattern: /^[^.n]|^n(?!ode:)/, why: "wire depends on nothing but Node" },
  "packages/permission-core": {
    pattern: /^node:(?!util$)|^(?!@agentclientprotocol\/sdk$|zod$|diff$|node:|\.)/,
    why: "permission-core does no I/O and uses only zod, the ACP types and a diff library",
    except: ["build-request.ts", "unified-diff.ts"],
  },
};

/** The official SDK parses every update: in the daemon's own process it is a type or runs in a command of its own. */
const sdkAtRunTime = { "apps/acp-master": ["client", "commands", "host-client"] };

/** The words of a proposal's payload must not even be named here. */
const payloadWords = /\b(?:proposal|Proposal|payload|Payload)\w*/;

const argument = process.argv.indexOf("--root");
const root = argument < 0 ? ownRoot : process.argv[argument + 1];
const checkOnly = process.argv.includes("--check");
const problems = [];

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sourceFiles(path);
    else if (/\.(m?[jt]sx?)$/.test(entry.name) && !entry.name.endsWith(".d.ts")) yield path;
  }
}

function parts() {
  const found = new Map();
  for (const group of ["packages", "apps", "examples"]) {
    const folder = join(root, group);
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const manifest = join(folder, entry.name, "package.json");
      if (!existsSync(manifest)) continue;
      found.set(`${group}/${entry.name}`, JSON.parse(readFileSync(manifest, "utf8")));
    }
  }
  return found;
}

const all = parts();
const partOfName = new Map([...all].map(([part, manifest]) => [manifest.name, part]));

const importPattern =
  /(?:^|[;\n}])\s*(?:import|export)\s+(type\s+)?(?:[^"'`;]*?\sfrom\s+)?["']([^"']+)["']|\bimport\(\s*["'`]([^"'`]+)["'`]\s*\)|\brequire\(\s*["'`]([^"'`]+)["'`]\s*\)/g;

/** Every specifier of a file, with whether it is a type only. */
function importsOf(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(importPattern)].map(([, type, from, dynamic, required]) => ({
    specifier: from ?? dynamic ?? required,
    isType: type !== undefined,
  }));
}

/** The workspace part that a specifier leads into, if any. */
function target(part, file, specifier) {
  if (specifier.startsWith(".")) {
    const path = relative(root, join(file, "..", specifier)).split(sep);
    return path[0] === ".." ? undefined : path.slice(0, 2).join("/");
  }
  const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : specifier.split("/")[0];
  return partOfName.get(name);
}

const graph = new Map([...all.keys()].map((part) => [part, new Set()]));

for (const part of all.keys()) {
  const may = allowed[part];
  if (!may) {
    problems.push(`${part}: not in the table of scripts/check-boundaries.mjs; add it with what it may import`);
    continue;
  }
  const folders = ["src", "page"].map((name) => join(root, part, name)).filter((folder) => existsSync(folder));
  for (const file of folders.flatMap((folder) => [...sourceFiles(folder)])) {
    const text = readFileSync(file, "utf8");
    const where = relative(root, file);
    for (const { specifier, isType } of importsOf(text)) {
      const into = target(part, file, specifier);
      if (into !== undefined && into !== part) {
        graph.get(part).add(into);
        if (!may.includes(into)) {
          problems.push(
            `${where}: imports ${specifier} (${into}); ${part} may import ${may.join(", ") || "nothing of the workspace"}`,
          );
        }
      }
      const library = forbiddenLibraries[part];
      if (
        library &&
        into === undefined &&
        !library.except?.some((name) => file.endsWith(name)) &&
        library.pattern.test(specifier)
      ) {
        problems.push(`${where}: imports ${specifier}; ${library.why}`);
      }
      const runTime = sdkAtRunTime[part];
      if (runTime && !isType && specifier.startsWith("@agentclientprotocol/sdk")) {
        const concern = relative(join(root, part, "src"), file).split(sep)[0];
        if (!runTime.includes(concern)) {
          problems.push(`${where}: loads ${specifier} at run time; in ${part} only ${runTime.join(", ")} may`);
        }
      }
    }
    if (part === "packages/permission-core") {
      const word = payloadWords.exec(text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, ""));
      if (word) problems.push(`${where}: names ${word[0]}; permission-core knows no such thing`);
    }
  }
}

/** Everything that a part reaches. */
function closure(part, seen = new Set()) {
  for (const next of graph.get(part) ?? []) {
    if (seen.has(next)) continue;
    seen.add(next);
    closure(next, seen);
  }
  return [...seen].toSorted(byText);
}

if (all.has("apps/acp-master")) {
  const reached = closure("apps/acp-master").join(", ");
  const wanted = "packages/permission-core, packages/wire";
  if (reached !== wanted) problems.push(`apps/acp-master reaches {${reached}}; it must reach exactly {${wanted}}`);
}

const begin = "<!-- package graph: written by scripts/check-boundaries.mjs -->";
const end = "<!-- end of package graph -->";
const lines = [...graph]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([part, into]) => `${part} → ${[...into].toSorted(byText).join(", ") || "(nothing of the workspace)"}`);
const block = [begin, "", "```", ...lines, "```", "", end].join("\n");
const page = join(root, "docs", "architecture.md");
if (existsSync(page)) {
  const text = readFileSync(page, "utf8");
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) problems.push(`docs/architecture.md: has no place for the package graph (${begin})`);
  else {
    const next = text.slice(0, from) + block + text.slice(to + end.length);
    if (next !== text && checkOnly)
      problems.push("docs/architecture.md: its package graph is out of date; run npm run boundaries");
    else if (next !== text) writeFileSync(page, next);
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`${problems.length} boundary ${problems.length === 1 ? "problem" : "problems"}`);
  process.exit(1);
}
console.log(lines.join("\n"));
