// What one agent is: its command and the settings that belong to it. Pure data; it starts nothing.
import { createHash } from "node:crypto";
import type { ApprovalsConfig, HelperConfig } from "../config/schema.ts";

export interface AgentDefinition {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables that are handed on from the daemon's own environment. */
  readonly passEnv: readonly string[];
  readonly share: "pool" | "session";
  readonly shell: "sh" | "powershell" | "argv";
  readonly arming: "required" | "preflight";
  readonly approvalsOption: "auto" | "always" | "never";
  readonly helper?: HelperConfig;
  readonly approvals?: ApprovalsConfig;
}

/**
 * SHA-256 of everything that shapes the process: two definitions with one digest may share a process. Settings that only the
 * master reads (helper, approvals, arming …) are left out, so that changing them needs no new process.
 */
export function definitionDigest(definition: AgentDefinition): string {
  const { name, command, args, env, passEnv, share } = definition;
  const canonical = [
    name,
    command,
    args,
    Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1)),
    [...passEnv].sort(),
    share,
  ];
  return createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
}
