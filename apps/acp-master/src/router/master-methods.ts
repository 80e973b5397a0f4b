// `_acp-master/*`: what programs ask of the master itself, over the same socket.

import { type Envelope, parseFrame, readString } from "@acp-master/wire";
import type { ClientAnswer } from "@acp-master/permission-core";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";
import { fault, INVALID_PARAMS, METHOD_NOT_FOUND } from "../protocol/reasons.ts";
import { VERSION } from "../version.ts";
import type { ClientConnection } from "./client-connection.ts";
import { closeForAll } from "./end-session.ts";
import { approvalRow, offered, sessionRow } from "./events.ts";
import { idText } from "./kept-frame.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { plainParams } from "./permission-requests.ts";
import { switchPreset } from "./preset-switch.ts";
import { cancelTurn } from "./prompts.ts";
import { samePlace } from "./list-sessions.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";

const PAGE = 500;

interface Asked {
  readonly router: Router;
  readonly client: ClientConnection;
  readonly id: string;
  readonly params: JsonRecord;
}

/** Methods that change something: for controllers, attached to the session or not. */
const acting: Readonly<Record<string, (asked: Asked) => void>> = {
  "_acp-master/approval/answer": answerApproval,
  "_acp-master/session/preset": ({ router, client, id, params }) =>
    withSession({ router, client, id, params }, (session) => {
      const { preset, confirm } = params;
      if (typeof preset !== "string") return badParams(client, id, '"preset" must be a string.');
      switchPreset(router, session, { preset, confirmed: confirm === true, by: undefined }, (problem) => {
        if (problem) client.refuse(id, problem);
        else client.respond(id, json({ preset: session.preset }));
      });
    }),
  "_acp-master/session/cancel": (asked) =>
    withSession(asked, (session) => {
      cancelTurn(asked.router, session, () => true);
      asked.client.respond(asked.id, EMPTY_OBJECT);
    }),
  "_acp-master/session/close": (asked) =>
    withSession(asked, (session) => {
      closeForAll(asked.router, session, () => asked.client.respond(asked.id, EMPTY_OBJECT));
    }),
  "_acp-master/agent/retry": ({ router, client, id, params }) => {
    const { agent } = params;
    if (typeof agent !== "string") return badParams(client, id, '"agent" must be a string.');
    const found = router.definition(agent);
    if (!found.ok) return client.refuse(id, found.error);
    router.pool.resetBackOff(agent);
    client.respond(id, EMPTY_OBJECT);
  },
  "_acp-master/stop": ({ router, client, id, params }) => {
    client.respond(id, EMPTY_OBJECT);
    router.settings.stop(params["reason"] === "restart" ? "restart" : "stop");
  },
};

const reading: Readonly<Record<string, (asked: Asked) => void>> = {
  "_acp-master/status": ({ router, client, id }) => client.respond(id, json(status(router))),
  "_acp-master/agents": ({ router, client, id }) =>
    client.respond(id, json({ agents: router.settings.agentRows(), defaultAgent: router.config.defaultAgent })),
  "_acp-master/sessions": listRows,
  "_acp-master/approvals": listApprovals,
  "_acp-master/session/presets": (asked) =>
    withSession(asked, (session) => {
      const rows = (session.presets ?? []).map(({ value, name, description, width, confirm }) => ({
        value,
        name,
        ...(description === undefined ? {} : { description }),
        width,
        confirm: confirm === true,
      }));
      asked.client.respond(asked.id, json({ preset: session.preset, presets: rows }));
    }),
};

export function masterMethod(router: Router, client: ClientConnection, envelope: Envelope): void {
  const { bytes } = envelope;
  const method = readString(bytes, envelope.method) ?? "";
  const id = idText(envelope);
  const params = asRecord(
    envelope.params.start < 0 ? {} : parseFrame(bytes, envelope.params.start, envelope.params.end),
  );
  const act = Object.hasOwn(acting, method) ? acting[method] : undefined;
  if (act && client.identity.role === "observer") {
    client.refuse(id, fault("observer", "This connection only looks on; connect as a controller to act."));
    return;
  }
  const perform = act ?? (Object.hasOwn(reading, method) ? reading[method] : undefined);
  if (perform) perform({ router, client, id, params });
  else
    client.refuse(id, {
      code: METHOD_NOT_FOUND,
      message: `acp-master ${VERSION} has no method ${JSON.stringify(method.slice(0, 100))}.`,
    });
}

function withSession({ router, client, id, params }: Asked, act: (session: Session) => void): void {
  const { sessionId } = params;
  const session = typeof sessionId === "string" ? router.sessions.get(sessionId) : undefined;
  if (session) act(session);
  else client.refuse(id, fault("unknown_session", 'There is no such session; "acp-master sessions" lists them.'));
}

const badParams = (client: ClientConnection, id: string, message: string): void =>
  client.refuse(id, { code: INVALID_PARAMS, message });

function status(router: Router): Record<string, unknown> {
  const { pool, settings, clients, sessions, permissions, counters } = router;
  const { running, limit, sessions: helpers } = permissions.helpers.status();
  const noProposals = settings.noProposals();
  return {
    version: VERSION,
    pid: process.pid,
    socket: settings.socketPath,
    startedAt: router.startedAt.toISOString(),
    config: settings.configStatus(),
    agents: Array.from(pool.links)
      .filter(({ state }) => state !== "ended")
      .map((link) => ({
        name: link.agent,
        pid: link.process.pid ?? null,
        instance: link.instance,
        state: link.state,
        sessions: link.sessions.size,
        clients: link.clients.size,
        noise: link.process.noiseCount,
        lateAnswers: link.lateAnswers,
        startedAt: new Date(link.startedAt).toISOString(),
      })),
    exits: pool.ends.map((end) => ({ ...end, at: new Date(end.at).toISOString() })),
    sessions: sessions.size,
    clients: clients.size,
    approvals: offered(router).length,
    helpers: helpers.map(({ session: _key, ...row }) => row),
    helperProcesses: { running, limit },
    ...(noProposals === undefined ? {} : { proposals: { problem: noProposals } }),
    ...(settings.record.problem === undefined ? {} : { record: { problem: settings.record.problem } }),
    ...(settings.store.problems.length === 0 ? {} : { journals: { problems: settings.store.problems.slice(0, 20) } }),
    counters,
  };
}

function listRows({ router, client, id, params }: Asked): void {
  const { cwd, cursor } = params;
  const place = typeof cwd === "string" ? cwd : undefined;
  const from = typeof cursor === "string" && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
  const all = [...router.sessions.all].filter(
    (session) => !session.provisional && (place === undefined || samePlace(session.cwd, place)),
  );
  const sessions = all.slice(from, from + PAGE).map((session) => sessionRow(router, session));
  const more = from + PAGE < all.length ? { nextCursor: String(from + PAGE) } : {};
  client.respond(id, json({ sessions, ...more }));
}

function listApprovals({ router, client, id, params }: Asked): void {
  const { sessionId, approvalId } = params;
  const rows = offered(router)
    .filter((ticket) => typeof sessionId !== "string" || ticket.sessionId === sessionId)
    .filter((ticket) => typeof approvalId !== "string" || ticket.approvalId === approvalId)
    .flatMap((ticket) => {
      const request = router.permissions.requests.get(ticket.approvalId);
      return request ? [approvalRow(ticket, plainParams(request))] : [];
    });
  const list = rows.flatMap((row, index) => (index === 0 ? [row] : [Buffer.from(","), row]));
  client.respond(id, Buffer.concat([Buffer.from('{"approvals":['), ...list, Buffer.from("]}")]));
}

function answerApproval({ router, client, id, params }: Asked): void {
  const { approvalId, sessionId, toolCallId } = params;
  if (typeof approvalId !== "string") return badParams(client, id, '"approvalId" must be a string.');
  const by = { clientId: client.clientId, name: client.identity.name };
  const check = {
    sessionId: typeof sessionId === "string" ? sessionId : undefined,
    toolCallId: typeof toolCallId === "string" ? toolCallId : undefined,
  };
  const receipt = router.permissions.tickets.answerById(approvalId, by, readOutcome(params["outcome"]), check);
  if ("error" in receipt) return badParams(client, id, receipt.error);
  client.respond(id, json(receipt));
}

/** ACP's outcome: {"outcome":"selected","optionId":…} or {"outcome":"cancelled"}. */
function readOutcome(value: unknown): ClientAnswer {
  const { outcome, optionId } = asRecord(value);
  if (outcome === "selected" && typeof optionId === "string") return { kind: "selected", optionId };
  return outcome === "cancelled" ? { kind: "cancelled" } : { kind: "fault", fault: "malformed" };
}
