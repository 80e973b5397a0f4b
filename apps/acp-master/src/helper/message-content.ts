// How a message to or from a Helper becomes bytes and back. Params that carry an agent's frame, and the content blocks a
// Helper appends to a prompt, pass as bytes: they are never parsed and never become a string here. Of a Helper's error
// only the code is read.
import { Envelope, peek, readString, type Span } from "@acp-master/wire";
import type { Message, NotificationMessage, RequestMessage, ResponseMessage } from "vscode-jsonrpc/node";
import { elementsOnOneLine, members } from "./object-members.ts";

/** Params that leave as they are. The bytes are let go of as soon as they are encoded. */
export class RawParams {
  #bytes: Buffer | undefined;
  readonly size: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }

  take(): Buffer {
    const bytes = this.#bytes;
    if (bytes === undefined) throw new Error("These params were already written; make new ones for another message.");
    this.#bytes = undefined;
    return bytes;
  }
}

/** What of a result is read: these members as values, `append` as the bytes of its array on one line. */
export type HelperResult = Readonly<Record<string, unknown>> & { readonly append?: Buffer };

const readMembers = new Set(["protocolVersion", "helper", "hooks", "presets", "review", "outcome", "verdict", "final"]);
const readNotifications = new Set(["helper/log", "helper/busy", "helper/unavailable", "helper/impaired"]);
/** A log line or a reason is short; what is longer is counted by its size and not read. */
const maxNotificationBytes = 16 * 1024;
/** No known member of a result is large; a larger one is treated as absent. */
const maxMemberBytes = 1024 * 1024;

/** The body is no message of this protocol; the stream itself is still in step. */
export class BodyFault extends Error {
  readonly kind: "not_json" | "bad_envelope" | "unknown_id" | "request";
  constructor(kind: BodyFault["kind"]) {
    super(`A Helper sent a body that is no message (${kind}).`);
    this.kind = kind;
  }
}

export function encodeMessage(message: Message): Buffer {
  const { params, ...envelope } = "params" in message ? message : { ...message, params: undefined };
  if (!(params instanceof RawParams)) return Buffer.from(JSON.stringify(message));
  const head = JSON.stringify(envelope).slice(0, -1);
  return Buffer.concat([Buffer.from(`${head},"params":`), params.take(), Buffer.from("}")]);
}

export function decodeMessage(body: Uint8Array): RequestMessage | NotificationMessage | ResponseMessage {
  // The scanner may look at the byte behind a frame, where a line has its terminator.
  const bytes = Buffer.allocUnsafe(body.length + 1);
  bytes.set(body);
  bytes[body.length] = 0x0a;
  const envelope = new Envelope();
  peek(bytes, 0, body.length, envelope);
  switch (envelope.kind) {
    case "invalid":
      throw new BodyFault(envelope.problem === "not_json" ? "not_json" : "bad_envelope");
    case "request":
      return { jsonrpc: "2.0", id: readId(bytes, envelope.id), method: readString(bytes, envelope.method) ?? "" };
    case "notification":
      return readNotification(bytes, envelope);
    case "response":
      return readResponse(bytes, envelope);
  }
  return envelope.kind satisfies never;
}

function readResponse(bytes: Buffer, envelope: Envelope): ResponseMessage {
  const id = readId(bytes, envelope.id);
  if (envelope.error.start >= 0) return { jsonrpc: "2.0", id, error: readError(bytes, envelope.error) };
  return { jsonrpc: "2.0", id, result: readResult(bytes, envelope.result) };
}

function readId(bytes: Buffer, span: Span): number | string | null {
  const id = readValue(bytes, span);
  return typeof id === "number" || typeof id === "string" ? id : null;
}

function readNotification(bytes: Buffer, envelope: Envelope): NotificationMessage {
  const method = readString(bytes, envelope.method) ?? "";
  // The library looks into these params before anybody asks for them; the master has no requests to cancel.
  if (method === "$/cancelRequest") return { jsonrpc: "2.0", method, params: { id: "" } };
  const { start, end } = envelope.params;
  const isRead = readNotifications.has(method) && start >= 0 && end - start <= maxNotificationBytes;
  const params: unknown = isRead ? readValue(bytes, envelope.params) : {};
  const isNamed = typeof params === "object" && params !== null && !Array.isArray(params);
  return { jsonrpc: "2.0", method, params: isNamed ? params : {} };
}

function readError(bytes: Buffer, error: Span): { code: number; message: string } {
  const code = members(bytes, error)?.find((member) => member.key === "code");
  const value = code && code.value.end - code.value.start <= 16 ? readValue(bytes, code.value) : undefined;
  return { code: typeof value === "number" ? value : 0, message: "" };
}

function readResult(bytes: Buffer, result: Span): HelperResult | null {
  const found = members(bytes, result);
  if (found === undefined) return null;
  const read: Record<string, unknown> = {};
  for (const { key, value } of found) {
    if (key === "append") {
      if (Object.hasOwn(read, "append")) throw new BodyFault("bad_envelope");
      read["append"] = elementsOnOneLine(bytes, value);
    } else if (key !== undefined && readMembers.has(key) && value.end - value.start <= maxMemberBytes) {
      read[key] = readValue(bytes, value);
    }
  }
  return read;
}

function readValue(bytes: Buffer, span: Span): unknown {
  return span.start < 0 ? undefined : JSON.parse(bytes.toString("utf8", span.start, span.end));
}
