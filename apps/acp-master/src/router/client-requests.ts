// The routing table for what clients send: one line per method, everything else by whether it names a session.

import { type Envelope, readString, WireError } from "@acp-master/wire";
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from "../protocol/reasons.ts";
import { attachSession } from "./attach-session.ts";
import type { ClientConnection } from "./client-connection.ts";
import { closeSession, deleteSession } from "./end-session.ts";
import { authenticate, forwardInSession, forwardNotification, forwardToAgent } from "./forward.ts";
import { initialize } from "./initialize.ts";
import { idText } from "./kept-frame.ts";
import { listSessions } from "./list-sessions.ts";
import { masterMethod } from "./master-methods.ts";
import { forkSession, newSession } from "./open-session.ts";
import { cancel, prompt } from "./prompts.ts";
import type { Router } from "./router.ts";
import { setConfigOption, setMode, setModel } from "./session-settings.ts";

type Perform = (router: Router, client: ClientConnection, envelope: Envelope) => void | Promise<void>;

const requests: ReadonlyMap<string, Perform> = new Map<string, Perform>([
  ["session/new", newSession],
  ["session/fork", forkSession],
  ["session/load", (router, client, envelope) => attachSession(router, client, envelope, "load")],
  ["session/resume", (router, client, envelope) => attachSession(router, client, envelope, "resume")],
  ["session/list", listSessions],
  ["session/prompt", prompt],
  ["session/close", closeSession],
  ["session/delete", deleteSession],
  ["session/set_mode", setMode],
  ["session/set_model", setModel],
  ["session/set_config_option", setConfigOption],
  ["authenticate", authenticate],
  ["logout", authenticate],
]);

export function clientRequest(router: Router, client: ClientConnection, envelope: Envelope): void {
  const method = readString(envelope.bytes, envelope.method) ?? "";
  const id = idText(envelope);
  if (client.state === "initializing") {
    client.defer(envelope);
    return;
  }
  if (client.behindAttach.keeps(envelope)) return;
  client.begin(id);
  if (method === "initialize") {
    run(client, id, () => initialize(router, client, envelope));
    return;
  }
  if (client.state === "new") {
    client.refuse(id, {
      code: INVALID_REQUEST,
      message: `Send "initialize" before ${JSON.stringify(method.slice(0, 100))}.`,
    });
    return;
  }
  run(client, id, () => performer(method, envelope)(router, client, envelope));
}

export function clientNotification(router: Router, client: ClientConnection, envelope: Envelope): void {
  const method = readString(envelope.bytes, envelope.method) ?? "";
  if (client.state === "initializing") {
    client.defer(envelope);
    return;
  }
  if (client.state === "new" || client.behindAttach.keeps(envelope)) return;
  if (method === "session/cancel") {
    cancel(router, client, envelope);
  } else if (method === "$/cancel_request") {
    const { requestId, bytes } = envelope;
    if (requestId.start >= 0) {
      client.cancelRequest(bytes.toString("latin1", requestId.start, requestId.end));
    }
  } else if (!method.startsWith("_acp-master/")) {
    forwardNotification(router, client, envelope);
  }
}

function performer(method: string, envelope: Envelope): Perform {
  const known = requests.get(method);
  if (known) return known;
  if (method.startsWith("_acp-master/")) return masterMethod;
  if (method.startsWith("$/")) return hopOnly;
  return envelope.sessionId.start >= 0
    ? (router, client, frame) => forwardInSession(router, client, frame)
    : forwardToAgent;
}

/** The ids in these mean something on one connection only: they are never passed on as requests. */
function hopOnly(_: Router, client: ClientConnection, envelope: Envelope): void {
  const method = readString(envelope.bytes, envelope.method) ?? "";
  const message = `${JSON.stringify(method.slice(0, 100))} is a notification; send it without an id.`;
  client.refuse(idText(envelope), { code: METHOD_NOT_FOUND, message });
}

/** A defect in one handler ends nothing but that request. */
function run(client: ClientConnection, id: string, perform: () => void | Promise<void>): void {
  const failed = (error: unknown): void =>
    client.refuse(
      id,
      error instanceof WireError
        ? { code: INVALID_PARAMS, message: error.message }
        : { code: INTERNAL_ERROR, message: "acp-master failed on this request; see its log." },
    );
  try {
    perform()?.catch(failed);
  } catch (error) {
    failed(error);
  }
}
