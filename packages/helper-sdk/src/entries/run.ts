// Runs a Helper from a module file: `run MODULE`. The module's default export is what `defineHelper` returned; it may
// import the SDK by its name although it is installed nowhere near.
import { register } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { problemOf, type HelperDefinition } from "../define-helper.ts";
import { runHelper } from "../run-helper.ts";
import { takeStandardOutput } from "../standard-output.ts";

const output = takeStandardOutput(); // before the module can print anything
const file = resolve(process.argv[2] ?? "");

// Used only where the module's own folder does not lead to the SDK.
const sdk = new URL("./helper-sdk.js", import.meta.url).href;
const loader = `export async function resolve(specifier, context, next) {
  if (specifier !== "@acp-master/helper-sdk") return next(specifier, context);
  try { return await next(specifier, context); } catch { return { url: ${JSON.stringify(sdk)}, shortCircuit: true }; }
}`;
register(`data:text/javascript,${encodeURIComponent(loader)}`);

const isHelper = (value: unknown): value is HelperDefinition => problemOf(value) === undefined;

try {
  const loaded: { readonly default?: unknown } = await import(pathToFileURL(file).href);
  const definition = loaded.default;
  if (!isHelper(definition)) throw new TypeError(`its default export is no Helper: ${problemOf(definition)}`);
  await runHelper(definition, { input: process.stdin, output });
  process.exit();
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The Helper module ${file} cannot be used: ${reason}\n`);
  process.exit(1);
}
