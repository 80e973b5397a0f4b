// What the router is given from outside: configuration, processes, records. It reads no files itself.

import type { AgentRow } from "../agents/catalogue.ts";
import type { AgentDefinition } from "../agents/agent-definition.ts";
import type { Decided } from "../audit/decided.ts";
import type { DecisionLine } from "../audit/record.ts";
import type { Logger } from "../daemon/logger.ts";
import type { Reaper } from "../agents/reaper.ts";
import type { Config } from "../config/schema.ts";
import type { HelpersOptions } from "../helper/helpers.ts";
import type { HostSettings } from "./host-service.ts";
import type { SessionStore } from "./session-store.ts";

export interface DecisionRecord {
  /** One synchronous append. False: it is not written. */
  decision(line: DecisionLine): boolean;
  /** Those of the questions whose decision is in it already. */
  decided(approvalIds: ReadonlySet<string>): Promise<ReadonlyMap<string, Decided>>;
  event(type: "preset" | "mode" | "helper_fault", fields: Readonly<Record<string, string | number | boolean>>): boolean;
  readonly problem: string | undefined;
}

export interface RouterSettings {
  /** Replaced as a whole when the file changes. */
  config: Config;
  /** Every agent that can be named, by name. */
  agents: () => ReadonlyMap<string, AgentDefinition>;
  /** What `_acp-master/agents` and the command line show. */
  agentRows: () => readonly AgentRow[];
  readonly reaper: Reaper;
  readonly agentEnvironment: (definition: AgentDefinition) => Record<string, string>;
  readonly helpers: Pick<HelpersOptions, "spec" | "environment" | "socketDir" | "version" | "maxFrameBytes" | "limit">;
  /** The host client's program and environment. */
  readonly host: Pick<HostSettings, "program" | "environment">;
  readonly record: DecisionRecord;
  readonly store: SessionStore;
  readonly log: Pick<Logger, "debug" | "info" | "warn" | "error">;
  readonly socketPath: string;
  /** Why this daemon had no place for direct proposals when it was last asked. */
  readonly noProposals: () => string | undefined;
  /** Where the configuration came from, and what is wrong with its newest state. */
  readonly configStatus: () => { readonly file: string; readonly problem?: string };
  /** `_acp-master/stop` was asked for. */
  readonly stop: (reason: "stop" | "restart") => void;
}
