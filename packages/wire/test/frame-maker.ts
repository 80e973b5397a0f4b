// Makes frames as text: legal ones, odd ones, and ones that only look like what a router looks for.
import type { RandomSource } from "./random-source.ts";

const TABLE_KEYS =
  "jsonrpc id method params result error sessionId requestId protocolVersion cwd prompt modeId configId terminalId elicitationId mode _meta options update sessionUpdate senderSessionId recipientSessionId toolCallId status currentModeId configOptions toolCall optionId kind outcome modes models sessions".split(
    " ",
  );
const OTHER_KEYS = [
  "",
  "a",
  "b",
  "i",
  "ids",
  "Id",
  "content",
  "text",
  "type",
  "title",
  "x".repeat(20),
  "中",
  "__proto__",
  "kinD",
];
const PIECES = [
  ["", "a", "hello", "the quick brown fox", "id", "sessionId", "allow_once", "2.0"],
  ["{", "}", "[", "]", ",", ":", "'", "/", "\u007f"],
  ["é", "中文字", "\u{1F600}", "\u2028", "\ufeff", "\ufffd", "x".repeat(37), "=".repeat(64)],
  ['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0000", "\\u0022", "\\u005c", "\\u00E9", "\\u4e2d"],
  ["\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\uDBFF\\uDFFF", "\\\\u0041", "\\\\\\\\", '\\\\\\"'],
  ['\\"id\\":1', '{\\"sessionId\\":\\"s\\"}', '\\",\\"id\\":2,\\"x\\":\\"', '\\"}}\\n{\\"jsonrpc\\":\\"2.0\\"'],
].flat();
const BAD_PIECES = ["\\x", "\\u12", "\\u12G4", "\\U0041", "\n", "\t", "\u0000", "\u001f", "\\", '"', "\\'"];
const NUMBERS =
  "0 -0 1 -1 7 42 10 1.5 -1.25 0.0 0e0 1e3 1E3 1e+3 1e-3 -1.5E-10 9007199254740993 2147483648 1e999 123456789012345678901234567890".split(
    " ",
  );
const BAD_NUMBERS = [
  "01",
  "-",
  "+1",
  ".5",
  "1.",
  "1e",
  "1e+",
  "-01",
  "0x1",
  "1.e3",
  "NaN",
  "Infinity",
  "-Infinity",
  "1_000",
  "--1",
  "1..2",
];
const BAD_WORDS = ["True", "nul", "undefined", "truefalse", "tru", "fals", "nulll", "'a'", ""];
const METHODS = [
  '"session/update"',
  '"session/request_permission"',
  '"session/prompt"',
  '"session\\/prompt"',
  '"x"',
  '""',
  '"_a/b"',
];
const IDS = ["0", '""', '"0"', "1", "1e3", "null", '"a\\u0062"', "9007199254740993", "-1", '"1234567890abcdef-12"'];
const BAD_IDS = ["true", "[]", "{}", '{"id":1}', "[1]", "false"];

type Member = [key: string, value: string];

export class FrameMaker {
  private readonly random: RandomSource;

  constructor(random: RandomSource) {
    this.random = random;
  }

  /** Any line that a peer might send, mostly close to a legal frame. */
  frame(): string {
    const { random } = this;
    const shape = random.below(40);
    if (shape === 0) return this.space() + this.value(3) + this.space();
    if (shape === 1) return `[${this.message()},${this.message()}]`;
    const message = this.space() + this.message() + this.space();
    return random.oneIn(60) ? message + random.pick(["}", ",", " x", "{}", "null", message]) : message;
  }

  /** One object close to a JSON-RPC message. */
  message(): string {
    const { random } = this;
    const members: Member[] = [];
    if (!random.oneIn(40))
      members.push([
        "jsonrpc",
        random.oneIn(30) ? random.pick(['"1.0"', "2.0", '"2.00"', '"2\\u002e0"', "null"]) : '"2.0"',
      ]);
    const kind = random.below(10);
    if (kind < 7) {
      members.push(["method", random.oneIn(40) ? this.value(1) : random.pick(METHODS)]);
      if (kind < 4) members.push(["id", this.id()]);
      if (!random.oneIn(10)) members.push(["params", this.params()]);
      if (random.oneIn(60)) members.push(["result", "{}"]);
    } else {
      if (!random.oneIn(20)) members.push(["id", this.id()]);
      if (!random.oneIn(4)) members.push(["result", this.result()]);
      if (members.length < 3 || random.oneIn(30)) members.push(["error", this.value(2)]);
      if (random.oneIn(40)) members.push(["params", this.value(1)]);
    }
    return this.object(members, 8);
  }

  private id(): string {
    return this.random.oneIn(25) ? this.random.pick(BAD_IDS) : this.random.pick(IDS);
  }

  private params(): string {
    const { random } = this;
    const shape = random.below(30);
    if (shape === 0) return this.value(2);
    if (shape === 1) return "[1,[2]]";
    const members: Member[] = [];
    if (!random.oneIn(8)) members.push(["sessionId", this.string()]);
    const use = random.below(4);
    if (use < 2) members.push(["update", this.update()]);
    else if (use === 2) {
      members.push(
        ["toolCall", this.part(["toolCallId", "_meta", "title", "kind", "status", "rawInput"])],
        ["options", this.options()],
      );
    } else {
      members.push(["prompt", random.oneIn(6) ? this.value(2) : this.list(() => this.value(2))]);
    }
    for (const key of [
      "requestId",
      "protocolVersion",
      "cwd",
      "modeId",
      "configId",
      "terminalId",
      "elicitationId",
      "mode",
      "_meta",
    ]) {
      if (random.oneIn(8)) members.push([key, this.value(2)]);
    }
    return this.object(members, 8);
  }

  private update(): string {
    return this.part([
      "sessionUpdate",
      "toolCallId",
      "status",
      "currentModeId",
      "configOptions",
      "sessionId",
      "senderSessionId",
      "recipientSessionId",
      "content",
    ]);
  }

  private result(): string {
    const { random } = this;
    if (random.oneIn(6)) return this.value(2);
    if (random.oneIn(2)) return this.part(["sessionId", "modes", "models", "configOptions", "terminalId", "sessions"]);
    return this.object([["outcome", this.part(["outcome", "optionId", "_meta"])]], 4);
  }

  private options(): string {
    return this.random.oneIn(8) ? this.value(2) : this.list(() => this.part(["optionId", "kind", "name"]));
  }

  /** An object with some of these keys; now and then something else. */
  private part(keys: readonly string[]): string {
    const { random } = this;
    if (random.oneIn(25)) return this.value(2);
    const members: Member[] = [];
    for (const key of keys) if (!random.oneIn(3)) members.push([key, random.oneIn(2) ? this.string() : this.value(2)]);
    return this.object(members, 6);
  }

  private list(element: () => string): string {
    const elements: string[] = [];
    for (let count = this.random.below(4); count > 0; count -= 1)
      elements.push(this.space() + element() + this.space());
    return `[${elements.length === 0 ? this.space() : elements.join(",")}]`;
  }

  /** Members in any order, with strangers, and seldom with a key twice or in another spelling. */
  private object(members: Member[], strangersOneIn: number): string {
    const { random } = this;
    if (random.oneIn(strangersOneIn)) members.push([random.pick(OTHER_KEYS), this.value(2)]);
    if (members.length > 0 && random.oneIn(60)) members.push([random.pick(members)[0], this.value(1)]);
    random.shuffle(members);
    const parts = members.map(
      ([key, value]) => `${this.space()}${this.key(key)}${this.space()}:${this.space()}${value}${this.space()}`,
    );
    return `{${parts.length === 0 ? this.space() : parts.join(",")}}`;
  }

  private key(key: string): string {
    if (key === "" || !this.random.oneIn(150)) return `"${key}"`;
    const at = this.random.below(key.length);
    const unit = key.charCodeAt(at).toString(16).padStart(4, "0");
    return `"${key.slice(0, at)}\\u${unit}${key.slice(at + 1)}"`;
  }

  private space(): string {
    if (!this.random.oneIn(12)) return "";
    return this.random.oneIn(200)
      ? this.random.pick(["\u00a0", "\u000b", "\ufeff", "\u0000"])
      : this.random.pick([" ", "  ", "\t", "\r", "\n", " \t\r\n "]);
  }

  private string(): string {
    const { random } = this;
    let text = "";
    for (let count = random.below(5); count > 0; count -= 1)
      text += random.oneIn(400) ? random.pick(BAD_PIECES) : random.pick(PIECES);
    return `"${text}"`;
  }

  /** Any JSON value; here equal and escaped keys are nothing special. */
  value(depth: number): string {
    const { random } = this;
    const shape = random.below(depth > 0 ? 10 : 6);
    if (shape < 3) return this.string();
    if (shape === 3) return random.oneIn(100) ? random.pick(BAD_NUMBERS) : random.pick(NUMBERS);
    if (shape < 6) return random.oneIn(200) ? random.pick(BAD_WORDS) : random.pick(["true", "false", "null"]);
    if (shape < 8) return this.list(() => this.value(depth - 1));
    const parts: string[] = [];
    for (let count = random.below(4); count > 0; count -= 1) {
      const key = this.key(random.pick(random.oneIn(3) ? OTHER_KEYS : TABLE_KEYS));
      parts.push(`${this.space()}${key}${this.space()}:${this.space()}${this.value(depth - 1)}${this.space()}`);
    }
    return `{${parts.join(",")}}`;
  }
}
