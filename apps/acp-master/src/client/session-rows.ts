// Reads the daemon's session rows through all their pages and finds one session. It keeps nothing.
import { CommandError, exitCodes } from "../display/errors.ts";
import type { SessionRow } from "./answers.ts";
import { idFromStart } from "./id-start.ts";

/** Anything that can ask the daemon: a MasterClient or an SDK connection. */
export type Ask = <Result>(method: string, params: object) => Promise<Result>;

interface Page {
  readonly sessions?: readonly SessionRow[];
  readonly nextCursor?: string | null;
}

/** A daemon that repeats cursors is broken; this bound ends the loop. */
const mostPages = 10_000;

export async function sessionRows(ask: Ask, filter: { cwd?: string } = {}): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const answer = await ask<Page>("_acp-master/sessions", {
      ...filter,
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...(answer.sessions ?? []));
    if (answer.nextCursor === undefined || answer.nextCursor === null || answer.nextCursor === cursor) return rows;
    cursor = answer.nextCursor;
  }
  return rows;
}

/** The row of the session whose id is `given` or alone begins with it; fails with exit code 4 when there is none. */
export async function sessionRow(ask: Ask, given: string): Promise<SessionRow> {
  const rows = await sessionRows(ask);
  const none = () =>
    new CommandError(
      exitCodes.notFound,
      `no session ${given}`,
      "Run `acp-master sessions` to see the sessions there are.",
    );
  const sessionId = idFromStart({ given, ids: rows.map((row) => row.sessionId), what: "session", none });
  const row = rows.find((candidate) => candidate.sessionId === sessionId);
  if (row === undefined) throw none();
  return row;
}
