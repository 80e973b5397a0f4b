// The result of the request that opened a session: passed on to whoever asked, and remembered, byte for byte, for those who
// attach later.

import { appendElement, type Edit, type Envelope, setMember, spanBytes, splice } from "@acp-master/wire";
import { isArraySpan, isObjectSpan } from "./kept-frame.ts";
import { lasting } from "./lasting.ts";
import { EMPTY_OBJECT, json } from "./message.ts";
import { arrayOf, elementsIn, memberOf, objectIn, withMember, withoutMember } from "./raw-object.ts";
import type { Session } from "./session.ts";

/** Keeps what a later load or resume of the live session is answered with. */
export function rememberOpened(session: Session, answer: Envelope): void {
  const { bytes, result } = answer;
  session.openedAsNull = !isObjectSpan(bytes, result);
  session.opened = session.openedAsNull ? EMPTY_OBJECT : lasting(withoutMember(spanBytes(bytes, result), "sessionId"));
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

/**
 * The result for a client that attaches to the live session: what it was opened with, as it stands now. `cut`: the history
 * before it lacks its beginning, which is no longer kept.
 */
export function attachResult(session: Session, { cut }: { readonly cut: boolean }): Buffer {
  if (session.openedAsNull && !session.showsApprovals && !cut) return Buffer.from("null");
  let result = withCurrent(session.opened, "modes", "currentModeId", session.currentModeId);
  result = withCurrent(result, "models", "currentModelId", session.currentModelId);
  const options = currentOptions(session);
  if (options !== undefined) result = withMember(result, "configOptions", options);
  if (!cut) return result;
  const meta = withMember(objectIn(result, "_meta"), "acp-master", json({ historyCut: true }));
  return withMember(result, "_meta", meta);
}

/** The agent's own list of options, as it last gave it; undefined where it gives none. */
export function agentOptions(session: Session): Buffer | undefined {
  const options = session.configOptions ?? memberOf(session.opened, "configOptions");
  return options?.[0] === 0x5b ? options : undefined;
}

/** All options of the session as they stand now, ours included. */
export function currentOptions(session: Session): Buffer | undefined {
  const options = agentOptions(session);
  if (!session.showsApprovals) return options;
  return arrayOf([...elementsIn(options), json(session.approvalsOption())]);
}

function withCurrent(result: Buffer, key: string, currentKey: string, current: string | undefined): Buffer {
  const value = current === undefined ? undefined : memberOf(result, key);
  if (value?.[0] !== 0x7b) return result;
  return withMember(result, key, withMember(value, currentKey, json(current)));
}
