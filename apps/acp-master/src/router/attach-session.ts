// session/load and session/resume. A live session is joined here and the agent hears nothing of it; one that is not known
// here is opened in the agent, with its route registered before.

import { type Edit, type Envelope, parseFrame, readString, setMember } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import { SNAPSHOT_KINDS } from "../journal/index-lines.ts";
import { fault, INVALID_PARAMS, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink, Creation } from "./agent-link.ts";
import { acquireFor } from "./binding.ts";
import type { ClientConnection } from "./client-connection.ts";
import { relay } from "./forward.ts";
import { idText, keep } from "./kept-frame.ts";
import { json } from "./message.ts";
import { goneMeanwhile, type OpenParams, readOpenParams, withoutOurMeta } from "./open-session.ts";
import { attachResult, openedFrame, rememberOpened } from "./opened-result.ts";
import { endedMeanwhile, restore } from "./restore.ts";
import { samePlace } from "./list-sessions.ts";
import type { Router } from "./router.ts";
import { MAX_ID_LENGTH, type Session } from "./session.ts";
import { removeSession } from "./session-end.ts";
import type { SessionLog } from "./session-log.ts";

type Manner = "load" | "resume";

export async function attachSession(
  router: Router,
  client: ClientConnection,
  envelope: Envelope,
  manner: Manner,
): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  const sessionId = readString(frame.bytes, frame.sessionId);
  if (sessionId === undefined) {
    return client.refuse(id, { code: INVALID_PARAMS, message: '"sessionId" is missing or is no string.' });
  }
  const after = manner === "resume" ? placeIn(frame) : undefined;
  client.behindAttach.begin(id, sessionId);
  const known = router.sessions.get(sessionId);
  if (known) return await joinKnown(router, client, { session: known, id, manner, after, frame });
  const hasNoAgent = client.identity.role === "observer" || client.identity.agent === undefined;
  if (hasNoAgent || sessionId.length > MAX_ID_LENGTH) {
    return client.refuse(id, unknownSession(sessionId));
  }
  const checked = await readOpenParams(frame);
  if (!checked.ok) return client.refuse(id, checked.error);
  const acquired = await acquireFor(router, client, checked.params.agent, "session");
  if (!acquired.ok) return client.refuse(id, acquired.error);
  if (client.closed) return;
  const meanwhile = router.sessions.get(sessionId);
  if (meanwhile) return await joinKnown(router, client, { session: meanwhile, id, manner, after, frame });
  openInAgent(router, client, { frame, manner, link: acquired.link, place: checked.params });
}

const unknownSession = (sessionId: string): RpcError =>
  fault(
    "unknown_session",
    `There is no session ${JSON.stringify(sessionId.slice(0, 200))} here. List the sessions with session/list.`,
  );

/** How far in a session's log a client has come, in which run of the daemon. */
interface Place {
  readonly run: unknown;
  readonly position: unknown;
}

interface Join {
  readonly session: Session;
  readonly id: string;
  readonly manner: Manner;
  readonly after: Place | undefined;
  readonly frame: Envelope;
}

async function joinKnown(router: Router, client: ClientConnection, join: Join): Promise<void> {
  const { session, id } = join;
  if (session.opening) {
    // One load of it is on its way to the agent; this one shares its end.
    session.opening.push((error) => (error ? client.refuse(id, error) : joinLive(router, client, join)));
    return;
  }
  // An observer looks at what was seen here and wakes nobody.
  if (session.route && !session.restoring) return joinLive(router, client, join);
  if (client.identity.role === "observer") {
    await session.log.prepare();
    return joinLive(router, client, join);
  }
  const checked = await readOpenParams(join.frame);
  if (!checked.ok) return client.refuse(id, checked.error);
  const { cwd, mcpServers } = checked.params;
  if (!samePlace(cwd, session.cwd)) {
    const message = `This session works in ${JSON.stringify(session.cwd)}; load it with that "cwd".`;
    return client.refuse(id, { code: INVALID_PARAMS, message });
  }
  // They may hold secrets and are kept in memory only: the first to come back brings them.
  if (!session.restoring && session.mcpServers.length === 0) session.mcpServers = mcpServers;
  const [error] = await Promise.all([restore(router, session, client), session.log.prepare()]);
  const now = router.sessions.get(session.sessionId) ?? session;
  // A load still shows what was seen; acting on the session needs the agent.
  if (now.hasEnded || (error && join.manner === "resume")) {
    client.refuse(id, error ?? endedMeanwhile());
  } else joinLive(router, client, { ...join, session: now });
}

/**
 * The attach happens at one position: what was before comes first (of a load, and of a resume that says what the client has
 * seen already), then the answer, then the rest.
 */
function joinLive(router: Router, client: ClientConnection, { session, id, manner, after }: Join): void {
  if (client.closed) return;
  router.updates.flush();
  if (session.attachments.has(client)) router.detach(client, session);
  const { start, end: mark } = session.log;
  const seen = after && seenUntil(session.log, after);
  const from = manner === "load" || after ? (seen ?? start) : undefined;
  router.attach(client, session, from ?? mark);
  const attachment = session.attachments.get(client)!;
  attachment.gated = false;
  client.outbox.begin(attachment, mark);
  client.respond(
    id,
    attachResult(session, { cut: from === start && seen === undefined && start > 0 }),
    attachment,
    mark,
  );
  // Whoever gets the frames themselves needs no latest ones.
  if (from === undefined) {
    for (const kind of SNAPSHOT_KINDS) {
      const latest = session.snapshot(kind);
      if (latest) client.outbox.send(attachment.aside(session.outward(latest) ?? latest, mark), attachment, mark);
    }
  }
  client.outbox.pump();
  router.controllerReady(client, session);
}

/** `_meta["acp-master"].after` of a resume. */
function placeIn({ bytes, params }: Envelope): Place | undefined {
  const { _meta: meta } = asRecord(parseFrame(bytes, params.start, params.end));
  const { after } = asRecord(asRecord(meta)["acp-master"]);
  if (after === undefined) return undefined;
  const { run, position } = asRecord(after);
  return { run, position };
}

/** Undefined: what the client saw is not what was kept. */
function seenUntil(log: SessionLog, { run, position }: Place): number | undefined {
  return typeof run === "string" && typeof position === "number" && log.resumable(run, position) ? position : undefined;
}

interface Opening {
  readonly frame: Envelope;
  readonly manner: Manner;
  readonly link: AgentLink;
  readonly place: OpenParams;
}

function openInAgent(router: Router, client: ClientConnection, opening: Opening): void {
  const { frame, manner, link, place } = opening;
  const id = idText(frame);
  const agentId = router.sessions.agentIdOf(link.agent, readString(frame.bytes, frame.sessionId) ?? "");
  const method = agentMethod(link, manner);
  if (!method) {
    return client.refuse(
      id,
      fault(
        "unknown_session",
        `The agent ${link.agent} cannot load sessions, and this one does not run here. Start a new session.`,
      ),
    );
  }
  const session = router.openSession(link, { ...place, agentId });
  session.provisional = true;
  session.opening = [];
  const creation: Creation = {
    client,
    cwd: place.cwd,
    additionalDirectories: place.additionalDirectories,
    session,
  };
  link.creations.add(creation);
  router.attach(client, session, 0);
  const attachment = session.attachments.get(client)!;
  // A load replays before its answer; of a resume nothing is to be seen before.
  attachment.gated = manner === "resume";
  if (manner === "resume" && method === "session/load") session.replaying = { dropped: 0, lastAt: 0 };

  const edits = withoutOurMeta(frame);
  if (session.renamed) edits.push({ ...frame.sessionId, bytes: session.agentIdBytes });
  if (method !== `session/${manner}`) edits.push(...inAnotherManner(frame, method));
  const end = (error: RpcError | undefined): void => {
    link.creations.delete(creation);
    const joiners = session.opening ?? [];
    session.opening = undefined;
    if (error) removeSession(router, session, "closed");
    for (const joiner of joiners) joiner(error);
    router.early.settled(link);
    router.pool.consider(link);
  };
  const call = link.forward(frame, edits, {
    session,
    origin: { client, id },
    answered: (answer) => {
      if (answer.result.start < 0) {
        relay(client, id, answer);
        end(
          fault("unknown_session", "The agent could not load this session; it said so to the client that asked first."),
        );
        return;
      }
      session.replaying = undefined;
      const kept = keep(answer);
      rememberOpened(session, kept);
      session.hadTurn = true; // elsewhere or earlier: the agent has it in its store
      session.mcpServers = place.mcpServers;
      // What came while the agent resumed it follows the answer.
      const mark = attachment.gated ? 0 : session.log.end;
      // As does what comes until the Helper has said what it has.
      attachment.gated = true;
      router.permissions.sessionOpened(session);
      router.permissions.whenPresetsKnown(session, () => {
        if (session.hasEnded) {
          client.refuse(id, goneMeanwhile(link));
          return end(goneMeanwhile(link));
        }
        client.outbox.begin(attachment, mark);
        client.relayAnswer(id, openedFrame(session, id, kept), session.attachments.get(client), mark);
        client.outbox.open(attachment);
        router.sessionOpened(session);
        if (session.attachments.has(client)) router.controllerReady(client, session);
        end(undefined);
      });
    },
    failed: (error) => {
      client.refuse(id, error);
      end(error);
    },
  });
  client.onCancel(id, () => link.cancelCall(call));
}

/** A resume may leave out what a load must have. */
function inAnotherManner(frame: Envelope, method: string): Edit[] {
  const edits = [{ ...frame.method, bytes: json(method) }];
  const { mcpServers } = asRecord(parseFrame(frame.bytes, frame.params.start, frame.params.end));
  if (!Array.isArray(mcpServers)) edits.push(setMember(frame.bytes, frame.params, "mcpServers", json([])));
  return edits;
}

/** How the agent opens a session that it knows; undefined: it cannot. */
function agentMethod(link: AgentLink, manner: Manner): "session/load" | "session/resume" | undefined {
  if (manner === "resume" && link.can("resume")) return "session/resume";
  if (link.can("load")) return "session/load";
  return link.can("resume") ? "session/resume" : undefined;
}
