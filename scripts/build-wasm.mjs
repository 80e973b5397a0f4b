// npm run wasm: makes packages/wire/src/string-end-code.ts of its source in AssemblyScript. The result is kept in the
// repository, so that neither a build nor a user needs the compiler; with --check it is only compared.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "assemblyscript/asc";
import { format, resolveConfig } from "prettier";
import { root } from "./workspace.mjs";

const source = "string-end.as.ts";
const target = join(root, "packages/wire/src/string-end-code.ts");
const options = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd"];
/** One page of text, and nothing else in memory. */
const memory = ["--memoryBase", "65536", "--initialMemory", "1", "--maximumMemory", "1"];

/** The text of the module that holds the compiled code. */
export async function compiled() {
  let code;
  const said = [];
  const { error } = await main([source, ...options, ...memory, "--outFile", "code"], {
    readFile: (name, folder) => {
      try {
        return readFileSync(join(root, "packages/wire/wasm", folder, name), "utf8");
      } catch {
        return null;
      }
    },
    writeFile: (_, contents) => {
      code = Buffer.from(contents);
    },
    listFiles: () => [],
    stderr: { write: (text) => void said.push(text) },
  });
  if (error !== null || code === undefined) throw new Error(`${source} does not compile: ${said.join("")}`);
  const lines = code.toString("base64").match(/.{1,110}/g);
  const text = [
    "// Made by scripts/build-wasm.mjs of ../wasm/string-end.as.ts; npm run wasm makes it again.",
    "export const STRING_END_CODE =",
    `${lines.map((line) => `"${line}"`).join(" +\n")};`,
  ].join("\n");
  return await format(text, { ...(await resolveConfig(target)), filepath: target });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await compiled();
  if (!process.argv.includes("--check")) writeFileSync(target, text);
  else if (readFileSync(target, "utf8") !== text) {
    console.error(`packages/wire/src/string-end-code.ts is not what ${source} says. Run: npm run wasm`);
    process.exit(1);
  }
}
