// Which of the editor's requests change what a next daemon has to be told, and how. These are the master's own business, so they may be parsed whole.
import { type Envelope, parseFrame, readString, spanBytes } from "@acp-master/wire";
import { asRecord, type JsonRecord } from "../protocol/json-value.ts";

/** How a session is opened again. */
export interface SessionPlace {
  readonly cwd?: unknown;
  readonly mcpServers?: unknown;
  readonly additionalDirectories?: unknown;
}

/** What it means when the request succeeds. */
export type Intent =
  /** `frame`: the editor's own. */
  | { readonly what: "initialize"; readonly params: Buffer; readonly frame: Buffer }
  /** `sessionId`: undefined while only the answer will name it. `place`: undefined when it is too large to be kept. */
  | { readonly what: "open"; readonly sessionId: string | undefined; readonly place: SessionPlace | undefined }
  | { readonly what: "end"; readonly sessionId: string | undefined };

/** Room for long lists of servers; an editor's other sessions are not to suffer for one that asks for more. */
const longestPlace = 1024 * 1024;

export function intentOf(envelope: Envelope): Intent | undefined {
  const { bytes } = envelope;
  const method = readString(bytes, envelope.method);
  switch (method) {
    case "initialize":
      return {
        what: "initialize",
        params: spanBytes(bytes, envelope.params),
        frame: Buffer.from(bytes.subarray(envelope.start, envelope.end + 1)),
      };
    case "session/new":
    case "session/fork":
      return { what: "open", sessionId: undefined, place: placeOf(envelope) };
    case "session/load":
    case "session/resume":
      return { what: "open", sessionId: readString(bytes, envelope.sessionId), place: placeOf(envelope) };
    case "session/close":
    case "session/delete":
      return { what: "end", sessionId: readString(bytes, envelope.sessionId) };
    default:
      return undefined;
  }
}

function placeOf(envelope: Envelope): SessionPlace | undefined {
  if (envelope.params.end - envelope.params.start > longestPlace) return undefined;
  const { cwd, mcpServers, additionalDirectories } = paramsOf(envelope);
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(mcpServers === undefined ? {} : { mcpServers }),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories }),
  };
}

function paramsOf({ bytes, params }: Envelope): JsonRecord {
  try {
    return params.start === -1 ? {} : asRecord(parseFrame(bytes, params.start, params.end));
  } catch {
    return {}; // nested too deep: the master refuses it
  }
}
