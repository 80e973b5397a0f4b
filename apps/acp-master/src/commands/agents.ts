// `acp-master agents`: which agents are ready here and why the others are not; --retry lets one start again that failed
// too often. It starts no agent, and the list needs no daemon.
import type { Command } from "commander";
import type { AgentRow } from "../agents/catalogue.ts";
import { openMaster } from "../client/open-master.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { table, type Column } from "../display/table.ts";
import { visibleJson, visibleLine } from "../display/untrusted-text.ts";
import { agentRows } from "./agent-rows.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

interface AgentsOptions extends JsonOption {
  readonly retry?: string;
}

export function registerAgents(program: Command): void {
  program
    .command("agents")
    .description("list the agents: which are ready here, and what the others need")
    .option(...jsonOption)
    .option("--retry <agent>", "forget that this agent failed: the next request starts it again")
    .addHelpText("after", examples("acp-master agents", "acp-master agents --json", "acp-master agents --retry claude"))
    .action(finish(agents));
}

async function agents(options: AgentsOptions): Promise<ExitCode> {
  if (options.retry !== undefined) return await retry(options.retry);
  const rows = await agentRows();
  if (options.json === true) process.stdout.write(`${visibleJson({ agents: rows }, 2)}\n`);
  else process.stdout.write(await table(columns, rows, { surface: process.stdout, empty: "No agent is known." }));
  return exitCodes.done;
}

async function retry(agent: string): Promise<ExitCode> {
  await using master = await openMaster();
  await master.request("_acp-master/agent/retry", { agent });
  process.stdout.write(`The next request for ${visibleLine(agent)} starts it again.\n`);
  return exitCodes.done;
}

const columns: Column<AgentRow>[] = [
  { title: "Agent", value: (row) => row.name },
  { title: "Ready", value: (row) => (row.ready ? "yes" : "no") },
  { title: "From", value: (row) => row.source },
  { title: "How", value: (row) => row.how },
  { title: "Command", value: (row) => row.command },
  { title: "Why not", value: (row) => row.why ?? "" },
];
