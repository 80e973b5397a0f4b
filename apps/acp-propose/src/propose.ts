// One proposal from the command line to its end: checks, connects, sends, prints. Nothing but response lines goes to `print`.
import {
  type ExchangeFailure,
  connectToHelper,
  decodeBase64url,
  decodeUtf8,
  encodeFinal,
  encodeRequest,
  encodeValidation,
  exchange,
  instanceOf,
  maxPayloadBytes,
  parseChannel,
  platformPlace,
} from "@acp-master/proposal-channel";
import type { GivenPayload } from "./read-arguments.ts";

export interface ProposeOptions {
  readonly channel: string;
  readonly payload: GivenPayload;
  /** The value of ACP_PROPOSE_DIR. */
  readonly folder: string | undefined;
  /** Hands one line over and resolves when it is out. */
  readonly print: (line: string) => Promise<void>;
  /** Ends the exchange at once. */
  readonly signal: AbortSignal;
}

/** `undefined`: all lines are printed. Else what went wrong, for people; it holds nothing of the proposal. */
export async function propose(options: ProposeOptions): Promise<string | undefined> {
  const { signal, print } = options;
  const parsed = parseChannel(options.channel);
  if (!parsed.ok) return `the channel is malformed: ${parsed.message}`;
  const payload = readPayload(options.payload);
  if (!payload.ok) return payload.message;
  if (options.folder === undefined || options.folder === "") {
    return "ACP_PROPOSE_DIR is not set; this command works only in the shell of an agent that acp-master started";
  }
  const endpoint = platformPlace().path(options.folder, instanceOf(parsed.channel));
  if (!endpoint.ok) return endpoint.message;
  const connected = await connectToHelper(endpoint.path, signal);
  if (!connected.ok) {
    return connected.reason === "failed"
      ? `cannot connect to the Helper that owns this channel (${connected.code})`
      : "the Helper that owns this channel is unavailable";
  }
  const { socket } = connected;
  const onAbort = () => socket.destroy();
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    const done = await exchange(socket, encodeRequest(parsed.channel, payload.json), {
      validation: async (line) => await print(encodeValidation(line)),
      final: async (line) => await print(encodeFinal(line)),
    });
    return done.ok ? undefined : failures[done.failure];
  } finally {
    signal.removeEventListener("abort", onAbort);
    socket.destroy();
  }
}

const failures: Readonly<Record<ExchangeFailure, string>> = {
  connection_lost: "the Helper closed the connection before its answer was complete; do not try again on this channel",
  too_long: "the Helper sent a line that is too long",
  not_a_validation: "the Helper's first line is no validation response",
  not_a_final: "the Helper's second line is no final response to this proposal",
};

type ReadPayload = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly message: string };

function readPayload({ spelling, text }: GivenPayload): ReadPayload {
  if (spelling === "json") return sized(text, Buffer.byteLength(text));
  const bytes = decodeBase64url(text);
  if (bytes === undefined) return { ok: false, message: "the payload is not base64url without padding" };
  const json = decodeUtf8(bytes);
  return json === undefined ? { ok: false, message: "the payload is not UTF-8" } : sized(json, bytes.length);
}

function sized(json: string, bytes: number): ReadPayload {
  if (bytes >= 1 && bytes <= maxPayloadBytes) return { ok: true, json };
  return { ok: false, message: `the payload has ${bytes} bytes; 1 to ${maxPayloadBytes} are allowed` };
}
