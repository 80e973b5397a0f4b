// The text that a turn's prompt ends with: how to propose, and on which channel. It names no session, place or agent.
import {
  type ActionType,
  type Channel,
  type Offered,
  type Shell,
  maxPayloadBytes,
  placeholder,
  template,
} from "@acp-master/proposal-channel";

export const promptHeading = "[acp-master proposal]";

export interface PromptBlockFacts {
  readonly channel: Channel;
  readonly shell: Shell;
  /** The value of ACP_PROPOSE; only an argument list names it. */
  readonly program: string;
  readonly origin: string;
  readonly actionTypes: readonly ActionType[];
  readonly offered: Offered;
}

export function promptBlock(facts: PromptBlockFacts): string {
  const { shell, origin, actionTypes, offered } = facts;
  const spelling = shell === "powershell" ? "b64url" : "json";
  const forms = actionTypes.map((type) => `   - ${type.form(offered)}`);
  return [
    promptHeading,
    `1. To present terminal actions to the person, run exactly one command of this form and replace only ${placeholder[spelling]}:`,
    commandOf(facts),
    "   No stdin, pipe, here-document, here-string, redirection, temporary file, other spelling or other program.",
    `2. The JSON is compact: one line, no white space outside strings, no duplicate keys, at most ${maxPayloadBytes} bytes of UTF-8, for example`,
    `   ${exampleOf(origin, actionTypes)}`,
    "   1 to 3 choices, each with 1 to 3 actions; a title has at most 200 characters, the optional rationale 2000, an input 8000; recommended_choice is optional. Actions:",
    ...forms,
    `   ${escapingOf(shell)} Control characters other than line feeds are refused. Give no ids of sessions, panes, windows, tabs, parents or agents.`,
    "3. Two JSON lines come back: the validation at once, the final one when the person has decided. `confirmed` means dispatched, not succeeded. A failure with retryable true may be corrected at most twice; never retry any other failure or a final status.",
    "4. Never print the JSON as assistant text. Without such a block in the prompt, explain in prose instead.",
  ].join("\n");
}

function commandOf({ channel, shell, program }: PromptBlockFacts): string {
  if (shell === "powershell") return template(shell, channel, "b64url") ?? "";
  return (
    template(shell, channel, "json") ??
    JSON.stringify([program, "--channel", channel, "--payload-json", placeholder.json])
  );
}

function escapingOf(shell: Shell): string {
  switch (shell) {
    case "sh":
      return "Inside the single quotes write ' as '\\'' and nothing else differently.";
    case "powershell":
      return "Encode the JSON's UTF-8 bytes as base64url without padding.";
    case "argv":
      return "The JSON is one argument, not quoted and not escaped.";
  }
  return shell satisfies never;
}

function exampleOf(origin: string, actionTypes: readonly ActionType[]): string {
  const actions = actionTypes.slice(0, 1).map((type) => type.example);
  const choice = { choice: 1, title: "What it does", rationale: "Why", actions };
  return JSON.stringify({ schema_version: 1, origin, recommended_choice: 1, choices: [choice] });
}
