// session/new and session/fork: the two requests whose result names a session that did not exist before.

import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { type Edit, type Envelope, parseFrame, readString, removeMember } from "@acp-master/wire";
import { asList, asRecord } from "../protocol/json-value.ts";
import { fault, INTERNAL_ERROR, type RpcError } from "../protocol/reasons.ts";
import type { AgentLink, Creation } from "./agent-link.ts";
import { acquireFor } from "./binding.ts";
import type { ClientConnection } from "./client-connection.ts";
import { relay } from "./forward.ts";
import { idText, isObjectSpan, keep } from "./kept-frame.ts";
import { json } from "./message.ts";
import { openedFrame, rememberOpened } from "./opened-result.ts";
import type { Router } from "./router.ts";
import { MAX_ID_LENGTH, type Session } from "./session.ts";
import { removeSession } from "./session-end.ts";
import { sessionLost } from "./session-lost.ts";

export interface OpenParams {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly mcpServers: readonly unknown[];
  /** `_meta["acp-master"].agent`, where a request may choose one. */
  readonly agent: string | undefined;
}

type Checked<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: RpcError };

/** The members that the master itself needs of session/new, load, resume and fork. */
export async function readOpenParams(envelope: Envelope): Promise<Checked<{ params: OpenParams }>> {
  const { bytes, params } = envelope;
  const record = asRecord(params.start < 0 ? undefined : parseFrame(bytes, params.start, params.end));
  const { cwd } = record;
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    const message = `"cwd" must be an absolute path; ${typeof cwd === "string" ? `${JSON.stringify(cwd.slice(0, 200))} is not` : "it is missing"}.`;
    return { ok: false, error: fault("cwd_not_absolute", message) };
  }
  const folder = await stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory()) {
    const message = `The folder ${JSON.stringify(cwd)} ${folder ? "is no folder" : "does not exist"}; give the session an existing one as "cwd".`;
    return { ok: false, error: fault("cwd_missing", message, { cwd }) };
  }
  const more = record["additionalDirectories"];
  const additionalDirectories = Array.isArray(more)
    ? more.filter((each): each is string => typeof each === "string")
    : [];
  const { agent } = asRecord(asRecord(record["_meta"])["acp-master"]);
  return {
    ok: true,
    params: {
      cwd,
      additionalDirectories,
      mcpServers: asList(record["mcpServers"]),
      agent: typeof agent === "string" ? agent : undefined,
    },
  };
}

/** What must not reach the agent: our own `_meta`. */
export function withoutOurMeta(envelope: Envelope): Edit[] {
  if (!isObjectSpan(envelope.bytes, envelope.paramsMeta)) return [];
  const edit = removeMember(envelope.bytes, envelope.paramsMeta, "acp-master");
  return edit ? [edit] : [];
}

export async function newSession(router: Router, client: ClientConnection, envelope: Envelope): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  if (client.identity.role === "observer") {
    const message = "This connection only looks on; connect as a controller to start sessions.";
    return client.refuse(id, fault("observer", message));
  }
  const checked = await readOpenParams(frame);
  if (!checked.ok) return client.refuse(id, checked.error);
  const { params } = checked;
  const acquired = await acquireFor(router, client, params.agent, "session");
  if (!acquired.ok) return client.refuse(id, acquired.error);
  if (client.closed) return;
  create(router, client, frame, { link: acquired.link, place: params, edits: withoutOurMeta(frame) });
}

/** Forwarded for an attached controller of the source; the result names the new session. */
export async function forkSession(router: Router, client: ClientConnection, envelope: Envelope): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  const reached = router.reach(client, frame);
  if (!reached.ok) return client.refuse(id, reached.error);
  const source = reached.session;
  const checked = await readOpenParams(frame);
  if (!checked.ok) return client.refuse(id, checked.error);
  if (!source.route) return client.refuse(id, sessionLost(source));
  const edits = withoutOurMeta(frame);
  if (source.renamed) edits.push({ ...frame.sessionId, bytes: source.agentIdBytes });
  create(router, client, frame, { link: source.route, place: checked.params, edits });
}

function create(
  router: Router,
  client: ClientConnection,
  frame: Envelope,
  target: { link: AgentLink; place: OpenParams; edits: Edit[] },
): void {
  const { link, place, edits } = target;
  const id = idText(frame);
  const creation: Creation = {
    client,
    cwd: place.cwd,
    additionalDirectories: place.additionalDirectories,
    session: undefined,
  };
  link.creations.add(creation);
  const call = link.forward(frame, edits, {
    origin: { client, id },
    answered: (answer) => {
      link.creations.delete(creation);
      created(router, client, { link, creation, id, place }, answer);
      router.early.settled(link);
      router.pool.consider(link);
    },
    failed: (error) => {
      link.creations.delete(creation);
      if (creation.session) removeSession(router, creation.session, "closed");
      client.refuse(id, error);
      router.early.settled(link);
    },
  });
  client.onCancel(id, () => link.cancelCall(call));
}

function created(
  router: Router,
  client: ClientConnection,
  made: { link: AgentLink; creation: Creation; id: string; place: OpenParams },
  answer: Envelope,
): void {
  const { link, creation, id, place } = made;
  const agentId = readString(answer.bytes, answer.resultSessionId);
  const early = creation.session;
  if (early && early.agentId !== agentId) removeSession(router, early, "closed");
  if (agentId === undefined) {
    relay(client, id, answer);
    return;
  }
  if (client.closed || agentId.length > MAX_ID_LENGTH) {
    if (early) removeSession(router, early, "closed");
    closeInAgent(link, agentId);
    return client.refuse(id, {
      code: INTERNAL_ERROR,
      message: `The agent ${link.agent} gave the new session an id of more than ${MAX_ID_LENGTH} characters, so it cannot be used. Report it to the agent's authors.`,
    });
  }
  const other = router.sessions.of(link.agent, agentId);
  if (other && other !== early) {
    // A session is its agent and that agent's id: two cannot have the same.
    if (other.route) {
      if (other.route !== link) closeInAgent(link, agentId);
      return client.refuse(id, {
        code: INTERNAL_ERROR,
        message: `The agent ${link.agent} gave the new session the id of one that runs already, so it cannot be used. Report it to the agent's authors.`,
      });
    }
    removeSession(router, other, "closed");
  }
  const session = early?.agentId === agentId ? early : router.openSession(link, { ...place, agentId });
  if (!session.attachments.has(client)) router.attach(client, session, session.log.end);
  const kept = keep(answer);
  rememberOpened(session, kept);
  router.pool.opened(link.agent);
  session.mcpServers = place.mcpServers;
  router.permissions.whenPresetsKnown(session, () => {
    if (session.hasEnded) return client.refuse(id, goneMeanwhile(link));
    const attachment = session.attachments.get(client);
    if (attachment) client.outbox.begin(attachment, attachment.cursor);
    client.relayAnswer(id, openedFrame(session, id, kept));
    if (attachment) client.outbox.open(attachment);
    router.sessionOpened(session);
    if (attachment) router.controllerReady(client, session);
    if (client.halfClosed) void closeUnlessDelivered(router, client, session);
  });
}

/** The session ended while its Helper was still saying what it has. */
export const goneMeanwhile = (link: AgentLink): RpcError =>
  fault("agent_exited", `The agent ${link.agent} ended while the session was being opened; open it again.`);

/** A client that went without a word looks as one that only waits for its answers, until one does not reach it. */
async function closeUnlessDelivered(router: Router, client: ClientConnection, session: Session): Promise<void> {
  if (!(await client.broken)) return;
  const { route, attachments, hadTurn } = session;
  if (!route || attachments.size > 0 || hadTurn) return;
  removeSession(router, session, "closed");
  closeInAgent(route, session.agentId);
}

/** Nobody is left who asked for this session. */
function closeInAgent(link: AgentLink, agentId: string): void {
  if (!link.can("close")) return;
  link.call("session/close", json({ sessionId: agentId }), { answered: () => {}, failed: () => {} });
}
