// initialize of a client: who it is, which agent it wants, what that agent can do through the master.

import { type Envelope, parseFrame, spanBytes } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import { fault, INVALID_PARAMS, INVALID_REQUEST, type RpcError } from "../protocol/reasons.ts";
import { VERSION } from "../version.ts";
import type { ClientConnection, ClientIdentity } from "./client-connection.ts";
import { clientCapabilities } from "./client-capabilities.ts";
import { idText, keep } from "./kept-frame.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { memberOf, objectIn, withMember, withoutMember } from "./raw-object.ts";
import type { Router } from "./router.ts";

type Read = { readonly ok: true; readonly identity: ClientIdentity } | { readonly ok: false; readonly error: RpcError };

export async function initialize(router: Router, client: ClientConnection, envelope: Envelope): Promise<void> {
  const frame = keep(envelope);
  const id = idText(frame);
  if (client.state !== "new") {
    return client.refuse(id, { code: INVALID_REQUEST, message: "This connection is initialised already." });
  }
  const read = readIdentity(router, frame);
  if (!read.ok) return client.refuse(id, read.error);
  const { identity } = read;
  const ours = { version: VERSION, clientId: client.clientId };
  if (identity.agent === undefined) {
    introduce(router, client, identity);
    return client.respond(id, json(masterAlone(ours)));
  }
  const found = router.definition(identity.agent);
  if (!found.ok) return client.refuse(id, found.error);
  client.state = "initializing";
  const live = router.pool.any(identity.agent);
  const acquired = live
    ? ({ ok: true, link: live } as const)
    : await router.pool.acquire(found.definition, identity.capabilities, false);
  if (!acquired.ok) {
    client.state = "new";
    client.refuse(id, acquired.error);
  } else {
    introduce(router, client, identity);
    client.respond(id, throughMaster(acquired.link.initializedBytes, ours));
  }
  client.resumeDeferred();
}

function introduce(router: Router, client: ClientConnection, identity: ClientIdentity): void {
  client.identity = identity;
  client.state = "ready";
  if (identity.events) router.events.subscribe(client);
}

function readIdentity(router: Router, frame: Envelope): Read {
  const params = asRecord(frame.params.start < 0 ? {} : parseFrame(frame.bytes, frame.params.start, frame.params.end));
  const version = params["protocolVersion"];
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    const message = '"protocolVersion" must be a whole number from 1 on; acp-master speaks version 1.';
    return { ok: false, error: { code: INVALID_PARAMS, message } };
  }
  const ours = asRecord(asRecord(params["_meta"])["acp-master"]);
  const theirVersion = ours["version"];
  if (theirVersion !== undefined && theirVersion !== VERSION) {
    const message = `This program is acp-master ${JSON.stringify(theirVersion)}, the running daemon is ${VERSION}. Run "acp-master restart" with the newer one.`;
    return { ok: false, error: fault("version_mismatch", message, { daemon: VERSION, client: theirVersion }) };
  }
  const { role, agent, events, echo, positions } = ours;
  if (role !== undefined && role !== "controller" && role !== "observer") {
    return { ok: false, error: { code: INVALID_PARAMS, message: 'The role is "controller" or "observer".' } };
  }
  if (agent !== undefined && agent !== null && typeof agent !== "string") {
    return { ok: false, error: { code: INVALID_PARAMS, message: "The agent is a name or null." } };
  }
  const name = asRecord(params["clientInfo"])["name"];
  return {
    ok: true,
    identity: {
      name: typeof name === "string" ? name.slice(0, 200) : "",
      role: role ?? "controller",
      agent: agent === null ? undefined : (agent ?? router.config.defaultAgent),
      events: events === true,
      echo: echo === true,
      positions: positions === true,
      capabilities: clientCapabilities(
        params["clientCapabilities"],
        memberOf(spanBytes(frame.bytes, frame.params), "clientCapabilities"),
      ),
    },
  };
}

const NULL = Buffer.from("null");
const SESSION_BASICS = { list: {}, resume: {}, close: {} };

function masterAlone(ours: Record<string, unknown>): Record<string, unknown> {
  return {
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, sessionCapabilities: SESSION_BASICS },
    agentInfo: { name: "acp-master", title: "acp-master", version: VERSION },
    authMethods: [],
    _meta: { "acp-master": ours },
  };
}

/** The agent's answer, with what the master can always do, and without what it does not carry. The rest is as it came. */
function throughMaster(agent: Buffer, ours: Record<string, unknown>): Buffer {
  const announced = objectIn(agent, "agentCapabilities");
  const hasMcp = memberOf(announced, "mcpCapabilities") !== undefined;
  const mcp = withoutMember(objectIn(announced, "mcpCapabilities"), "acp");
  let sessions = objectIn(announced, "sessionCapabilities");
  for (const name of Object.keys(SESSION_BASICS)) {
    // What the agent announces itself keeps its own form.
    if ((memberOf(sessions, name) ?? NULL).equals(NULL)) sessions = withMember(sessions, name, EMPTY_OBJECT);
  }
  let capabilities = withMember(announced, "sessionCapabilities", sessions);
  capabilities = withMember(capabilities, "loadSession", Buffer.from("true"));
  if (hasMcp) capabilities = withMember(capabilities, "mcpCapabilities", mcp);
  const meta = withMember(objectIn(agent, "_meta"), "acp-master", json(ours));
  let result = withMember(agent, "_meta", meta);
  result = withMember(result, "agentCapabilities", capabilities);
  return withMember(result, "protocolVersion", Buffer.from("1"));
}
