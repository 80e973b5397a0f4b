// One thing that is wrong with config.json, in words for the person who wrote it. Values that may be secrets are never shown.
import type * as z from "zod";
import { shortened, visibleJson, visibleLine } from "../display/untrusted-text.ts";
import { configJsonSchema } from "./json-schema.ts";
import { nearestName } from "./nearest-name.ts";

export interface ConfigProblem {
  readonly file: string;
  /** The key's path, such as `agents.mine.args[0]`; `line 3, column 7` when the file is not JSON; empty for the file as a whole. */
  readonly path: string;
  /** What stands there: cut, and made printable. */
  readonly found: string;
  readonly allowed: string;
}

type Path = readonly PropertyKey[];

/** The problems of one failed check, one for each wrong key. */
export function problemsOf(file: string, value: unknown, issues: readonly z.core.$ZodIssue[]): ConfigProblem[] {
  return issues.flatMap((issue): ConfigProblem[] => {
    if (issue.code === "unrecognized_keys") {
      const known = knownKeys(issue.path);
      return issue.keys.map((key) => ({
        file,
        path: pathText([...issue.path, key]),
        found: "an unknown key",
        allowed: keysText(key, known),
      }));
    }
    if (issue.code === "invalid_key") {
      const name = String(issue.path.at(-1) ?? "");
      const allowed = issue.issues[0]?.message ?? "another name";
      return [{ file, path: pathText(issue.path.slice(0, -1)), found: `the name ${shown(name)}`, allowed }];
    }
    return [{ file, path: pathText(issue.path), found: foundText(value, issue.path), allowed: issue.message }];
  });
}

/** All problems as one text: what is wrong, where, and what is allowed. */
export function problemsText(problems: readonly ConfigProblem[]): string {
  return problems
    .map(
      ({ file, path, found, allowed }) =>
        `${file}: ${path === "" ? "" : `${path}: `}found ${found}; allowed: ${allowed}`,
    )
    .join("\n");
}

function keysText(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const list = known.join(", ");
  return nearest === undefined ? list : `${list} (did you mean "${nearest}"?)`;
}

export function pathText(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[$A-Za-z_][\w$-]*$/.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${shown(String(part))}]`;
  }
  return text;
}

function shown(value: unknown): string {
  return shortened(visibleLine(visibleJson(value)), 80);
}

/** Below `env`, in `args` and in a Helper's command a value may be a key or a token: its kind is enough to find the fault. */
function foundText(value: unknown, path: Path): string {
  let at = value;
  for (const part of path) at = typeof at === "object" && at !== null ? Reflect.get(at, part) : undefined;
  const mayBeSecret =
    path.includes("env") || path.includes("args") || (path.includes("use") && path.includes("command"));
  if (at === undefined) return "nothing";
  if (at === null || typeof at === "boolean") return String(at);
  if (mayBeSecret || typeof at === "object") return kindOf(at);
  return shown(at);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
}

/** The keys that the schema has at a path. */
function knownKeys(path: Path): string[] {
  let node: SchemaNode | undefined = configJsonSchema();
  for (const part of path) {
    const other: SchemaNode | boolean | undefined = node?.additionalProperties;
    node = node?.properties?.[String(part)] ?? (typeof other === "object" ? other : undefined);
  }
  return Object.keys(node?.properties ?? {});
}
