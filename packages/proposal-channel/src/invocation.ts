// The canonical command in each of its forms: how it is written, and the one reading of it. A reading may be approved
// without a question, so there is no second spelling, no trimming and no tolerance.
import { type Channel, channelLength, isChannel } from "./channel.ts";
import { maxPayloadBytes } from "./limits.ts";
import { decodeUtf8, hasUnpairedSurrogate, jsonProblem } from "./strict-json.ts";

export type Shell = "sh" | "powershell" | "argv";

/** How the payload is written: as quoted JSON, or in an alphabet that no shell reads as anything else. */
export type Spelling = "json" | "b64url";

export interface Invocation {
  readonly channel: Channel;
  readonly payload: Uint8Array;
  readonly spelling: Spelling;
}

/** What an agent runs: a line for its shell, or the program and its arguments. */
export type Command = string | readonly string[];

export type Unrecognised =
  | "not_this_form"
  | "control_character"
  | "other_start"
  | "bad_channel"
  | "no_payload"
  | "bad_quoting"
  | "bad_base64url"
  | "payload_size"
  | "payload_not_utf8"
  | "payload_not_compact_json"
  | "not_canonical";

export type Recognition =
  { readonly ok: true; readonly invocation: Invocation } | { readonly ok: false; readonly why: Unrecognised };

interface Line {
  readonly start: string;
  readonly quote: string;
  /** What stands for one `'` inside of quotes. */
  readonly escapedQuote: string;
  /** Characters that this shell reads as quotes though they are none. */
  readonly otherQuotes: RegExp | undefined;
}

const lines: Readonly<Record<Exclude<Shell, "argv">, Line>> = {
  sh: { start: '"$ACP_PROPOSE" --channel ', quote: "'", escapedQuote: "'\\''", otherQuotes: undefined },
  powershell: {
    start: '& "$env:ACP_PROPOSE" --channel ',
    quote: "'",
    escapedQuote: "''",
    otherQuotes: /[\u2018-\u201b]/,
  },
};

const flags: Readonly<Record<Spelling, string>> = { json: "--payload-json", b64url: "--payload-b64url" };

// oxlint-disable-next-line no-control-regex
const lineBreaking = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;

/** What stands for the payload in a template. */
export const placeholder: Readonly<Record<Spelling, string>> = { json: "<json>", b64url: "<base64url of the json>" };

/**
 * The command as an agent is to run it; `program` is the value of ACP_PROPOSE and needed for `argv` only. `undefined`
 * when the payload is none (see `payloadOf`) or this form cannot carry it; the base64url spelling can carry any.
 *
 *     render("sh", { channel, payload: Buffer.from('{"a":1}'), spelling: "json" })
 */
export function render(shell: Shell, invocation: Invocation, program = ""): Command | undefined {
  const command = write(shell, invocation, program);
  return command !== undefined && recognise(shell, command, program).ok ? command : undefined;
}

/** The line that a prompt shows: canonical but for the placeholder, which the agent replaces. `undefined` for `argv`. */
export function template(shell: Shell, channel: Channel, spelling: Spelling): string | undefined {
  if (shell === "argv") return undefined;
  const { start, quote } = lines[shell];
  const around = spelling === "json" ? quote : "";
  return `${start}${channel} ${flags[spelling]} ${around}${placeholder[spelling]}${around}`;
}

/**
 * Reads a command of the agent's own shell. Whatever is not byte for byte what `render` writes is refused; whether the
 * payload is a proposal is not asked here.
 */
export function recognise(shell: Shell, command: Command, program = ""): Recognition {
  const read = shell === "argv" ? readArguments(command, program) : readLine(lines[shell], command);
  if (!read.ok) return read;
  const again = write(shell, read.invocation, program);
  return again !== undefined && isSame(again, command) ? read : no("not_canonical");
}

/** The bytes of a payload in its JSON spelling, or why it is none. Nothing here reads what it says. */
export function payloadOf(json: string): { readonly ok: true; readonly payload: Uint8Array } | RecognitionFailure {
  if (hasUnpairedSurrogate(json)) return no("payload_not_utf8");
  const payload = Buffer.from(json, "utf8");
  if (payload.length < 1 || payload.length > maxPayloadBytes) return no("payload_size");
  if (jsonProblem(json, "compact") !== undefined) return no("payload_not_compact_json");
  return { ok: true, payload };
}

/** Decodes base64url without padding; anything that would not be spelled so again is `undefined`. */
export function decodeBase64url(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

type RecognitionFailure = Extract<Recognition, { ok: false }>;

function readLine(line: Line, command: Command): Recognition {
  if (typeof command !== "string") return no("not_this_form");
  if (lineBreaking.test(command) || hasUnpairedSurrogate(command)) return no("control_character");
  if (!command.startsWith(line.start)) return no("other_start");
  const rest = command.slice(line.start.length);
  const split = firstFlag(rest);
  if (split === undefined) return no("no_payload");
  const channel = rest.slice(0, split.at);
  if (!isChannel(channel)) return no("bad_channel");
  const text = rest.slice(split.end);
  if (split.spelling === "b64url") return fromBase64url(channel, text);
  if (line.otherQuotes?.test(text)) return no("bad_quoting");
  const json = unquote(line, text);
  return json === undefined ? no("bad_quoting") : fromJson(channel, json);
}

function readArguments(command: Command, program: string): Recognition {
  if (typeof command === "string" || command.length !== 5) return no("not_this_form");
  if (command.some((word) => lineBreaking.test(word) || hasUnpairedSurrogate(word))) return no("control_character");
  const [first = "", channelFlag, channel = "", payloadFlag, text = ""] = command;
  if (first === "" || first !== program || channelFlag !== "--channel") return no("other_start");
  if (!isChannel(channel)) return no("bad_channel");
  if (payloadFlag === flags.b64url) return fromBase64url(channel, text);
  return payloadFlag === flags.json ? fromJson(channel, text) : no("no_payload");
}

/** The first place where a payload starts. A channel holds no blank, so a later one is never the right one. */
function firstFlag(
  rest: string,
): { readonly at: number; readonly end: number; readonly spelling: Spelling } | undefined {
  if (rest[channelLength] !== " ") return undefined;
  for (const spelling of ["json", "b64url"] as const) {
    const flag = ` ${flags[spelling]} `;
    const at = rest.indexOf(flag);
    if (at === channelLength) return { at, end: at + flag.length, spelling };
  }
  return undefined;
}

function fromBase64url(channel: Channel, text: string): Recognition {
  const bytes = decodeBase64url(text);
  if (bytes === undefined) return no("bad_base64url");
  const json = decodeUtf8(bytes);
  if (json === undefined) return no("payload_not_utf8");
  const read = payloadOf(json);
  return read.ok ? yes({ channel, payload: read.payload, spelling: "b64url" }) : read;
}

function fromJson(channel: Channel, json: string): Recognition {
  const read = payloadOf(json);
  return read.ok ? yes({ channel, payload: read.payload, spelling: "json" }) : read;
}

/** The text between the outer quotes; `undefined` when one of the inner quotes is not part of an escape. */
function unquote({ quote, escapedQuote }: Line, text: string): string | undefined {
  if (text.length < 2 || !text.startsWith(quote) || !text.endsWith(quote)) return undefined;
  const inner = text.slice(1, -1);
  let json = "";
  let at = 0;
  for (;;) {
    const next = inner.indexOf(quote, at);
    if (next < 0) return json + inner.slice(at);
    if (!inner.startsWith(escapedQuote, next)) return undefined;
    json += inner.slice(at, next) + quote;
    at = next + escapedQuote.length;
  }
}

function write(shell: Shell, { channel, payload, spelling }: Invocation, program: string): Command | undefined {
  const json = decodeUtf8(payload);
  if (json === undefined) return undefined;
  const text = spelling === "json" ? json : Buffer.from(payload).toString("base64url");
  if (shell === "argv") return [program, "--channel", channel, flags[spelling], text];
  const { start, quote, escapedQuote } = lines[shell];
  const word = spelling === "json" ? quote + text.replaceAll(quote, () => escapedQuote) + quote : text;
  return `${start}${channel} ${flags[spelling]} ${word}`;
}

function isSame(left: Command, right: Command): boolean {
  if (typeof left === "string" || typeof right === "string") return left === right;
  return left.length === right.length && left.every((word, index) => word === right[index]);
}

function yes(invocation: Invocation): Recognition {
  return { ok: true, invocation };
}

function no(why: Unrecognised): RecognitionFailure {
  return { ok: false, why };
}
