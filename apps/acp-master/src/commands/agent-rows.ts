// The catalogue of agents: the running daemon's own, whose environment counts, else the one of this shell.
import { fileURLToPath } from "node:url";
import type { AgentRow } from "../agents/catalogue.ts";
import { ClientError } from "../client/client-error.ts";
import { openMaster } from "../client/open-master.ts";
import { resolvePlaces } from "../config/places.ts";
import { CommandError, exitCodes } from "../display/errors.ts";

export async function agentRows(): Promise<readonly AgentRow[]> {
  try {
    await using master = await openMaster();
    const { agents } = await master.request<{ agents: readonly AgentRow[] }>("_acp-master/agents", {});
    return agents;
  } catch (error) {
    if (!(error instanceof ClientError) || error.kind !== "no_daemon") throw error;
    return localAgentRows();
  }
}

/** Fails when the configuration is not valid. */
export async function localAgentRows(): Promise<readonly AgentRow[]> {
  const [{ loadConfig }, { agentRow, resolveAgents }] = await Promise.all([
    import("../config/load-config.ts"),
    import("../agents/catalogue.ts"),
  ]);
  const loaded = loadConfig(resolvePlaces(process.env).configFile);
  if (!loaded.ok) {
    throw new CommandError(exitCodes.failed, loaded.message, "Correct it and run `acp-master config check`.");
  }
  const entries = resolveAgents({
    agents: loaded.config.agents,
    demoAgent: demoAgentFile(),
    environment: process.env,
  });
  return [...entries.values()].map(agentRow);
}

/** The demo agent lies beside the bundled program. */
export function demoAgentFile(): string {
  return fileURLToPath(new URL("demo-agent.js", import.meta.url));
}
