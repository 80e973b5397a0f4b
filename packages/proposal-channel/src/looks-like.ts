// A wide look at a command: might it be meant to start acp-propose? A yes only ever makes us stricter, so this reading is
// loose where the recogniser is strict.
import type { Command, Shell } from "./invocation.ts";

/**
 * Whether some part of the command starts the program, by its variable, its path or its name. `program` is the value of
 * ACP_PROPOSE, if known.
 *
 *     looksLikeProposal("sh", 'x & "$ACP_PROPOSE" --help') === true
 *     looksLikeProposal("sh", "echo acp-propose") === false
 */
export function looksLikeProposal(shell: Shell, command: Command, program?: string): boolean {
  if (typeof command === "string") return startedWords(shell, command).some((word) => namesProgram(word, program));
  const [first = "", ...rest] = command;
  if (namesProgram(first, program)) return true;
  // A shell with its script: bash -lc "…", pwsh -Command "…".
  return rest.some(
    (word, index) => /^[-/]\w*c/i.test(rest[index - 1] ?? "") && looksLikeProposal(shellOf(first), word, program),
  );
}

/** Whether more text at the end of the command could make it look like a proposal in the word that is being written. */
export function mayBecomeProposal(shell: Shell, command: string, program?: string): boolean {
  const last = startedWords(shell, command, "unfinished").at(-1);
  if (last === undefined) return false;
  const names = [...variables, "acp-propose", ...(program === undefined ? [] : [program])];
  const base = last.slice(Math.max(last.lastIndexOf("/"), last.lastIndexOf("\\")) + 1);
  return [last, base].some((word) => names.some((name) => name.toLowerCase().startsWith(word.toLowerCase())));
}

const variables = ["$acp_propose", "${acp_propose}", "$env:acp_propose", "${env:acp_propose}", "%acp_propose%"];

function namesProgram(word: string, program: string | undefined): boolean {
  const lower = word.toLowerCase();
  if (variables.includes(lower) || (program !== undefined && program !== "" && word === program)) return true;
  return /(?:^|[/\\])acp-propose(?:\.exe|\.cmd|\.js)?$/.test(lower);
}

function shellOf(program: string): Shell {
  return /(?:^|[/\\])(?:pwsh|powershell)(?:\.exe)?$/i.test(program) ? "powershell" : "sh";
}

/**
 * The word that each segment of the line starts, without its quotes; where escapes change it, both readings. With
 * "unfinished" only a word that the line ends in.
 */
function startedWords(shell: Shell, command: string, wanted: "all" | "unfinished" = "all"): readonly string[] {
  const dialect = shell === "powershell" ? powershell : posix;
  const words: string[] = [];
  let at = 0;
  while (at <= command.length) {
    at = wordStart(dialect, command, at);
    const word = readWord(dialect, command, at);
    const isUnfinished = word.end >= command.length;
    if (wanted === "all" || isUnfinished) words.push(word.text, word.spelled);
    at = segmentEnd(dialect, command, word.end) + 1;
  }
  return words;
}

interface Dialect {
  readonly escape: string;
  readonly separators: RegExp;
  readonly assignments: boolean;
}

const posix: Dialect = { escape: "\\", separators: /[|;\r\n&()`]/, assignments: true };
const powershell: Dialect = { escape: "`", separators: /[|;\r\n]|&&/, assignments: false };

/** Skips blanks, one leading `&`, and words that only set a variable. */
function wordStart(dialect: Dialect, command: string, from: number): number {
  let at = skipBlanks(command, from);
  if (command[at] === "&") at = skipBlanks(command, at + 1);
  if (!dialect.assignments) return at;
  for (;;) {
    const word = readWord(dialect, command, at);
    if (!/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word.spelled) || word.end === at) return at;
    at = skipBlanks(command, word.end);
  }
}

function skipBlanks(command: string, from: number): number {
  let at = from;
  while (/[ \t\f\v\u00a0]/.test(command[at] ?? "")) at += 1;
  return at;
}

interface Word {
  /** With quotes and escapes resolved. */
  readonly text: string;
  /** With quotes taken away and escapes kept. */
  readonly spelled: string;
  readonly end: number;
}

function readWord(dialect: Dialect, command: string, from: number): Word {
  let text = "";
  let spelled = "";
  const end = walk(dialect, command, from, (char, kind) => {
    if (kind === "plain" && (isBlank(char) || isSeparator(dialect, command, char.at))) return "stop";
    if (kind !== "quote") spelled += char.text;
    if (kind === "escaped" && char.text.length === 2) text += char.text[1] === "\n" ? "" : (char.text[1] ?? "");
    else if (kind !== "quote") text += char.text;
    return "go_on";
  });
  return { text, spelled, end };
}

function segmentEnd(dialect: Dialect, command: string, from: number): number {
  return walk(dialect, command, from, (char, kind) =>
    kind === "plain" && isSeparator(dialect, command, char.at) ? "stop" : "go_on",
  );
}

interface Char {
  readonly text: string;
  readonly at: number;
}

/** Goes through the line with the shell's quoting until told to stop; gives where. */
function walk(
  { escape }: Dialect,
  command: string,
  from: number,
  visit: (char: Char, kind: "plain" | "quoted" | "escaped" | "quote") => "go_on" | "stop",
): number {
  let quote: string | undefined;
  let at = from;
  while (at < command.length) {
    const one = command[at] ?? "";
    const escaped = one === escape && quote !== "'";
    const text = escaped ? command.slice(at, at + 2) : one;
    const isQuote = !escaped && (quote === undefined ? one === "'" || one === '"' : one === quote);
    const kind = isQuote ? "quote" : escaped ? "escaped" : quote === undefined ? "plain" : "quoted";
    if (visit({ text, at }, kind) === "stop") return at;
    if (isQuote) quote = quote === undefined ? one : undefined;
    at += text.length;
  }
  return at;
}

function isBlank({ text }: Char): boolean {
  return /[ \t\f\v\u00a0]/.test(text);
}

function isSeparator({ separators }: Dialect, command: string, at: number): boolean {
  const match = separators.exec(command.slice(at, at + 2));
  return match?.index === 0;
}
