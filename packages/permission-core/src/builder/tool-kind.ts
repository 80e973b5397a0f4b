// The ACP kind of a tool, from its names alone. It reads no title and no arguments.
import type { ToolKind } from "@agentclientprotocol/sdk";

/** `toolsName` is a namespace, `toolName` the tool in it. */
export interface ToolNames {
  readonly toolsName?: string | undefined;
  readonly toolName?: string | undefined;
}

type Rule = readonly [words: readonly string[], kind: ToolKind];

const inLocalFs: readonly Rule[] = [
  [["read", "list", "grep", "find", "stat"], "read"],
  [["write", "sed", "edit", "patch"], "edit"],
  [["move", "rename"], "move"],
  [["delete", "rm"], "delete"],
];

const byFirstWord: readonly Rule[] = [
  [["read", "stat", "list", "grep", "find"], "read"],
  [["write", "edit", "patch"], "edit"],
  [["delete", "remove"], "delete"],
  [["move", "rename"], "move"],
  [["fetch", "http"], "fetch"],
];

const byWholeName: Readonly<Record<string, ToolKind>> = { sed: "edit", rm: "delete" };

/**
 * The first rule that fits wins; a name that fits none is `other`.
 *
 *     toolKind({ toolsName: "local_fs", toolName: "write_file" })  // "edit"
 */
export function toolKind({ toolsName, toolName }: ToolNames): ToolKind {
  if (toolsName === "local_shell") return "execute";
  if (toolsName === "webtools") return "fetch";
  if (toolsName === "local_fs") {
    // A "remove" is no "move", though it contains one.
    const name = (toolName ?? "").replaceAll("remove", "delete");
    return firstFit(inLocalFs, (word) => name.includes(word)) ?? "edit";
  }
  const name = isSet(toolName) ? toolName : (toolsName ?? "");
  const base = name.slice(name.indexOf(".") + 1);
  const kind =
    (Object.hasOwn(byWholeName, base) ? byWholeName[base] : undefined) ??
    firstFit(byFirstWord, (word) => base.startsWith(word));
  if (kind !== undefined) return kind;
  const runs = name.startsWith("local_shell.") || base.startsWith("exec") || base.startsWith("run");
  return runs ? "execute" : "other";
}

function firstFit(rules: readonly Rule[], fits: (word: string) => boolean): ToolKind | undefined {
  return rules.find(([words]) => words.some(fits))?.[1];
}

/** Whether a text is there and not blank. */
export function isSet(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}
