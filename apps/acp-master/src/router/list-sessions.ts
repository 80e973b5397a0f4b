// session/list: what runs here, and what the agent itself lists, page by page under a cursor of our own. Starts no process.

import { realpathSync } from "node:fs";
import { type Envelope, parseFrame } from "@acp-master/wire";
import { asList, asRecord, type JsonRecord } from "../display/json-value.ts";
import { INVALID_PARAMS } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { sessionRow } from "./events.ts";
import { idText, keep } from "./kept-frame.ts";
import { json } from "./message.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

interface ListParams {
  readonly cwd: string | undefined;
  readonly cursor: Cursor | undefined;
}

/** Which agent's list goes on where. */
interface Cursor {
  readonly agent: string;
  readonly inner: string;
}

export function listSessions(router: Router, client: ClientConnection, envelope: Envelope): void {
  const frame = keep(envelope);
  const id = idText(frame);
  const params = readListParams(frame);
  if (!params) {
    client.refuse(id, {
      code: INVALID_PARAMS,
      message: '"cwd" and "cursor" must be strings; a cursor must be one that this list gave.',
    });
    return;
  }
  const agent = client.identity.agent;
  const link = agent === undefined ? undefined : router.pool.any(agent);
  const mine = [...router.sessions.all].filter((session) => isListed(session, agent, params.cwd));
  if (!link?.can("list")) {
    client.respond(id, json({ sessions: mine.map((session) => info(router, session)) }));
    return;
  }
  const inner = params.cursor?.agent === link.agent ? params.cursor.inner : undefined;
  const ask = json({
    ...(params.cwd === undefined ? {} : { cwd: params.cwd }),
    ...(inner === undefined ? {} : { cursor: inner }),
  });
  const here = (rows: readonly Record<string, unknown>[]): void => client.respond(id, json({ sessions: rows }));
  link.call("session/list", ask, {
    answered: (answer) => {
      if (answer.result.start < 0) return here(mine.map((session) => info(router, session)));
      const page = asRecord(parseFrame(answer.bytes, answer.result.start, answer.result.end));
      client.respond(id, json(merged(router, link, mine, page)));
    },
    failed: () => here(mine.map((session) => info(router, session))),
  });
}

/** The agent's own rows under outward ids; on its last page what runs here and the agent did not name. */
function merged(router: Router, link: AgentLink, mine: readonly Session[], page: JsonRecord): Record<string, unknown> {
  const sessions = asList(page["sessions"])
    .map(asRecord)
    .flatMap((row) => {
      const agentId = row["sessionId"];
      if (typeof agentId !== "string") return [];
      const session = router.sessions.of(link.agent, agentId);
      if (session) session.listedByAgent = true;
      return [{ ...row, sessionId: router.sessions.outwardId(link.agent, agentId) }];
    });
  const { nextCursor, sessions: _sessions, ...rest } = page;
  if (typeof nextCursor === "string") {
    return { ...rest, sessions, nextCursor: writeCursor({ agent: link.agent, inner: nextCursor }) };
  }
  const unnamed = mine.filter((session) => !session.listedByAgent).map((session) => info(router, session));
  return { ...rest, sessions: [...sessions, ...unnamed] };
}

function isListed(session: Session, agent: string | undefined, cwd: string | undefined): boolean {
  if (session.provisional || session.state === "closed") return false;
  if (agent !== undefined && session.agent !== agent) return false;
  return cwd === undefined || samePlace(session.cwd, cwd);
}

/** One folder may be spelled in several ways. */
export function samePlace(a: string, b: string): boolean {
  return a === b || realPath(a) === realPath(b);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // gone: its text is all that is left to compare
  }
}

function info(router: Router, session: Session): Record<string, unknown> {
  const { sessionId, cwd, title, updatedAt } = sessionRow(router, session);
  return { sessionId, cwd, ...(title === null ? {} : { title }), updatedAt };
}

function readListParams(frame: Envelope): ListParams | undefined {
  const found = frame.params.start < 0 ? {} : parseFrame(frame.bytes, frame.params.start, frame.params.end);
  const { cwd, cursor } = asRecord(found);
  if (cwd !== undefined && cwd !== null && typeof cwd !== "string") return undefined;
  const place = typeof cwd === "string" ? cwd : undefined;
  if (cursor === undefined || cursor === null) return { cwd: place, cursor: undefined };
  const read = typeof cursor === "string" ? readCursor(cursor) : undefined;
  return read && { cwd: place, cursor: read };
}

const writeCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString("base64url");

function readCursor(text: string): Cursor | undefined {
  try {
    const { agent, inner } = asRecord(JSON.parse(Buffer.from(text, "base64url").toString()));
    return typeof agent === "string" && typeof inner === "string" ? { agent, inner } : undefined;
  } catch {
    return undefined; // no cursor of ours
  }
}
