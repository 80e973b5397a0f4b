// `acp-master sessions`: the sessions that the daemon has, live and kept. It attaches to none.
import { resolve } from "node:path";
import type { Command } from "commander";
import type { SessionRow } from "../client/answers.ts";
import { openMaster } from "../client/open-master.ts";
import { sessionRows } from "../client/session-rows.ts";
import { exitCodes, type ExitCode } from "../display/errors.ts";
import { table, type Column } from "../display/table.ts";
import { age, isoTime } from "../display/time.ts";
import { visibleJson } from "../display/untrusted-text.ts";
import { examples, finish, jsonOption, type JsonOption } from "./finish.ts";

interface SessionsOptions extends JsonOption {
  readonly cwd?: string;
}

export function registerSessions(program: Command): void {
  program
    .command("sessions")
    .description("list the sessions, live and kept")
    .option("--cwd <dir>", "only sessions of this folder")
    .option(...jsonOption)
    .addHelpText("after", examples("acp-master sessions", "acp-master sessions --cwd . --json"))
    .action(finish(sessions));
}

async function sessions(options: SessionsOptions): Promise<ExitCode> {
  await using master = await openMaster();
  const filter = options.cwd === undefined ? {} : { cwd: resolve(options.cwd) };
  const found = await sessionRows((method, params) => master.request(method, params), filter);
  // The one that somebody worked with last is the one that is looked for.
  const rows = found.toSorted((one, other) => isoTime(other.updatedAt).localeCompare(isoTime(one.updatedAt)));
  if (options.json === true) process.stdout.write(`${visibleJson({ sessions: rows }, 2)}\n`);
  else
    process.stdout.write(
      await table(sessionColumns(Date.now()), rows, { surface: process.stdout, empty: "No session." }),
    );
  return exitCodes.done;
}

/** What the word for a state does not say. */
const stateTexts: Readonly<Record<string, string>> = {
  parked: "parked, goes on at the next prompt",
  lost: "lost, tried again at the next prompt",
  closed: "closed, opens again when it is loaded",
};

export const sessionColumns = (now: number): Column<SessionRow>[] => [
  { title: "Session", value: (row) => row.sessionId },
  { title: "Agent", value: (row) => row.agent },
  { title: "State", value: (row) => row.state, shown: (row) => stateTexts[row.state] ?? row.state },
  { title: "Preset", value: (row) => row.preset ?? "-" },
  { title: "Approvals", value: (row) => String(row.approvals) },
  {
    title: "Clients",
    value: (row) =>
      row.clients.map((client) => client.name + (client.role === "observer" ? " (observer)" : "")).join(", ") || "-",
  },
  { title: "Updated", value: (row) => isoTime(row.updatedAt), shown: (row) => age(row.updatedAt, now) },
  { title: "Cwd", value: (row) => row.cwd },
  { title: "Title", value: (row) => row.title ?? "" },
];
