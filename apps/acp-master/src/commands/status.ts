// `acp-master status`: what the running daemon does. It starts nothing.
import type { Command } from "commander";
import type { AgentEnd, RunningAgent, StatusAnswer } from "../client/answers.ts";
import { openMaster } from "../client/open-master.ts";
import { painter } from "../display/colour.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { table, type Column } from "../display/table.ts";
import { age, duration, isoTime } from "../display/time.ts";
import { visibleJson, visibleLine } from "../display/untrusted-text.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

export function registerStatus(program: Command): void {
  program
    .command("status")
    .description("show the running daemon: its agents, sessions, clients and what waits for an answer")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master status", "acp-master status --json | jq .agents"))
    .action(finish(status));
}

async function status(options: JsonOption): Promise<ExitCode> {
  await using master = await openMaster();
  const answer = await master.request<StatusAnswer>("_acp-master/status", {});
  process.stdout.write(options.json === true ? `${visibleJson(answer, 2)}\n` : await statusText(answer));
  return exitCodes.done;
}

async function statusText(answer: StatusAnswer): Promise<string> {
  const now = Date.now();
  const surface = process.stdout;
  const paint = painter(surface);
  const lines = [
    `daemon     ${answer.version}, pid ${answer.pid}, up ${duration(now - Number(new Date(answer.startedAt)))}`,
    `socket     ${visibleLine(answer.socket)}`,
    `config     ${visibleLine(answer.config.file)}`,
    `sessions   ${answer.sessions}`,
    `clients    ${answer.clients}`,
    `approvals  ${answer.approvals}${answer.approvals > 0 ? "  (acp-master approvals)" : ""}`,
    `helpers    ${answer.helpers.length}`,
  ];
  const helpless = answer.helpers.filter((helper) => helper.state === "unavailable").length;
  if (helpless > 0) {
    lines.push(paint("red", `The Helper of ${helpless} sessions cannot work, so their permissions are refused.`));
    lines.push("Next: acp-master doctor; acp-master logs");
  }
  for (const reason of impairments(answer)) lines.push(paint("red", visibleLine(reason)));
  if (answer.config.problem !== undefined) {
    lines.push(
      paint("red", `The configuration in force is older than the file: ${visibleLine(answer.config.problem)}`),
    );
    lines.push("Next: acp-master config check");
  }
  if (answer.record !== undefined) {
    lines.push(
      paint("red", `Decisions cannot be recorded, so nothing is allowed: ${visibleLine(answer.record.problem)}`),
    );
    lines.push("Next: acp-master doctor");
  }
  for (const problem of answer.journals?.problems ?? []) lines.push(paint("red", visibleLine(problem)));
  const faults = Object.entries(answer.counters).filter(([, count]) => count > 0);
  if (faults.length > 0)
    lines.push(`counters   ${faults.map(([name, count]) => `${visibleLine(name)} ${count}`).join(", ")}`);
  let text = `${lines.join("\n")}\n`;
  text += `\n${await table(agentColumns(now), answer.agents, { surface, empty: "No agent runs." })}`;
  if (answer.exits.length > 0) text += `\n${await table(exitColumns(now), answer.exits, { surface, empty: "" })}`;
  return text;
}

/** What Helpers cannot do, each reason once; where they would take proposals, also why the daemon has no place for these. */
export function impairments({ helpers, proposals }: StatusAnswer): readonly string[] {
  const told = [...new Set(helpers.flatMap(({ impaired }) => impaired ?? []))];
  return told.length === 0 || proposals === undefined ? told : [...told, proposals.problem];
}

const agentColumns = (now: number): Column<RunningAgent>[] => [
  { title: "Agent", value: (agent) => agent.name },
  { title: "Pid", value: (agent) => String(agent.pid ?? "-") },
  { title: "State", value: (agent) => agent.state },
  { title: "Sessions", value: (agent) => String(agent.sessions) },
  { title: "Clients", value: (agent) => String(agent.clients) },
  { title: "Started", value: (agent) => isoTime(agent.startedAt), shown: (agent) => age(agent.startedAt, now) },
];

const exitColumns = (now: number): Column<AgentEnd>[] => [
  { title: "Ended agent", value: (end) => end.agent },
  { title: "Exit", value: (end) => String(end.signal ?? end.exitCode ?? "-") },
  { title: "When", value: (end) => isoTime(end.at), shown: (end) => age(end.at, now) },
  { title: "Message", value: (end) => end.message ?? "" },
];
