// The program as it is shipped, one file, built from the sources into a folder of its own.
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Metafile, build } from "esbuild";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface BuiltProgram {
  readonly folder: string;
  readonly path: string;
  readonly metafile: Metafile;
}

export async function buildProgram(): Promise<BuiltProgram> {
  const folder = mkdtempSync(join(tmpdir(), "propose-"));
  const path = join(folder, "acp-propose.mjs");
  const { metafile } = await build({
    entryPoints: [here("../src/main.ts")],
    alias: { "@acp-master/proposal-channel": here("../../../packages/proposal-channel/src/index.ts") },
    // Found only if something reaches for it, which is what a test looks for.
    external: ["@acp-master/permission-core"],
    outfile: path,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    metafile: true,
    logLevel: "silent",
    banner: { js: "#!/usr/bin/env node" },
  });
  chmodSync(path, 0o755);
  return { folder, path, metafile };
}
