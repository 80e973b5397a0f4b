// How each agent wraps a shell command in a permission request. A wrapping is taken whole or not at all: one key more, one
// value of another type, and it is no wrapping. Titles, names and metadata are never looked at.
import type { Command, Shell } from "./invocation.ts";
import { isJsonObject } from "./strict-json.ts";

export interface Wrapped {
  readonly command: Command;
  /** The shell that reads the command where the wrapping itself says it; else the agent's own. */
  readonly shell?: Shell;
}

type RawInput = Readonly<Record<string, unknown>>;
type Check = (value: unknown, input: RawInput) => boolean;

interface Shape {
  readonly required: Readonly<Record<string, Check>>;
  readonly optional?: Readonly<Record<string, Check>>;
  readonly command: (input: RawInput) => Wrapped | undefined;
}

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isFalse: Check = (value) => value === false;
const isList: Check = (value) => Array.isArray(value);
const orNull =
  (check: Check): Check =>
  (value, input) =>
    value === null || check(value, input);
const isOneText: Check = (value) => isTexts(value) && value.length === 1;

const plain = (input: RawInput): Wrapped | undefined =>
  typeof input["command"] === "string" ? { command: input["command"] } : undefined;

const command: Shape = { required: { command: isText }, command: plain };

const copilot: Shape = {
  required: {
    command: isText,
    commands: (value, input) => isTexts(value) && value.length === 1 && value[0] === input["command"],
  },
  command: plain,
};

const cline: Shape = {
  required: { commands: isOneText },
  command: ({ commands }) => (isTexts(commands) && commands[0] !== undefined ? { command: commands[0] } : undefined),
};

const argumentList: Shape = {
  required: { command: (value) => isTexts(value) && value.length > 0 },
  command: ({ command: words }) => (isTexts(words) ? { command: words } : undefined),
};

const oldCodex: Shape = {
  required: { command: isLoginShell, call_id: isText, turn_id: isText, cwd: isText },
  optional: {
    started_at_ms: isNumber,
    reason: orNull(isText),
    parsed_cmd: isList,
    available_decisions: orNull(isList),
    proposed_execpolicy_amendment: orNull(isList),
  },
  command: ({ command: words }) =>
    isTexts(words) && words[2] !== undefined ? { command: words[2], shell: "sh" } : undefined,
};

const shapes: ReadonlyMap<string, readonly Shape[]> = new Map<string, readonly Shape[]>([
  ["copilot", [copilot]],
  ["codex", [{ required: { command: isText, cwd: isText }, command: plain }, oldCodex]],
  ["claude", [{ required: { command: isText }, optional: { description: isText, timeout: isNumber }, command: plain }]],
  ["opencode", [command]],
  [
    "qwen",
    [{ required: { command: isText, is_background: isFalse }, optional: { description: isText }, command: plain }],
  ],
  ["cline", [cline]],
  // These say nothing of the command in a request.
  ["gemini", []],
  ["pi", []],
]);

const unknownAgent: readonly Shape[] = [command, argumentList, copilot, cline];

/**
 * The command of a permission request, when it is wrapped as this agent wraps commands. `agent` is its name in the
 * configuration.
 *
 *     wrappedCommand("claude", "execute", { command: "ls", description: "lists" })  // { command: "ls" }
 */
export function wrappedCommand(agent: string, kind: unknown, rawInput: unknown): Wrapped | undefined {
  if (kind !== "execute" || !isJsonObject(rawInput)) return undefined;
  const shape = (shapes.get(agent) ?? unknownAgent).find((each) => fits(each, rawInput));
  return shape?.command(rawInput);
}

/** Every command that the input may hold, however it is wrapped: for the wide look only. */
export function possibleCommands(rawInput: unknown): readonly Command[] {
  if (typeof rawInput === "string") return [rawInput];
  if (!isJsonObject(rawInput)) return [];
  return ["command", "commands", "cmd", "script", "argv"].flatMap((key): readonly Command[] => {
    const value = rawInput[key];
    if (typeof value === "string") return [value];
    if (!Array.isArray(value)) return [];
    const texts = value.filter((entry) => typeof entry === "string");
    return key === "commands" ? texts : [texts];
  });
}

function fits({ required, optional = {} }: Shape, input: RawInput): boolean {
  const needed = Object.entries(required);
  return (
    needed.every(([key, check]) => Object.hasOwn(input, key) && check(input[key], input)) &&
    Object.entries(input).every(
      ([key, value]) =>
        Object.hasOwn(required, key) || (Object.hasOwn(optional, key) && optional[key]?.(value, input) === true),
    )
  );
}

function isLoginShell(value: unknown): boolean {
  return (
    isTexts(value) &&
    value.length === 3 &&
    /^\/(?:[^/]+\/)*(?:ba|da|z|k)?sh$/.test(value[0] ?? "") &&
    value[1] === "-lc"
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
