// The result of the request that opened a session: passed on to whoever asked, and remembered for those who attach later.

import { appendElement, type Edit, type Envelope, parseFrame, setMember, splice } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";
import { isArraySpan, isObjectSpan } from "./kept-frame.ts";
import { json } from "./message.ts";
import type { Session } from "./session.ts";

/** Keeps what a later load or resume of the live session is answered with. */
export function rememberOpened(session: Session, answer: Envelope): void {
  const { bytes, result } = answer;
  const { sessionId: _sessionId, ...rest } = asRecord(parseFrame(bytes, result.start, result.end));
  session.opened = rest;
  session.openedAsNull = !isObjectSpan(bytes, result);
  session.currentModeId = undefined;
  session.currentModelId = undefined;
  session.configOptions = undefined;
}

/** The agent's answer under the caller's id, with the outward session id and our option. */
export function openedFrame(session: Session, id: string, answer: Envelope): Buffer {
  const { bytes } = answer;
  const edits: Edit[] = [{ ...answer.id, bytes: Buffer.from(id, "latin1") }];
  if (session.renamed && answer.resultSessionId.start >= 0) {
    edits.push({ ...answer.resultSessionId, bytes: session.sessionIdBytes });
  }
  if (session.showsApprovals) {
    edits.push(withOption(answer, json(session.approvalsOption())));
  }
  return splice(
    bytes,
    answer.start,
    answer.end,
    edits.toSorted((a, b) => a.start - b.start),
  );
}

/** At the end of the agent's list; where it sends none, which only a configuration can ask for, as a list of its own. */
function withOption({ bytes, result, resultConfigOptions }: Envelope, option: Buffer): Edit {
  if (isArraySpan(bytes, resultConfigOptions)) return appendElement(bytes, resultConfigOptions, option);
  const list = Buffer.concat([Buffer.from("["), option, Buffer.from("]")]);
  if (isObjectSpan(bytes, result)) return setMember(bytes, result, "configOptions", list);
  return { ...result, bytes: Buffer.concat([Buffer.from('{"configOptions":'), list, Buffer.from("}")]) };
}

/** The result for a client that attaches to the live session: what it was opened with, as it stands now. */
export function attachResult(session: Session): Buffer {
  if (session.openedAsNull && !session.showsApprovals) return Buffer.from("null");
  const { modes, models, configOptions, ...rest } = session.opened;
  const options = currentOptions(session, configOptions);
  return json({
    ...rest,
    ...(modes === undefined ? {} : { modes: withCurrent(modes, "currentModeId", session.currentModeId) }),
    ...(models === undefined ? {} : { models: withCurrent(models, "currentModelId", session.currentModelId) }),
    ...(options === undefined ? {} : { configOptions: options }),
  });
}

/** All options of the session as they stand now, ours included. */
export function currentOptions(
  session: Session,
  opened: unknown = session.opened["configOptions"],
): unknown[] | undefined {
  const options: unknown = session.configOptions ? readOptions(session.configOptions) : opened;
  const list: unknown[] | undefined = Array.isArray(options) ? options : undefined;
  if (!session.showsApprovals) return list;
  return [...(list ?? []), session.approvalsOption()];
}

function readOptions(bytes: Buffer): unknown {
  try {
    return parseFrame(bytes, 0, bytes.length);
  } catch {
    return undefined; // nested deeper than the master reads
  }
}

function withCurrent(value: unknown, key: string, current: string | undefined): unknown {
  if (current === undefined || typeof value !== "object" || value === null) return value;
  return { ...value, [key]: current };
}
