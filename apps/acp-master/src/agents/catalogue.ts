// Every agent that can be asked for here, and whether it could start. It looks for files and never runs one.
import type { AgentConfig } from "../config/schema.ts";
import { definitionDigest } from "./agent-definition.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { findExecutable, searchPath } from "./find-executable.ts";
import { knownAgents } from "./known-agents.ts";
import type { KnownAgent } from "./known-agents.ts";

export interface CatalogueEntry {
  readonly name: string;
  readonly source: "config" | "known" | "built_in";
  readonly ready: boolean;
  /** The program and its arguments as one line for people. */
  readonly command: string;
  readonly how: "path" | "npx" | "config";
  /** What to do when it is not ready, or what to expect when it is. */
  readonly why?: string;
  readonly definition: AgentDefinition;
  readonly digest: string;
}

/** What people and programs are shown of it. */
export type AgentRow = Pick<CatalogueEntry, "name" | "source" | "ready" | "how" | "command" | "why">;

export function agentRow({ name, source, ready, how, command, why }: CatalogueEntry): AgentRow {
  return { name, source, ready, how, command, ...(why === undefined ? {} : { why }) };
}

export interface CatalogueOptions {
  readonly agents: Readonly<Record<string, AgentConfig>>;
  /** The file of the demo agent that ships with the product. */
  readonly demoAgent: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  readonly nodeVersion?: string;
}

/** By name, sorted; entries of the configuration win over known agents of the same name. */
export function resolveAgents(options: CatalogueOptions): ReadonlyMap<string, CatalogueEntry> {
  const entries = new Map<string, CatalogueEntry>();
  for (const agent of knownAgents()) entries.set(agent.name, resolveKnown(agent, options));
  entries.set("demo", resolveDemo(options));
  for (const [name, config] of Object.entries(options.agents)) {
    entries.set(name, resolveConfigured(name, config, entries.get(name), options));
  }
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Start = Pick<CatalogueEntry, "ready" | "how"> & {
  readonly command: string;
  readonly args: readonly string[];
  readonly why?: string;
};

function resolveKnown(agent: KnownAgent, options: CatalogueOptions): CatalogueEntry {
  return entry(agent.name, "known", startOf(agent, options));
}

function startOf(agent: KnownAgent, options: CatalogueOptions): Start {
  const path = { command: agent.command, args: agent.args, how: "path" } as const;
  const notReady = (why: string): Start => ({ ...path, ready: false, why });
  const needed = [agent.command, ...(agent.needs === undefined ? [] : [agent.needs])];
  const missing = needed.filter((command) => findExecutable(command, options) === undefined);
  if (missing.length === 0) return { ...path, ready: true };
  const lacks = `${missing.join(" and ")} not found on PATH`;
  if (agent.packages === undefined) return notReady(`${lacks}: ${agent.install}`);
  if (agent.node !== undefined && !isAtLeast(options.nodeVersion ?? process.versions.node, agent.node)) {
    return notReady(
      `${lacks}, and it needs Node ${agent.node.join(".")} or newer: install that, then ${agent.install}`,
    );
  }
  if (findExecutable("npx", options) === undefined) {
    return notReady(`${lacks}, and no npx to fetch it: install Node.js with npm, then ${agent.install}`);
  }
  const why = `${lacks}; npx downloads it at the first use. To avoid that, ${agent.install}`;
  return { command: "npx", args: npxArguments(agent, agent.packages), how: "npx", ready: true, why };
}

function npxArguments(agent: KnownAgent, packages: readonly string[]): string[] {
  const [only, ...others] = packages;
  if (only !== undefined && others.length === 0) return ["-y", only, ...agent.args];
  return ["-y", ...packages.flatMap((name) => ["-p", name]), agent.command, ...agent.args];
}

function resolveDemo(options: CatalogueOptions): CatalogueEntry {
  const start = { command: process.execPath, args: [options.demoAgent], how: "path" } as const;
  return entry("demo", "built_in", { ...start, ready: true });
}

function resolveConfigured(
  name: string,
  config: AgentConfig,
  other: CatalogueEntry | undefined,
  options: CatalogueOptions,
): CatalogueEntry {
  if (config.command === undefined) {
    if (other === undefined) {
      const why = `no agent of this name is known: give agents.${name}.command in the configuration`;
      return entry(name, "config", { command: "", args: config.args, how: "config", ready: false, why }, config);
    }
    const { command, args } = other.definition;
    return entry(name, "config", { ...other, command, args: [...args, ...config.args] }, config);
  }
  const start = { command: config.command, args: config.args, how: "config" } as const;
  const environment = { ...options.environment, ...config.env };
  if (findExecutable(config.command, { ...options, environment }) !== undefined) {
    return entry(name, "config", { ...start, ready: true }, config);
  }
  const why = `the command "${config.command}" was not found; PATH is "${searchPath(environment)}". Install it, or give its full path as agents.${name}.command`;
  return entry(name, "config", { ...start, ready: false, why }, config);
}

function entry(name: string, source: CatalogueEntry["source"], start: Start, config?: AgentConfig): CatalogueEntry {
  const definition: AgentDefinition = {
    name,
    command: start.command,
    args: start.args,
    env: config?.env ?? {},
    passEnv: config?.passEnv ?? [],
    share: config?.share ?? "pool",
    shell: config?.shell ?? "sh",
    arming: config?.arming ?? "required",
    approvalsOption: config?.approvalsOption ?? "auto",
    ...(config?.helper && { helper: config.helper }),
    ...(config?.approvals && { approvals: config.approvals }),
  };
  return {
    name,
    source,
    ready: start.ready,
    command: [start.command, ...start.args].map(shown).join(" "),
    how: start.how,
    ...(start.why !== undefined && { why: start.why }),
    definition,
    digest: definitionDigest(definition),
  };
}

function shown(word: string): string {
  return word !== "" && !/[\s"'\\]/.test(word) ? word : JSON.stringify(word);
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
