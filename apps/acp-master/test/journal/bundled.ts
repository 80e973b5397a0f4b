// A fixture program as one file that node can run.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

export function bundled(name: string, folder: string): string {
  const outfile = join(folder, `${name}.mjs`);
  const wire = fileURLToPath(new URL("../../../../packages/wire/src/index.ts", import.meta.url));
  buildSync({
    entryPoints: [fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    alias: { "@acp-master/wire": wire },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return outfile;
}
