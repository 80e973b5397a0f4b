// Builds the console's page with Vite: index.html, hashed assets, and beside each of them what a browser can take compressed.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { root } from "./workspace.mjs";

const page = join(root, "apps/acp-console/page");
const require = createRequire(join(page, "index.html"));

/** Libraries that are written for React run on Preact. */
const alias = [
  { find: "react/jsx-runtime", replacement: "preact/jsx-runtime" },
  { find: /^react(?:-dom)?$/, replacement: "preact/compat" },
];

export async function buildPage(outDir) {
  const { build } = await import(pathToFileURL(require.resolve("vite")).href);
  await build({
    root: page,
    configFile: false,
    logLevel: "warn",
    // Without the condition "browser": what the Markdown parser takes there decodes entities through innerHTML, which the
    // page's content security policy forbids.
    resolve: { alias, conditions: ["module", "production"] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir,
      emptyOutDir: true,
      target: ["chrome125", "firefox128", "safari17.5"],
      // Nothing inline: the page's content security policy forbids it.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        checks: { pluginTimings: false },
        // "use client" at the head of a library means nothing here.
        onLog: (level, log, report) => log.code === "MODULE_LEVEL_DIRECTIVE" || report(level, log),
      },
    },
  });
  await compressed(outDir);
}

async function compressed(folder) {
  const texts = readdirSync(folder, { recursive: true }).filter((name) => /\.(?:html|css|js|svg)$/.test(name));
  await Promise.all(
    texts.map(async (name) => {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      const [brotli, zipped] = await Promise.all([
        promisify(brotliCompress)(bytes),
        promisify(gzip)(bytes, { level: 9 }),
      ]);
      writeFileSync(`${path}.br`, brotli);
      writeFileSync(`${path}.gz`, zipped);
    }),
  );
}
