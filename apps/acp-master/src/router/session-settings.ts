// Mode, model and config options of a session: set by one client, known to all.

import { appendElement, type Edit, type Envelope, parseFrame, readString, spanBytes, splice } from "@acp-master/wire";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";
import { INVALID_PARAMS } from "../protocol/reasons.ts";
import type { ClientConnection } from "./client-connection.ts";
import { forwardInSession } from "./forward.ts";
import { idText, isArraySpan } from "./kept-frame.ts";
import { lasting } from "./lasting.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { agentOptions, currentOptions } from "./opened-result.ts";
import { switchPreset } from "./preset-switch.ts";
import { elementsIn, memberOf, withMember } from "./raw-object.ts";
import type { Router } from "./router.ts";
import type { Session } from "./session.ts";
import { optionsUpdate, tellOthers } from "./session-notices.ts";

export const APPROVALS_OPTION = "acp-master.approvals";

export function setMode(router: Router, client: ClientConnection, envelope: Envelope): void {
  const modeId = envelope.modeId.start < 0 ? undefined : spanBytes(envelope.bytes, envelope.modeId);
  const mode = readString(envelope.bytes, envelope.modeId);
  forwardInSession(router, client, envelope, (session) => {
    if (!modeId || mode === undefined) return;
    session.currentModeId = mode;
    router.settings.record.event("mode", { sessionId: session.sessionId, agent: session.agent, mode });
    const update = Buffer.concat([
      Buffer.from('{"sessionUpdate":"current_mode_update","currentModeId":'),
      modeId,
      Buffer.from("}"),
    ]);
    tellOthers(router, session, client, "current_mode_update", update);
  });
}

export function setModel(router: Router, client: ClientConnection, envelope: Envelope): void {
  const modelId = envelope.params.start < 0 ? undefined : readModelId(envelope);
  forwardInSession(router, client, envelope, (session) => {
    if (modelId !== undefined) session.currentModelId = modelId;
    modelSwitched(router, session);
    router.changed(session);
  });
}

export function setConfigOption(router: Router, client: ClientConnection, envelope: Envelope): void {
  if (readString(envelope.bytes, envelope.configId) === APPROVALS_OPTION) {
    setApprovals(router, client, envelope);
    return;
  }
  const id = idText(envelope);
  const configId = readString(envelope.bytes, envelope.configId);
  forwardInSession(
    router,
    client,
    envelope,
    (session, answer) => {
      if (isModelOption(session, configId)) modelSwitched(router, session);
      if (!isArraySpan(answer.bytes, answer.resultConfigOptions)) return;
      session.configOptions = lasting(spanBytes(answer.bytes, answer.resultConfigOptions));
      tellOthers(router, session, client, "config_option_update", optionsUpdate(session.configOptions));
    },
    (session, answer) => withApprovals(session, answer, id),
  );
}

/** To a Helper another model is another agent: what it knows of the running turn was told to the former one. */
function modelSwitched(router: Router, session: Session): void {
  router.permissions.helpers.sessionChanged(session.key, "replaced");
}

function isModelOption(session: Session, configId: string | undefined): boolean {
  return elementsIn(agentOptions(session)).some((option) => {
    const category = textOf(memberOf(option, "category"));
    return textOf(memberOf(option, "id")) === configId && (category ?? configId) === "model";
  });
}

const textOf = (value: Buffer | undefined): string | undefined =>
  value && readString(value, { start: 0, end: value.length });

function setApprovals(router: Router, client: ClientConnection, envelope: Envelope): void {
  const id = idText(envelope);
  const reached = router.reach(client, envelope);
  if (!reached.ok) return client.refuse(id, reached.error);
  const value = optionValue(envelope);
  if (value === undefined) return client.refuse(id, { code: INVALID_PARAMS, message: '"value" must be a string.' });
  const { session } = reached;
  switchPreset(router, session, { preset: value, confirmed: false, by: client }, (problem) => {
    if (problem) return client.refuse(id, problem);
    const result = withMember(EMPTY_OBJECT, "configOptions", currentOptions(session) ?? json([]));
    client.respond(id, result, session.attachments.get(client), session.log.end);
  });
}

/** The agent's full list, with our option at its end. */
function withApprovals(session: Session, answer: Envelope, id: string): Buffer {
  const edits: Edit[] = [{ ...answer.id, bytes: Buffer.from(id, "latin1") }];
  if (session.showsApprovals && isArraySpan(answer.bytes, answer.resultConfigOptions)) {
    edits.push(appendElement(answer.bytes, answer.resultConfigOptions, json(session.approvalsOption())));
  }
  return splice(
    answer.bytes,
    answer.start,
    answer.end,
    edits.toSorted((a, b) => a.start - b.start),
  );
}

const paramsOf = (envelope: Envelope): JsonRecord =>
  asRecord(parseFrame(envelope.bytes, envelope.params.start, envelope.params.end));

function readModelId(envelope: Envelope): string | undefined {
  const modelId = paramsOf(envelope)["modelId"];
  return typeof modelId === "string" ? modelId : undefined;
}

/** Our own option is ours to read. */
function optionValue(envelope: Envelope): string | undefined {
  const value = paramsOf(envelope)["value"];
  return typeof value === "string" ? value : undefined;
}
