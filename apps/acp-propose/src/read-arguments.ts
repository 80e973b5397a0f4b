// Reads the command line. One spelling of each flag, each once, and nothing else.

export type Wanted =
  | { readonly wanted: "help" | "version" }
  | { readonly wanted: "usage"; readonly problem: string }
  | { readonly wanted: "propose"; readonly channel: string; readonly payload: GivenPayload };

export interface GivenPayload {
  readonly spelling: "json" | "b64url";
  readonly text: string;
}

export const usage = `Usage: acp-propose --channel CHANNEL (--payload-json JSON | --payload-b64url TEXT)

Shows a proposal to the person who works with this agent. Prints one JSON line at once and, when the proposal was
accepted, another one when the person has decided. Reads no standard input and no file.

  --channel CHANNEL       the channel that the prompt of the running turn names
  --payload-json JSON     the proposal as compact JSON
  --payload-b64url TEXT   the same in base64url without padding
  --help, --version
`;

/**
 * What the arguments (without program and script) ask for. A problem never repeats an argument's text.
 *
 *     readArguments(["--version"])  // { wanted: "version" }
 */
export function readArguments(words: readonly string[]): Wanted {
  if (words.length === 1 && words[0] === "--help") return { wanted: "help" };
  if (words.length === 1 && words[0] === "--version") return { wanted: "version" };
  let channel: string | undefined;
  let payload: GivenPayload | undefined;
  for (let at = 0; at < words.length; at += 2) {
    const flag = words[at];
    const text = words[at + 1];
    if (flag !== "--channel" && flag !== "--payload-json" && flag !== "--payload-b64url") {
      return bad(`argument ${at + 1} is none of --channel, --payload-json, --payload-b64url`);
    }
    if (text === undefined) return bad(`${flag} needs a value`);
    if (flag === "--channel") {
      if (channel !== undefined) return bad("--channel is given twice");
      channel = text;
    } else {
      if (payload !== undefined) return bad("the payload is given twice");
      payload = { spelling: flag === "--payload-json" ? "json" : "b64url", text };
    }
  }
  if (channel === undefined) return bad("--channel is missing");
  if (payload === undefined) return bad("--payload-json or --payload-b64url is missing");
  return { wanted: "propose", channel, payload };
}

function bad(problem: string): Wanted {
  return { wanted: "usage", problem };
}
