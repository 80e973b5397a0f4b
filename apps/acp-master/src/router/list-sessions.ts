// session/list: what runs here, and what the agent itself lists, page by page under a cursor of our own. Starts no process.

import { realpathSync } from "node:fs";
import { type Envelope, parseFrame, spanBytes } from "@acp-master/wire";
import { asList, asRecord, type JsonRecord } from "../protocol/json-value.ts";
import { INVALID_PARAMS } from "../protocol/reasons.ts";
import type { AgentLink } from "./agent-link.ts";
import type { ClientConnection } from "./client-connection.ts";
import { sessionRow } from "./events.ts";
import { idText, keep } from "./kept-frame.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { arrayOf, elementsIn, memberOf, withMember } from "./raw-object.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

interface ListParams {
  readonly cwd: string | undefined;
  readonly cursor: Cursor | undefined;
  /** What else the client asked: the agent's to understand. */
  readonly rest: JsonRecord;
}

/** Which agent's list goes on where, and which of the sessions here it has named on the way. */
interface Cursor {
  readonly agent: string;
  readonly inner: string;
  readonly named: readonly string[];
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
  const walked = params.cursor?.agent === link.agent ? params.cursor : undefined;
  const { inner, named = [] } = walked ?? {};
  const ask = json({
    ...params.rest,
    ...(params.cwd === undefined ? {} : { cwd: params.cwd }),
    ...(inner === undefined ? {} : { cursor: inner }),
  });
  const unnamed = (): Record<string, unknown>[] =>
    mine.filter((session) => !named.includes(session.sessionId)).map((session) => info(router, session));
  const here = (): void => client.respond(id, json({ sessions: unnamed() }));
  link.call("session/list", ask, {
    answered: (answer) => {
      if (answer.result.start < 0) return here();
      const page = spanBytes(answer.bytes, answer.result);
      client.respond(
        id,
        merged(router, link, { mine, named, cwd: params.cwd }, page[0] === 0x7b ? page : EMPTY_OBJECT),
      );
    },
    failed: here,
  });
}

interface Union {
  readonly mine: readonly Session[];
  readonly named: readonly string[];
  readonly cwd: string | undefined;
}

/** The agent's own rows under outward ids; on its last page what runs here and the agent did not name. */
function merged(router: Router, link: AgentLink, union: Union, page: Buffer): Buffer {
  const { mine, cwd } = union;
  const rows: Buffer[] = [];
  const here = new Set(mine.map((session) => session.sessionId));
  const named = [...union.named];
  for (const bytes of elementsIn(memberOf(page, "sessions"))) {
    const row = asRecord(parseFrame(bytes, 0, bytes.length));
    const agentId = row["sessionId"];
    if (typeof agentId !== "string") continue;
    // An agent may not look at the filter.
    if (cwd !== undefined && typeof row["cwd"] === "string" && !samePlace(row["cwd"], cwd)) continue;
    const sessionId = router.sessions.outwardId(link.agent, agentId);
    if (here.has(sessionId)) named.push(sessionId);
    rows.push(sessionId === agentId ? bytes : withMember(bytes, "sessionId", json(sessionId)));
  }
  const { nextCursor } = asRecord(parseFrame(page, 0, page.length));
  if (typeof nextCursor === "string") {
    const ours = json(writeCursor({ agent: link.agent, inner: nextCursor, named }));
    return withMember(withMember(page, "sessions", arrayOf(rows)), "nextCursor", ours);
  }
  const unnamed = mine
    .filter((session) => !named.includes(session.sessionId))
    .map((session) => json(info(router, session)));
  return withMember(page, "sessions", arrayOf([...rows, ...unnamed]));
}

function isListed(session: Session, agent: string | undefined, cwd: string | undefined): boolean {
  if (session.provisional) return false;
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
  const { cwd, cursor, ...others } = asRecord(found);
  if (cwd !== undefined && cwd !== null && typeof cwd !== "string") return undefined;
  const place = typeof cwd === "string" ? cwd : undefined;
  const rest = withoutOurs(others);
  if (cursor === undefined || cursor === null) return { cwd: place, cursor: undefined, rest };
  const read = typeof cursor === "string" ? readCursor(cursor) : undefined;
  return read && { cwd: place, cursor: read, rest };
}

/** Our own `_meta` is not the agent's. */
function withoutOurs(params: JsonRecord): JsonRecord {
  const { _meta, ...rest } = params;
  if (_meta === undefined) return rest;
  const { "acp-master": _ours, ...meta } = asRecord(_meta);
  return { ...rest, _meta: meta };
}

const writeCursor = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString("base64url");

function readCursor(text: string): Cursor | undefined {
  try {
    const { agent, inner, named } = asRecord(JSON.parse(Buffer.from(text, "base64url").toString()));
    if (typeof agent !== "string" || typeof inner !== "string") return undefined;
    return { agent, inner, named: asList(named).filter((each): each is string => typeof each === "string") };
  } catch {
    return undefined; // no cursor of ours
  }
}
