// The daemon's notifications of its own: which are meant for this program, and which for editors that subscribed to them.
import { type Envelope, parseFrame, stringEquals } from "@acp-master/wire";
import { asRecord } from "../protocol/json-value.ts";

const prefix = Buffer.from('"_acp-master/');
const closing = Buffer.from("_acp-master/closing");
const position = Buffer.from("_acp-master/position");
const detached = Buffer.from("_acp-master/detached");
/** As the daemon writes it, with a number at the end. A request's line has its id ahead of its params, or behind them, and then ends otherwise. */
const positionHead = Buffer.from('{"jsonrpc":"2.0","method":"_acp-master/position","params":{"sessionId":');
const LF = 0x0a;
const BRACE = 0x7d;

/** `other`: for subscribers. Undefined: not one of the daemon's own. */
export function ownNotification(envelope: Envelope): "closing" | "position" | "detached" | "other" | undefined {
  const { kind, bytes, method } = envelope;
  if (kind !== "notification" || !startsWith(bytes, method.start, prefix)) return undefined;
  if (stringEquals(bytes, method, position)) return "position";
  if (stringEquals(bytes, method, closing)) return "closing";
  return stringEquals(bytes, method, detached) ? "detached" : "other";
}

/**
 * Where the lines begin that are not the daemon's own; undefined: that takes a closer look. A position stands ahead of what it
 * is told for.
 */
export function othersBegin(chunk: Buffer): number | undefined {
  const own = chunk.lastIndexOf(prefix);
  if (own === -1) return 0;
  const begin = chunk.indexOf(LF) + 1;
  if (own >= begin || !startsWith(chunk, 0, positionHead)) return undefined;
  return chunk[begin - 3] === BRACE && isDigit(chunk[begin - 4]!) ? begin : undefined;
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

function startsWith(bytes: Buffer, at: number, text: Buffer): boolean {
  if (at + text.length > bytes.length) return false;
  return bytes[at + 1] === text[1] && bytes.compare(text, 0, text.length, at, at + text.length) === 0;
}

/** Why the daemon closes this connection: `stop`, `restart`, or what it has against it. */
export function closingReason({ bytes, params }: Envelope): string {
  const { reason } = asRecord(params.start === -1 ? undefined : parseFrame(bytes, params.start, params.end));
  return typeof reason === "string" ? reason : "no reason given";
}
