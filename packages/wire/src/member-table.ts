// The members a router needs, level by level. Everything that is not in this table is content and is only walked over.
import type { SpanName } from "./envelope.ts";
import { spanIndex } from "./envelope.ts";
import { KeySet } from "./key-set.ts";

export interface Member {
  readonly key: Buffer;
  /** Index into `Envelope.spans`; -1 for the members of an option, which go into lists. */
  readonly slot: number;
  /** What lies one level deeper, if the value is an object. */
  readonly level: Level | undefined;
  /** Which list the elements go to, if the value is an array. */
  readonly list: "prompt" | "options" | undefined;
}

/** One object of the table. A level never lies inside itself, so each has one reusable set of the keys seen. */
export class Level {
  readonly keys = new KeySet();
  private readonly byLength: Member[][] = [];

  constructor(members: readonly Member[]) {
    for (const member of members) (this.byLength[member.key.length] ??= []).push(member);
    for (let length = 0; length < this.byLength.length; length += 1) this.byLength[length] ??= [];
  }

  /** The member with this raw key. */
  find(bytes: Buffer, start: number, end: number): Member | undefined {
    const length = end - start;
    if (length >= this.byLength.length) return undefined;
    const members = this.byLength[length]!;
    search: for (let index = 0; index < members.length; index += 1) {
      const { key } = members[index]!;
      for (let at = 0; at < length; at += 1) {
        if (bytes[start + at] !== key[at]) continue search;
      }
      return members[index];
    }
    return undefined;
  }
}

function member(key: string, span: SpanName, deeper: { level?: Level; list?: "prompt" | "options" } = {}): Member {
  return { key: Buffer.from(key), slot: spanIndex(span), level: deeper.level, list: deeper.list };
}

export const OPTION_ID: Member = { key: Buffer.from("optionId"), slot: -1, level: undefined, list: undefined };
export const OPTION_KIND: Member = { key: Buffer.from("kind"), slot: -1, level: undefined, list: undefined };
/** Each element of `params.options`. */
export const OPTION = new Level([OPTION_ID, OPTION_KIND]);

const UPDATE = new Level([
  member("sessionUpdate", "sessionUpdate"),
  member("toolCallId", "updateToolCallId"),
  member("status", "updateStatus"),
  member("currentModeId", "currentModeId"),
  member("configOptions", "updateConfigOptions"),
  member("sessionId", "updateSessionId"),
  member("senderSessionId", "updateSenderSessionId"),
  member("recipientSessionId", "updateRecipientSessionId"),
]);

const TOOL_CALL = new Level([member("toolCallId", "toolCallId"), member("_meta", "toolCallMeta")]);

const PARAMS = new Level([
  member("sessionId", "sessionId"),
  member("requestId", "requestId"),
  member("protocolVersion", "protocolVersion"),
  member("cwd", "cwd"),
  member("prompt", "prompt", { list: "prompt" }),
  member("modeId", "modeId"),
  member("configId", "configId"),
  member("terminalId", "terminalId"),
  member("elicitationId", "elicitationId"),
  member("mode", "elicitationMode"),
  member("_meta", "paramsMeta"),
  member("options", "options", { list: "options" }),
  member("update", "update", { level: UPDATE }),
  member("toolCall", "toolCall", { level: TOOL_CALL }),
]);

const OUTCOME = new Level([member("outcome", "outcomeKind"), member("optionId", "outcomeOptionId")]);

const RESULT = new Level([
  member("sessionId", "resultSessionId"),
  member("modes", "resultModes"),
  member("models", "resultModels"),
  member("configOptions", "resultConfigOptions"),
  member("terminalId", "resultTerminalId"),
  member("sessions", "resultSessions"),
  member("outcome", "outcome", { level: OUTCOME }),
]);

export const TOP = new Level([
  member("jsonrpc", "jsonrpc"),
  member("id", "id"),
  member("method", "method"),
  member("params", "params", { level: PARAMS }),
  member("result", "result", { level: RESULT }),
  member("error", "error"),
]);
