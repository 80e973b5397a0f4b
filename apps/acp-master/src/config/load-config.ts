// Reads and checks config.json. It reports every problem at once, and never half a configuration.
import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { type Node, type ParseError, getNodeValue, parseTree, printParseErrorCode } from "jsonc-parser";
import { errorCode } from "./error-code.ts";
import { type ConfigProblem, pathText, problemsOf, problemsText } from "./config-problem.ts";
import type * as z from "zod";
import { type AgentConfig, type ApprovalsConfig, type Config, type HelperConfig, configSchema } from "./schema.ts";

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[]; readonly message: string };

const largestFile = 1024 * 1024;

/** A missing file is the defaults. */
export function loadConfig(file: string): LoadedConfig {
  const read = readText(file);
  if (!read.ok) return failed([read.problem]);
  return checkConfig(file, read.text);
}

/** Checks a text as if it stood in `file`; relative paths in it start at that file's folder. */
export function checkConfig(file: string, text: string): LoadedConfig {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  if (tree === undefined || errors.length > 0) {
    if (text.trim() === "") {
      return failed([
        { file, path: "", found: "an empty file", allowed: "a JSON object, {} at the least, or no file" },
      ]);
    }
    return failed(errors.map((error) => syntaxProblem(file, text, error)));
  }
  const doubled = doubledKeys(tree, []).map((path) => ({
    file,
    path,
    found: "the same key twice",
    allowed: "each key once",
  }));
  const value: unknown = getNodeValue(tree);
  const checked = configSchema.safeParse(value);
  if (!checked.success) return failed([...doubled, ...problemsOf(file, value, checked.error.issues)]);
  if (doubled.length > 0) return failed(doubled);
  return { ok: true, config: resolved(checked.data, dirname(resolve(file))) };
}

function failed(problems: readonly ConfigProblem[]): LoadedConfig {
  return { ok: false, problems, message: problemsText(problems) };
}

function readText(file: string): { ok: true; text: string } | { ok: false; problem: ConfigProblem } {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return { ok: false, problem: { file, path: "", found: "no regular file", allowed: "a file" } };
    if (stat.size > largestFile) {
      return { ok: false, problem: { file, path: "", found: `${stat.size} bytes`, allowed: `${largestFile} bytes` } };
    }
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return { ok: true, text: "{}" };
    const found = code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "bytes that are not UTF-8" : `unreadable (${code})`;
    return { ok: false, problem: { file, path: "", found, allowed: "a readable file of UTF-8 text" } };
  }
}

function syntaxProblem(file: string, text: string, error: ParseError): ConfigProblem {
  const before = text.slice(0, error.offset).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return {
    file,
    path: `line ${before.length}, column ${column}`,
    found: spaced(printParseErrorCode(error.error)),
    allowed: "JSON, with comments and trailing commas if you like",
  };
}

/** "PropertyNameExpected" → "property name expected" */
function spaced(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

function doubledKeys(node: Node, path: readonly (string | number)[]): string[] {
  if (node.type === "array")
    return (node.children ?? []).flatMap((child, index) => doubledKeys(child, [...path, index]));
  if (node.type !== "object") return [];
  const seen = new Set<string>();
  return (node.children ?? []).flatMap((property) => {
    const [name, value] = property.children ?? [];
    if (typeof name?.value !== "string") return [];
    const at = [...path, name.value];
    const own = seen.has(name.value) ? [pathText(at)] : [];
    seen.add(name.value);
    return value === undefined ? own : [...own, ...doubledKeys(value, at)];
  });
}

type Written = z.output<typeof configSchema>;

function resolved(written: Written, folder: string): Config {
  const { $schema: _forEditors, agents, ...rest } = written;
  const general = {
    ...rest,
    helper: withAbsolutePaths(rest.helper, folder),
    console: withAbsoluteFiles(rest.console, folder),
  };
  // No prototype: a name such as "constructor", which a client may ask for, is not there unless it was configured.
  const resolvedAgents: Record<string, AgentConfig> = Object.create(null);
  for (const [name, agent] of Object.entries(agents)) resolvedAgents[name] = resolvedAgent(agent, general, folder);
  return { ...general, agents: resolvedAgents };
}

function resolvedAgent(
  { command, helper, approvals, ...agent }: Written["agents"][string],
  general: Pick<Config, "helper" | "approvals">,
  folder: string,
): AgentConfig {
  return {
    ...agent,
    ...(command === undefined ? {} : { command: fromFolder(command, folder) }),
    ...(helper === undefined ? {} : { helper: withAbsolutePaths(ownHelper(helper, general.helper), folder) }),
    ...(approvals === undefined ? {} : { approvals: ownApprovals(approvals, general.approvals) }),
  };
}

function ownHelper(own: NonNullable<Written["agents"][string]["helper"]>, general: HelperConfig): HelperConfig {
  return {
    use: own.use ?? general.use,
    isolation: own.isolation ?? general.isolation,
    decideSeconds: own.decideSeconds ?? general.decideSeconds,
    idleSeconds: own.idleSeconds ?? general.idleSeconds,
    tmux: own.tmux ?? general.tmux,
  };
}

function ownApprovals(
  own: NonNullable<Written["agents"][string]["approvals"]>,
  general: ApprovalsConfig,
): ApprovalsConfig {
  return {
    preset: own.preset ?? general.preset,
    timeoutSeconds: own.timeoutSeconds ?? general.timeoutSeconds,
    noClientSeconds: own.noClientSeconds ?? general.noClientSeconds,
  };
}

function withAbsolutePaths(helper: HelperConfig, folder: string): HelperConfig {
  if (typeof helper.use === "string") return helper;
  if ("module" in helper.use) return { ...helper, use: { module: resolve(folder, helper.use.module) } };
  const [program = "", ...args] = helper.use.command;
  return { ...helper, use: { command: [fromFolder(program, folder), ...args] } };
}

function withAbsoluteFiles(console: Config["console"], folder: string): Config["console"] {
  const { cert, key } = console.tls;
  if (cert === undefined || key === undefined) return console;
  return { ...console, tls: { cert: resolve(folder, cert), key: resolve(folder, key) } };
}

/** A bare name is looked up on PATH; a path that is not absolute would else depend on where the daemon was started. */
function fromFolder(program: string, folder: string): string {
  return !isAbsolute(program) && /[/\\]/.test(program) ? resolve(folder, program) : program;
}
