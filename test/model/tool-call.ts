// From "run this", "write that" to a call of whatever tool the agent has for it.
import type { Schema, Tool } from "./conversation.ts";
import type { ToolStep } from "./plan.ts";

export interface ToolCall {
  readonly name: string;
  /** An object, or text for a free-form tool. */
  readonly input: object | string;
  readonly freeForm: boolean;
  readonly namespace: string | undefined;
}

const shells = ["run_shell_command", "exec_command", "shell_command", "shell", "Bash", "bash", "local_shell"];
const writers = ["write_file", "Write", "write", "create_file", "apply_patch"];

/** Undefined when the agent offers nothing that fits. */
export function callFor(step: ToolStep, tools: readonly Tool[]): ToolCall | undefined {
  const names = step[0] === "run" ? shells : writers;
  const tool = names.map((name) => tools.find((one) => one.name === name)).find((one) => one !== undefined);
  if (tool === undefined) return undefined;
  return {
    name: tool.name,
    input: step[0] === "run" ? runInput(tool, step[1]) : writeInput(tool, step[1], step[2]),
    freeForm: tool.freeForm ?? false,
    namespace: tool.namespace,
  };
}

function runInput(tool: Tool, command: string): object {
  const isList = tool.schema.properties?.command?.type === "array";
  return fill(tool.schema, {
    command: isList ? ["bash", "-lc", command] : command,
    cmd: command,
    description: "Asked by the test",
    justification: "Asked by the test",
    sandbox_permissions: "require_escalated",
    with_escalated_permissions: true,
    is_background: false,
  });
}

function writeInput(tool: Tool, path: string, content: string): object | string {
  if (tool.name !== "apply_patch") {
    return fill(tool.schema, { file_path: path, filePath: path, path, absolute_path: path, content });
  }
  const lines = content.split("\n").map((line) => `+${line}`);
  const patch = ["*** Begin Patch", `*** Add File: ${path}`, ...lines, "*** End Patch", ""].join("\n");
  return tool.freeForm ? patch : fill(tool.schema, { input: patch, patch });
}

/** Of the values those that the schema knows, and something fitting for what it requires besides. */
export function fill(schema: Schema, values: Readonly<Record<string, unknown>>): object {
  const properties = schema.properties ?? {};
  const known = Object.entries(values).filter(([key]) => key in properties);
  const missing = (schema.required ?? [])
    .filter((key) => !(key in values))
    .map((key) => [key, anything(properties[key] ?? {})] as const);
  return Object.fromEntries([...known, ...missing]);
}

function anything(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  switch (typeof schema.type === "string" ? schema.type : schema.type?.[0]) {
    case "boolean":
      return false;
    case "integer":
    case "number":
      return 1;
    case "array":
      return [];
    case "object":
      return fill(schema, {});
    default:
      return "test";
  }
}
