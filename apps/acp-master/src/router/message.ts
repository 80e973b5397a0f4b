// Frames of the master's own making. Ids and bodies go in as raw JSON bytes, so that nothing is re-encoded.

import type { RpcError } from "../protocol/reasons.ts";

const bytesOf = (text: string): Buffer => Buffer.from(text, "utf8");

const RESPONSE_HEAD = bytesOf('{"jsonrpc":"2.0","id":');
const RESULT = bytesOf(',"result":');
const ERROR = bytesOf(',"error":');
const METHOD = bytesOf(',"method":');
const NOTIFICATION_HEAD = bytesOf('{"jsonrpc":"2.0","method":');
const PARAMS = bytesOf(',"params":');
const TAIL = bytesOf("}\n");

export const EMPTY_OBJECT = bytesOf("{}");

/** JSON bytes of a value that the master made itself. */
export const json = (value: unknown): Buffer => bytesOf(JSON.stringify(value));

/** `id` is the exact text of the caller's id, as latin1. */
export function resultFrame(id: string, result: Buffer): Buffer {
  return Buffer.concat([RESPONSE_HEAD, Buffer.from(id, "latin1"), RESULT, result, TAIL]);
}

export function errorFrame(id: string, error: RpcError): Buffer {
  return Buffer.concat([RESPONSE_HEAD, Buffer.from(id, "latin1"), ERROR, json(error), TAIL]);
}

export function requestFrame(id: string, method: string, params: Buffer): Buffer {
  return Buffer.concat([RESPONSE_HEAD, Buffer.from(id, "latin1"), METHOD, json(method), PARAMS, params, TAIL]);
}

export function notificationFrame(method: string, params: Buffer): Buffer {
  return Buffer.concat([NOTIFICATION_HEAD, json(method), PARAMS, params, TAIL]);
}
