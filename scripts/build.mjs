// Builds the packages with tsc -b, then each program into one file. Programs are listed here and nowhere else.
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { buildPage } from "./build-page.mjs";
import { bin, root, run } from "./workspace.mjs";

/**
 * Each entry file becomes one program in apps/acp-master/dist. `split`: at its dynamic imports, so that a command loads what it
 * needs. `plain`: as CommonJS, for a start without the module loader.
 */
const programs = [
  { entry: "apps/acp-master/src/main.ts", out: "acp-master", split: true },
  { entry: "apps/acp-master/src/shim/main.ts", out: "connect", plain: true },
  { entry: "apps/acp-propose/src/main.ts", out: "acp-propose" },
  { entry: "apps/acp-console/src/main.ts", out: "acp-console" },
  { entry: "apps/acp-master/src/host-client/main.ts", out: "host-client" },
  { entry: "examples/demo-agent/src/main.ts", out: "demo-agent" },
  ...["ask", "deny-all", "presets", "policy-file", "run"].map((name) => ({
    entry: `packages/helper-sdk/src/entries/${name}.ts`,
    out: `helper-${name}`,
  })),
  { entry: "apps/terminal-helper/src/main.ts", out: "helper-terminal" },
  // What a Helper module gets when it imports the SDK by name.
  { entry: "packages/helper-sdk/src/index.ts", out: "helper-sdk" },
  { entry: "packages/helper-sdk/src/entries/conformance.ts", out: "acp-helper-conformance" },
];

/** Tests are type checked by `npm run typecheck`; a program must not fail to build over them. */
const projects = [
  "packages/wire",
  "packages/permission-core",
  "packages/proposal-channel",
  "packages/helper-sdk",
  "examples/demo-agent",
  "apps/acp-master",
  "apps/acp-propose",
  "apps/terminal-helper",
  "apps/acp-console",
  "apps/acp-console/page",
];

run(bin("tsc"), ["-b", ...projects]);

const isPart = (name) => name.startsWith("part-");

const { build } = createRequire(join(root, "package.json"))("esbuild");
// Built aside and moved into place, parts before the programs that name them: who runs a program meanwhile gets a whole one.
const dist = join(root, "apps/acp-master/dist");
const aside = join(dist, `.building-${process.pid}`);
try {
  await Promise.all([
    buildPage(join(aside, "console")),
    ...programs.map(({ entry, out, split = false, plain = false }) =>
      build({
        entryPoints: [{ in: join(root, entry), out }],
        outdir: aside,
        splitting: split,
        chunkNames: "part-[hash]",
        bundle: true,
        platform: "node",
        format: plain ? "cjs" : "esm",
        outExtension: { ".js": plain ? ".cjs" : ".js" },
        target: "node20",
        sourcemap: true,
        logLevel: "warning",
        // Bundled CommonJS dependencies call require().
        banner: plain
          ? {}
          : {
              js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
            },
      }),
    ),
  ]);
  const built = readdirSync(aside).toSorted((a, b) => Number(isPart(b)) - Number(isPart(a)));
  for (const name of built.filter((name) => name !== "console")) {
    if (name.endsWith(".js") && !isPart(name)) chmodSync(join(aside, name), 0o755);
    renameSync(join(aside, name), join(dist, name));
  }
  removeOldParts(new Set(built));
  replacePage(join(aside, "console"), join(dist, "console"));
} finally {
  rmSync(aside, { recursive: true, force: true });
}

/** A daemon of the build before may still load its parts; after an hour it has what it needs. */
function removeOldParts(current) {
  for (const name of readdirSync(dist)) {
    const path = join(dist, name);
    if (!isPart(name) || current.has(name)) continue;
    if (Date.now() - statSync(path).mtimeMs > 3600_000) rmSync(path);
  }
}

/** A console reads the whole folder when it starts: what index.html names has to be there before it. */
function replacePage(from, to) {
  mkdirSync(join(to, "assets"), { recursive: true });
  const current = pageFiles(from);
  for (const name of current) renameSync(join(from, name), join(to, name));
  for (const name of pageFiles(to)) if (!current.includes(name)) rmSync(join(to, name));
}

/** Relative names, index.html and its compressed forms last. */
function pageFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted((a, b) => Number(a.startsWith("index.html")) - Number(b.startsWith("index.html")));
}
