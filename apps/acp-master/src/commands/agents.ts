// `acp-master agents`: which agents are ready here and why the others are not. It needs no daemon and starts no agent.
import type { Command } from "commander";
import type { AgentRow } from "../client/answers.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { table, type Column } from "../display/table.ts";
import { visibleJson } from "../display/untrusted-text.ts";
import { agentRows } from "./agent-rows.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

export function registerAgents(program: Command): void {
  program
    .command("agents")
    .description("list the agents: which are ready here, and what the others need")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master agents", "acp-master agents --json"))
    .action(finish(agents));
}

async function agents(options: JsonOption): Promise<ExitCode> {
  const rows = await agentRows();
  if (options.json === true) process.stdout.write(`${visibleJson({ agents: rows }, 2)}\n`);
  else process.stdout.write(await table(columns, rows, { surface: process.stdout, empty: "No agent is known." }));
  return exitCodes.done;
}

const columns: Column<AgentRow>[] = [
  { title: "Agent", value: (row) => row.name },
  { title: "Ready", value: (row) => (row.ready ? "yes" : "no") },
  { title: "From", value: (row) => row.source },
  { title: "How", value: (row) => row.how ?? "-" },
  { title: "Command", value: (row) => (typeof row.command === "string" ? row.command : (row.command ?? []).join(" ")) },
  { title: "Why not", value: (row) => row.why ?? "" },
];
