// `acp-master approvals`: the permissions that wait for an answer. It answers none.
import type { Command } from "commander";
import type { ApprovalRow } from "../client/answers.ts";
import { openMaster } from "../client/open-master.ts";
import { type Ask, sessionRow } from "../client/session-rows.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { asRecord, asText, type JsonRecord } from "../protocol/json-value.ts";
import { permissionText } from "../display/permission-text.ts";
import { table, type Column } from "../display/table.ts";
import { age, isoTime } from "../display/time.ts";
import { visibleJson, visibleLine } from "../display/untrusted-text.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

interface ApprovalsOptions extends JsonOption {
  readonly session?: string;
}

export function registerApprovals(program: Command): void {
  program
    .command("approvals")
    .description("list the permissions that wait for an answer, with what each would run")
    .option("--session <id>", "only those of one session")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master approvals", "acp-master approvals --json"))
    .action(finish(approvals));
}

async function approvals(options: ApprovalsOptions): Promise<ExitCode> {
  await using master = await openMaster();
  const ask: Ask = (method, params) => master.request(method, params);
  const filter = options.session === undefined ? {} : { sessionId: (await sessionRow(ask, options.session)).sessionId };
  const { approvals: rows } = await master.request<{ approvals: readonly ApprovalRow[] }>(
    "_acp-master/approvals",
    filter,
  );
  if (options.json === true) process.stdout.write(`${visibleJson({ approvals: rows }, 2)}\n`);
  else if (process.stdout.isTTY) process.stdout.write(cards(rows));
  else process.stdout.write(await table(columns, rows, { surface: process.stdout, empty: "" }));
  return exitCodes.done;
}

/** On a terminal each one is shown whole: a person must see what would run before answering. */
function cards(rows: readonly ApprovalRow[]): string {
  if (rows.length === 0) return "Nothing waits for an answer.\n";
  const now = Date.now();
  const shown = rows.map((row) => {
    const expiry = row.expiresAt === undefined || row.expiresAt === null ? "" : `, expires ${age(row.expiresAt, now)}`;
    const head = `${visibleLine(row.approvalId)}  ${visibleLine(row.agent)}, session ${visibleLine(row.sessionId)}, asked ${age(row.askedAt, now)}${expiry}`;
    return `${head}\n${permissionText({ options: row.options, ...asRecord(row.params) }, process.stdout)}`;
  });
  return `${shown.join("\n")}\nAnswer with: acp-master approve ID, acp-master deny ID\n`;
}

const columns: Column<ApprovalRow>[] = [
  { title: "Approval", value: (row) => row.approvalId },
  { title: "Session", value: (row) => row.sessionId },
  { title: "Agent", value: (row) => row.agent },
  { title: "Tool call", value: (row) => row.toolCallId ?? "-" },
  { title: "Asked", value: (row) => isoTime(row.askedAt) },
  { title: "Expires", value: (row) => isoTime(row.expiresAt) },
  { title: "Options", value: (row) => row.options.map((option) => option.optionId).join(",") },
  { title: "Title", value: (row) => asText(toolCallOf(row).title) },
  { title: "Input", value: (row) => JSON.stringify(toolCallOf(row).rawInput) ?? "" },
];

const toolCallOf = (row: ApprovalRow): JsonRecord => asRecord(asRecord(row.params).toolCall);
