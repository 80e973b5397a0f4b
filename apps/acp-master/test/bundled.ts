// A fixture program as one file that node can run.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

/** `base` is the test's own address; the fixture lies in the folder `fixtures` beside it. Gives the path of the program. */
export function bundled(base: string, fixture: string, folder: string): string {
  const outfile = join(folder, `${fixture}.mjs`);
  const wire = fileURLToPath(new URL("../../../packages/wire/src/index.ts", import.meta.url));
  buildSync({
    entryPoints: [fileURLToPath(new URL(`fixtures/${fixture}.ts`, base))],
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
