// Builds the packages with tsc -b, then each program into one file. Programs are listed here and nowhere else.
import { chmodSync, existsSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { bin, root, run } from "./workspace.mjs";

/** entry file -> bundle; `external` stays a run-time import. */
const programs = [
  { entry: "apps/acp-master/src/main.ts", out: "apps/acp-master/dist/acp-master.js", split: true },
  { entry: "examples/demo-agent/src/main.ts", out: "apps/acp-master/dist/demo-agent.js" },
  ...["ask", "deny-all", "presets", "policy-file", "run"].map((name) => ({
    entry: `packages/helper-sdk/src/entries/${name}.ts`,
    out: `apps/acp-master/dist/helper-${name}.js`,
  })),
  // What a Helper module gets when it imports the SDK by name.
  { entry: "packages/helper-sdk/src/index.ts", out: "apps/acp-master/dist/helper-sdk.js" },
  { entry: "packages/helper-sdk/src/entries/conformance.ts", out: "apps/acp-master/dist/acp-helper-conformance.js" },
];

/** Tests are type checked by `npm run typecheck`; a program must not fail to build over them. */
const projects = [
  "packages/wire",
  "packages/permission-core",
  "packages/helper-sdk",
  "examples/demo-agent",
  "apps/acp-master",
];

run(bin("tsc"), ["-b", ...projects]);

// The main program is split at its dynamic imports, so that `connect` loads the shim and nothing else.
const dist = join(root, "apps/acp-master/dist");
for (const name of existsSync(dist) ? readdirSync(dist) : []) {
  if (/^part-.*\.js(?:\.map)?$/.test(name)) rmSync(join(dist, name));
}

const { build } = createRequire(join(root, "package.json"))("esbuild");
await Promise.all(
  programs.map(async ({ entry, out, external = [], split = false }) => {
    const outfile = join(root, out);
    await build({
      entryPoints: [{ in: join(root, entry), out: basename(out, ".js") }],
      outdir: dirname(outfile),
      splitting: split,
      chunkNames: "part-[hash]",
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      external,
      sourcemap: true,
      logLevel: "warning",
      banner: {
        // Bundled CommonJS dependencies call require().
        js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
      },
    });
    chmodSync(outfile, 0o755);
  }),
);
