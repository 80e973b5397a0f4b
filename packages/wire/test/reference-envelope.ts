// What an envelope has to say, worked out the slow and simple way: a strict parser decides whether it is JSON, and a recursive reader
// of that (valid) text finds the members with their spelling. Shares nothing with the code it checks.

export interface Expectation {
  kind: "request" | "notification" | "response" | "invalid";
  problem: string | undefined;
  /** Raw text of each member that is there, by the envelope's name for it. With kind `invalid` only `id`. */
  spans: Map<string, string>;
  promptElements: string[];
  options: { optionId: string | undefined; kind: string | undefined }[];
}

interface Node {
  readonly text: string;
  readonly members: readonly { readonly rawKey: string; readonly key: string; readonly value: Node }[] | undefined;
  readonly elements: readonly Node[] | undefined;
}

/** Object levels and, for each key of them, the envelope's name. A name that is a level itself goes deeper. */
const LEVEL_NAMES = {
  top: { jsonrpc: "jsonrpc", id: "id", method: "method", params: "params", result: "result", error: "error" },
  params: {
    sessionId: "sessionId",
    requestId: "requestId",
    protocolVersion: "protocolVersion",
    cwd: "cwd",
    prompt: "prompt",
    modeId: "modeId",
    configId: "configId",
    terminalId: "terminalId",
    elicitationId: "elicitationId",
    mode: "elicitationMode",
    _meta: "paramsMeta",
    options: "options",
    update: "update",
    toolCall: "toolCall",
  },
  update: {
    sessionUpdate: "sessionUpdate",
    toolCallId: "updateToolCallId",
    status: "updateStatus",
    currentModeId: "currentModeId",
    configOptions: "updateConfigOptions",
    sessionId: "updateSessionId",
    senderSessionId: "updateSenderSessionId",
    recipientSessionId: "updateRecipientSessionId",
  },
  toolCall: { toolCallId: "toolCallId", _meta: "toolCallMeta" },
  result: {
    sessionId: "resultSessionId",
    modes: "resultModes",
    models: "resultModels",
    configOptions: "resultConfigOptions",
    terminalId: "resultTerminalId",
    sessions: "resultSessions",
    outcome: "outcome",
  },
  outcome: { outcome: "outcomeKind", optionId: "outcomeOptionId" },
} as const;
const LEVELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...LEVEL_NAMES,
  option: { optionId: "optionId", kind: "kind" },
};

/** Where each of the envelope's spans comes from. */
export const SPAN_PATHS = [
  ...Object.entries(LEVEL_NAMES.top).map(([key, name]) => ({ name, path: [key] })),
  ...Object.entries(LEVEL_NAMES.params).map(([key, name]) => ({ name, path: ["params", key] })),
  ...Object.entries(LEVEL_NAMES.update).map(([key, name]) => ({ name, path: ["params", "update", key] })),
  ...Object.entries(LEVEL_NAMES.toolCall).map(([key, name]) => ({ name, path: ["params", "toolCall", key] })),
  ...Object.entries(LEVEL_NAMES.result).map(([key, name]) => ({ name, path: ["result", key] })),
  ...Object.entries(LEVEL_NAMES.outcome).map(([key, name]) => ({ name, path: ["result", "outcome", key] })),
];

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function expectationFor(frame: Buffer): Expectation {
  const expected: Expectation = {
    kind: "invalid",
    problem: undefined,
    spans: new Map(),
    promptElements: [],
    options: [],
  };
  let text: string;
  let parsed: unknown;
  try {
    text = decoder.decode(frame);
    parsed = JSON.parse(text);
  } catch {
    return { ...expected, problem: "not_json" };
  }
  if (Array.isArray(parsed)) return { ...expected, problem: "batch" };
  if (typeof parsed !== "object" || parsed === null) return { ...expected, problem: "not_object" };

  const top = new Reader(text).read();
  const found = new Walk();
  found.level(top, "top");
  const id = found.spans.get("id");
  const idIsLegal = id === undefined || !/^[{[tf]/.test(id);
  const idIsReadable =
    idIsLegal && top.members!.filter(({ key }) => key === "id").length === 1 && found.rawTopKeys.has('"id"');
  const problem = found.problem ?? (isLegal(found.spans, idIsLegal) ? undefined : "bad_envelope");
  if (problem !== undefined) {
    const spans = new Map(idIsReadable ? [["id", id!]] : []);
    return { ...expected, problem, spans };
  }
  const isCall = found.spans.has("method");
  const kind = isCall ? (id === undefined ? "notification" : "request") : "response";
  return { kind, problem: undefined, spans: found.spans, promptElements: found.promptElements, options: found.options };
}

function isLegal(spans: ReadonlyMap<string, string>, idIsLegal: boolean): boolean {
  const value = (name: string): unknown => (spans.has(name) ? JSON.parse(spans.get(name)!) : undefined);
  const answers = Number(spans.has("result")) + Number(spans.has("error"));
  if (!idIsLegal || value("jsonrpc") !== "2.0") return false;
  if (spans.has("params") && (typeof value("params") !== "object" || value("params") === null)) return false;
  return spans.has("method") ? typeof value("method") === "string" && answers === 0 : spans.has("id") && answers === 1;
}

class Walk {
  problem: string | undefined;
  readonly spans = new Map<string, string>();
  readonly promptElements: string[] = [];
  readonly options: { optionId: string | undefined; kind: string | undefined }[] = [];
  readonly rawTopKeys = new Set<string>();

  level(node: Node, name: string, into = this.spans): void {
    const seen = new Set<string>();
    for (const { rawKey, key, value } of node.members!) {
      if (name === "top") this.rawTopKeys.add(rawKey);
      const escaped = rawKey.includes("\\");
      if (escaped || seen.has(key)) {
        this.problem ??= escaped ? "escaped_key" : "duplicate_key";
        continue;
      }
      seen.add(key);
      const spanName = Object.hasOwn(LEVELS[name]!, key) ? LEVELS[name]![key]! : undefined;
      if (spanName === undefined) continue;
      into.set(spanName, value.text);
      if (spanName !== "kind" && Object.hasOwn(LEVELS, spanName) && value.members !== undefined)
        this.level(value, spanName);
      if (spanName === "prompt") for (const element of value.elements ?? []) this.promptElements.push(element.text);
      if (spanName === "options") for (const element of value.elements ?? []) this.option(element);
    }
  }

  private option(element: Node): void {
    const into = new Map<string, string>();
    if (element.members !== undefined) this.level(element, "option", into);
    this.options.push({ optionId: into.get("optionId"), kind: into.get("kind") });
  }
}

/** Reads text that a strict parser has accepted, so it need not look for faults. */
class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  read(): Node {
    this.skipSpace();
    const start = this.at;
    const first = this.text[start];
    let members: { rawKey: string; key: string; value: Node }[] | undefined;
    let elements: Node[] | undefined;
    if (first === "{") members = this.list("}", () => this.member());
    else if (first === "[") elements = this.list("]", () => this.read());
    else if (first === '"') this.skipString();
    else while (this.at < this.text.length && !",]} \t\r\n".includes(this.text[this.at]!)) this.at += 1;
    return { text: this.text.slice(start, this.at), members, elements };
  }

  private list<T>(closing: string, one: () => T): T[] {
    const all: T[] = [];
    this.at += 1;
    this.skipSpace();
    while (this.text[this.at] !== closing) {
      all.push(one());
      this.skipSpace();
      if (this.text[this.at] === ",") this.at += 1;
      this.skipSpace();
    }
    this.at += 1;
    return all;
  }

  private member(): { rawKey: string; key: string; value: Node } {
    const start = this.at;
    this.skipString();
    const rawKey = this.text.slice(start, this.at);
    this.skipSpace();
    this.at += 1;
    return { rawKey, key: String(JSON.parse(rawKey)), value: this.read() };
  }

  private skipString(): void {
    this.at += 1;
    while (this.text[this.at] !== '"') this.at += this.text[this.at] === "\\" ? 2 : 1;
    this.at += 1;
  }

  private skipSpace(): void {
    while (" \t\r\n".includes(this.text[this.at] ?? "x")) this.at += 1;
  }
}
