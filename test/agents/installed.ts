// Where `npm run test:agents` has put the programs of the npm registry.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../harness/program.ts";

const packages: readonly { name: string; version: string }[] = JSON.parse(
  readFileSync(new URL("./packages.json", import.meta.url), "utf8"),
);

/** A file inside an installed package (or, with `dependency`, inside one that came with it). */
export function installed(name: string, file: string, dependency = name): string {
  const version = packages.find((one) => one.name === name)?.version;
  const folder = `${name.replace(/^@/, "").replace("/", "+")}@${version}`;
  const path = join(repositoryRoot, ".agents", folder, "node_modules", dependency, file);
  if (!existsSync(path)) throw new Error(`${path} is missing. npm run test:agents installs it.`);
  return path;
}
