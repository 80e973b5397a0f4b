// One line that says what a tool was given, for titles. It is shown to people and never judged.
import { isSet } from "./tool-kind.ts";

const longest = 80;
const cutMark = "...";

type Args = Readonly<Record<string, unknown>>;

const runners = ["exec", "run", "execute", "local_shell"];
const fileTools = ["read_file", "read_file_range", "write_file", "edit_file", "stat_file", "list_dir", "delete_file"];
const fetchers = ["fetch_url", "fetch", "http_get"];

/**
 * At most 80 code points on one line; empty when the arguments hold nothing to say.
 *
 *     argumentSummary("grep", { pattern: "TODO", path: "src" })  // "TODO in src"
 */
export function argumentSummary(toolName: string | undefined, args: Args | undefined): string {
  if (args === undefined) return "";
  const base = (toolName ?? "").slice((toolName ?? "").lastIndexOf(".") + 1);
  return oneLine(forTool(base, args) ?? firstText(args, ["path", "command", "url", "pattern"]) ?? "");
}

function forTool(base: string, args: Args): string | undefined {
  if (runners.includes(base)) return commandLine(args);
  if (fileTools.includes(base)) return text(args, "path");
  if (base === "grep") return patternInPath(args) ?? text(args, "pattern");
  if (base === "sed") return patternInPath(args) ?? text(args, "path");
  return fetchers.includes(base) ? text(args, "url") : undefined;
}

function commandLine(args: Args): string | undefined {
  const command = text(args, "command");
  if (command === undefined) return undefined;
  const given: unknown = args["args"];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return [command, ...list.filter((part) => typeof part === "string")].join(" ");
}

function patternInPath(args: Args): string | undefined {
  const pattern = text(args, "pattern");
  const path = text(args, "path");
  return pattern === undefined || path === undefined ? undefined : `${pattern} in ${path}`;
}

function firstText(args: Args, keys: readonly string[]): string | undefined {
  return keys.map((key) => text(args, key)).find((value) => value !== undefined);
}

function text(args: Args, key: string): string | undefined {
  const value = args[key];
  return typeof value === "string" && isSet(value) ? value : undefined;
}

function oneLine(summary: string): string {
  const line = summary.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/gu, " ").trim();
  const points = Array.from(line);
  if (points.length <= longest) return line;
  return points.slice(0, longest - cutMark.length).join("") + cutMark;
}
